package line

import (
	"errors"
	"os"

	"go.bug.st/serial"
)

// The refusals of Open. A path that is missing or locked is not refused: Open waits for it.
var (
	ErrNotTTY = errors.New("not a terminal device")
	ErrStuck  = errors.New("too many abandoned writes")
)

var (
	errInUse   = errors.New("in use by another process")
	errHangup  = errors.New("device lost")
	errTimeout = errors.New("write timed out")
)

// translate turns the library's error, which hides its cause, into ours.
func translate(err error) error {
	var pe *serial.PortError
	if !errors.As(err, &pe) {
		return err
	}
	switch pe.Code() {
	case serial.PortBusy:
		return errInUse
	case serial.PermissionDenied:
		return os.ErrPermission
	case serial.PortNotFound:
		return os.ErrNotExist
	case serial.PortClosed:
		return errHangup
	}
	return errors.New(pe.Error())
}
