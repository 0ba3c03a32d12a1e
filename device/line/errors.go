package line

import (
	"errors"
	"fmt"
	"os"

	"go.bug.st/serial"
)

// The refusals of Open. ErrNoData is also why a line was lost that a write hung on. A path that is missing or locked is not refused: Open waits for it.
var (
	ErrNotTTY = errors.New("not a terminal device")
	ErrNoData = errors.New("takes no data")
	ErrStuck  = fmt.Errorf("%w: too many abandoned writes", ErrNoData)
)

// ErrOurs says that this program itself has the line: by another name, or as its own output. It is an ErrInUse.
var ErrOurs error = ours{}

type ours struct{}

// Error implements error.
func (ours) Error() string { return "in use by this program itself" }

// Is makes it an ErrInUse.
func (ours) Is(target error) bool { return target == errInUse }

var (
	errInUse   = errors.New("in use by another process")
	errHangup  = errors.New("device lost")
	errTimeout = fmt.Errorf("%w: write timed out", ErrNoData)
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
