package main

import (
	"fmt"
)

// Exit codes; stable.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitConfig      = 3
	exitNoDaemon    = 4
	exitNotEnrolled = 5
	exitRefused     = 6
	exitNoBackend   = 7
	exitAuth        = 8
	exitDamaged     = 9
	exitInterrupted = 130
)

// exit is an error that knows its exit code.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

// fail makes an error that ends the program with code.
func fail(code int, format string, args ...any) error {
	return &exit{code: code, err: fmt.Errorf(format, args...)}
}
