package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
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

// std is where a verb reads and writes: data on out, talk on err.
type std struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader of our output that goes away must not take a sale along
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // a second signal ends the program at once
		<-ctx.Done()
		stop()
	}()
	os.Exit(run(ctx, os.Args[1:], std{os.Stdin, os.Stdout, os.Stderr}))
}

// checked remembers that output was lost, so that a full disk is not an exit 0.
type checked struct {
	File io.Writer
	err  error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) { // a reader who stops has read enough
		c.err = err
	}
	return n, err
}

// run is main without the process around it.
func run(ctx context.Context, args []string, to std) int {
	out := &checked{File: to.out}
	to.out = out
	err := dispatch(ctx, args, to)
	if err == nil && out.err != nil {
		err = fmt.Errorf("output: %w", out.err)
	}
	if err == nil {
		return exitOK
	}
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{exitFailed, err}
		if errors.Is(err, context.Canceled) {
			e.code, e.err = exitInterrupted, errors.New("interrupted")
		}
	}
	if e.err != nil && e.err.Error() != "" {
		fmt.Fprintln(to.err, "posagent: "+strings.TrimPrefix(e.err.Error(), "posagent: "))
	}
	return e.code
}
