package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"posagent/cmd/usage"
)

func main() {
	usage.Libraries(os.Stderr)
	signal.Ignore(syscall.SIGPIPE) // a reader of our output that goes away must not take a sale along
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // a second signal ends the program at once
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(context.WithValue(ctx, ownProcess{}, true), os.Args[1:], std{os.Stdin, os.Stdout, os.Stderr}))
}

// execute runs the verb that args name, and returns the exit code: it is main without the process around it.
func execute(ctx context.Context, args []string, to std) int {
	out := &usage.Output{To: to.out}
	to.out = out
	err := dispatch(ctx, args, to)
	if err == nil && out.Err != nil {
		err = fmt.Errorf("output: %w", out.Err)
	}
	if err == nil {
		return exitOK
	}
	var e *exit
	if !errors.As(err, &e) {
		e = exitWith(exitFailed, err)
		if errors.Is(err, context.Canceled) {
			e = interrupted()
		}
	}
	if ctx.Err() != nil && (e.Code == exitNoDaemon || e.Code == exitNoBackend) && e.Err != nil && e.Err.Error() != "" { // nobody waited for it
		e = interrupted()
	}
	if e.Err != nil && e.Err.Error() != "" {
		text := strings.TrimPrefix(e.Err.Error(), "posagent: ")
		fmt.Fprintln(to.err, "posagent: "+text)
		if out.JSON && !out.Written {
			_ = printJSON(out, errorView{"posagent.error/1", e.Code, text})
		}
	}
	return e.Code
}

// errorView is what a verb that has failed prints with --json where it has printed nothing else (posagent.error/1).
type errorView struct {
	Schema string `json:"schema"`
	Exit   int    `json:"exit"`
	Error  string `json:"error"` // with its remedy
}

func interrupted() *exit { return exitWith(exitInterrupted, errors.New("interrupted")) }
