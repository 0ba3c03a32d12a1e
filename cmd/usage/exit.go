package usage

import "fmt"

// Exit codes; stable.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitConfig      = 3
	ExitNoDaemon    = 4
	ExitNotEnrolled = 5
	ExitRefused     = 6
	ExitNoBackend   = 7
	ExitAuth        = 8
	ExitDamaged     = 9
	ExitInterrupted = 130
)

// Exit is an error that knows its exit code.
type Exit struct {
	Code int
	Err  error
}

func (e *Exit) Error() string { return e.Err.Error() }

// Unwrap gives errors.Is the error itself.
func (e *Exit) Unwrap() error { return e.Err }

// Fail makes an error that ends the program with code.
func Fail(code int, format string, args ...any) error {
	return &Exit{code, fmt.Errorf(format, args...)}
}
