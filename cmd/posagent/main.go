package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader of our output that goes away must not take a sale along
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // a second signal ends the program at once
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(ctx, os.Args[1:], std{os.Stdin, os.Stdout, os.Stderr}))
}

// execute runs the verb that args name, and returns the exit code: it is main without the process around it.
func execute(ctx context.Context, args []string, to std) int {
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
			e = interrupted()
		}
	}
	if ctx.Err() != nil && (e.code == exitNoDaemon || e.code == exitNoBackend) && e.err != nil && e.err.Error() != "" { // nobody waited for it
		e = interrupted()
	}
	if e.err != nil && e.err.Error() != "" {
		fmt.Fprintln(to.err, "posagent: "+strings.TrimPrefix(e.err.Error(), "posagent: "))
	}
	return e.code
}

func interrupted() *exit { return &exit{exitInterrupted, errors.New("interrupted")} }
