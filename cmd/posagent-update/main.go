package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"posagent/agent/lifecycle/update"
	"posagent/cmd/usage"
)

// linked is set by the linker: -X main.linked=1.2.3.
var linked = "0.0.0-dev"

// call is one run of a verb.
type call struct {
	box
	desk
	args      []string
	json      bool
	out, talk io.Writer
}

var errUsage = errors.New("usage")

// errRefused is the end of a verb that would make a repository which no box believes, or which one stolen key is enough for.
var errRefused = errors.New("refused")

func main() {
	usage.Libraries(os.Stderr)
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away must not cut a trial off
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // a second signal ends the program at once
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs the verb that args name, and returns the exit code.
func execute(ctx context.Context, args []string, out, talk io.Writer) int {
	err := shell(out, talk).Do(ctx, args)
	if err != nil {
		fmt.Fprintln(talk, "posagent-update: "+err.Error()+remedy(err))
	}
	return codeOf(err)
}

// ends are the errors with their exit codes, and with what to do.
var ends = []struct {
	err    error
	code   int
	remedy string
}{
	{errUsage, usage.ExitUsage, ""},
	{errConfig, usage.ExitConfig, ""},
	{errRefused, usage.ExitRefused, " (nothing was changed)"},
	{context.Canceled, usage.ExitInterrupted, " (posagent-update resume goes on with it)"},
	{update.ErrBusy, usage.ExitRefused, " (posagent-update status shows it)"},
	{update.ErrClock, usage.ExitRefused, " (date -u; set the clock, then again)"},
	{update.ErrNotNow, usage.ExitRefused, " (posagent status; then again)"},
	{update.ErrNoWay, usage.ExitRefused, " (nothing was changed)"},
	{update.ErrSpace, usage.ExitRefused, " (df; make room, then again)"},
	{update.ErrUntrusted, usage.ExitAuth, " (nothing was changed; tell whoever makes the releases)"},
	{update.ErrUnreachable, usage.ExitNoBackend, " (nothing was changed; posagent net check, or --from FOLDER of a stick)"},
	{update.ErrRecord, usage.ExitDamaged, " (keep a copy of it for support; the program in place is not touched)"},
	{update.ErrReturned, usage.ExitFailed, " (posagent doctor; posagent history)"},
}

func codeOf(err error) int {
	if err == nil {
		return usage.ExitOK
	}
	for _, e := range ends {
		if errors.Is(err, e.err) {
			return e.code
		}
	}
	var own *usage.Exit
	if errors.As(err, &own) {
		return own.Code
	}
	return usage.ExitFailed
}

func remedy(err error) string {
	for _, e := range ends {
		if errors.Is(err, e.err) {
			return e.remedy
		}
	}
	return ""
}

// print writes a result: as JSON, or as lines for people.
func (c *call) print(v any, lines ...string) error {
	text := strings.Join(lines, "\n")
	if c.json {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		text = string(data)
	}
	_, err := fmt.Fprintln(c.out, text)
	if errors.Is(err, syscall.EPIPE) { // a reader who stops has read enough
		return nil
	}
	return err
}

// Arguments implements usage.Printer.
func (c *call) Arguments() []string { return c.args }

// Print implements usage.Printer.
func (c *call) Print(v any, text string) error { return c.print(v, text) }
