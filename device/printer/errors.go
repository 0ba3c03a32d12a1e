package printer

import (
	"errors"
	"fmt"
)

// Errors of Print and Check. ErrNotOpen comes with the opener's, ErrUnknownEnd with one of the others, which says why.
var (
	ErrPaperOut   = errors.New("out of paper")
	ErrOffline    = errors.New("printer is offline")
	ErrStuck      = errors.New("printer takes no data")
	ErrNotOpen    = fmt.Errorf("%w: does not open", ErrOffline)
	ErrUnknownEnd = errors.New("printing was cut off, and how much is on the paper is not known")
)

// Reasons for ErrOffline after which the device is opened again.
var (
	errLost   = fmt.Errorf("%w: device lost", ErrOffline)
	errSilent = fmt.Errorf("%w: no answer to a status command (where a printer never answers, its status is none)", ErrOffline)
)

// usable says whether a device can be used again after an error: the printer itself has said what is wrong.
func usable(err error) bool {
	return errors.Is(err, ErrPaperOut) || errors.Is(err, ErrOffline) && !errors.Is(err, errLost) && !errors.Is(err, errSilent)
}
