package update

import "errors"

var (
	// ErrUntrusted: what the repository shows is not signed as it has to be, is expired, older than what was seen, or not what was
	// signed. Nothing was changed.
	ErrUntrusted = errors.New("the repository is not trusted")
	// ErrUnreachable: the repository does not answer.
	ErrUnreachable = errors.New("the repository cannot be reached")
	// ErrBusy: another update is at work.
	ErrBusy = errors.New("another update is at work")
	// ErrNotNow: the terminal is not to be restarted now. Nothing was changed.
	ErrNotNow = errors.New("the terminal cannot be restarted now")
	// ErrReturned: the new program was taken back, and the one before is in place.
	ErrReturned = errors.New("the new program was taken back")
	// ErrRecord: the record of updates cannot be used.
	ErrRecord = errors.New("the record of updates is damaged")
	// ErrNoWay: the program before is not there, is another, or cannot open the journal any more.
	ErrNoWay = errors.New("there is no way back")
	// ErrClock: the box's clock is before the time at which the repository was signed.
	ErrClock = errors.New("the clock of this box is wrong")
	// ErrSpace: the medium has too little room for another program.
	ErrSpace = errors.New("too little room")
)
