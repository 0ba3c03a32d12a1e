package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"posagent/agent/update"
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

func main() {
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
	err := dispatch(ctx, args, out, talk)
	if err != nil {
		fmt.Fprintln(talk, "posagent-update: "+err.Error()+remedy(err))
	}
	return codeOf(err)
}

// dispatch finds the verb that args name, and runs it. It fails with errUsage where there is none.
func dispatch(ctx context.Context, args []string, out, talk io.Writer) error {
	switch {
	case len(args) == 0:
		overview(talk)
		return fmt.Errorf("%w: which verb?", errUsage)
	case len(args) == 1 && slices.Contains([]string{"help", "--help", "-h"}, args[0]):
		overview(out)
		return nil
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	path, list := "posagent-update", verbs()
	for {
		i := slices.IndexFunc(list, func(v verb) bool { return v.Name == args[0] })
		if i < 0 {
			hint := ""
			if s := usage.Nearest(args[0], usage.Names(described(list))); s != "" {
				hint = fmt.Sprintf(": did you mean %q?", s)
			}
			return fmt.Errorf("%w: %s: no verb %q%s (%s --help lists them)", errUsage, path, args[0], hint, path)
		}
		v := list[i]
		path, args = path+" "+v.Name, args[1:]
		switch {
		case v.sub == nil:
			return invoke(ctx, v, path, args, out, talk)
		case len(args) == 0:
			usage.Help(talk, path, v.described())
			return fmt.Errorf("%w: %s: which of %s?", errUsage, path, strings.Join(usage.Names(described(v.sub)), ", "))
		case args[0] == "--help" || args[0] == "-h":
			usage.Help(out, path, v.described())
			return nil
		}
		list = v.sub
	}
}

// invoke reads the flags and arguments behind path, and runs the verb with them.
func invoke(ctx context.Context, v verb, path string, args []string, out, talk io.Writer) error {
	c := &call{out: out, talk: talk}
	fs := flag.NewFlagSet(path, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	c.register(v, fs)
	rest, _, err := usage.Parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage.Help(out, path, v.described())
		return nil
	case err != nil:
		return fmt.Errorf("%w: %s: %w (%s --help shows how)", errUsage, path, err, path)
	case v.Args == "" && len(rest) > 0:
		return fmt.Errorf("%w: %s takes no argument %q (%s --help shows how)", errUsage, path, rest[0], path)
	}
	c.args = rest
	return v.run(ctx, c)
}

// ends are the errors with their exit codes, and with what to do.
var ends = []struct {
	err    error
	code   int
	remedy string
}{
	{errUsage, usage.ExitUsage, ""},
	{errConfig, usage.ExitConfig, ""},
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

// printText writes a text that is a verb's whole result.
func (c *call) printText(schema, text string) error {
	return c.print(struct {
		Schema string `json:"schema"`
		Text   string `json:"text"`
	}{schema, text}, strings.TrimSuffix(text, "\n"))
}
