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

	"posagent/cmd/usage"
)

// linked is set by the linker: -X main.linked=1.2.3.
var linked = "0.0.0-dev"

func main() {
	usage.Libraries(os.Stderr)
	signal.Ignore(syscall.SIGPIPE) // a reader of the output that goes away must not take a payment along
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // a second signal ends the program at once
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs the verb that args name, and returns the exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, talk io.Writer) int {
	to := &usage.Output{To: out}
	err := shell(in, to, talk).Do(ctx, args)
	if err == nil && to.Err != nil {
		err = fmt.Errorf("output: %w", to.Err)
	}
	if err == nil {
		return usage.ExitOK
	}
	var e *usage.Exit
	if !errors.As(err, &e) {
		e = &usage.Exit{Code: usage.ExitFailed, Err: err}
		if errors.Is(err, context.Canceled) {
			e = &usage.Exit{Code: usage.ExitInterrupted, Err: errors.New("interrupted")}
		}
	}
	if text := e.Err.Error(); text != "" {
		fmt.Fprintln(talk, name+": "+strings.TrimPrefix(text, name+": "))
	}
	return e.Code
}
