package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"posagent/agent/control"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// opsOptions are the flags of the verbs of ops.
type opsOptions struct {
	filter       outbox.Filter
	state        string
	all          bool
	reason, note string
	done, failed bool
	wait         time.Duration
}

// readOps reads from the journal beside the terminal.
func readOps(ctx context.Context, c *call, fn func(r store.Reader) error) error {
	db, err := readAgent(c)
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Read(ctx, fn)
	var coded *exit
	if errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, outbox.ErrUnknown) {
		return notHere(ctx, db, view.NoOperation, "no such operation (posagent ops list%s shows them)", c.flags())
	}
	return storeError(err)
}

// oneOp is the operation that a verb names.
func oneOp(ctx context.Context, c *call) (key wire.Key, err error) {
	if len(c.args) != 1 {
		return "", fail(exitUsage, "%s: which operation? (posagent ops list%s)", c.path, c.flags())
	}
	err = readOps(ctx, c, func(r store.Reader) error { key, err = findOp(r, c.args[0]); return err })
	return key, err
}

// target is the operation that a verb names, or all of them.
func target(ctx context.Context, c *call, all bool) (wire.Key, error) {
	if all {
		if len(c.args) > 0 {
			return "", fail(exitUsage, "%s: KEY or --all, not both", c.path)
		}
		return "", nil
	}
	if len(c.args) == 0 {
		return "", fail(exitUsage, "%s: which operation? KEY, or --all (posagent ops list%s)", c.path, c.flags())
	}
	return oneOp(ctx, c)
}

// refused gives what the terminal answers to a verb its exit code and its remedy.
func refused(c *call, err error) error {
	var e *wire.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, control.ErrNoDaemon):
		return fail(exitNoDaemon, "the terminal does not run on %s (start it: %s)", c.stateDir(), c.start())
	case errors.Is(err, os.ErrPermission):
		return fail(exitFailed, "%v (run as the owner of the state directory)", err)
	case errors.As(err, &e) && e.Code == wire.Conflict:
		return fail(exitRefused, "%s: refused: %s (posagent ops show%s says how it stands)", c.path, e.Msg, c.flags())
	case errors.As(err, &e) && e.Msg != "":
		return fail(exitFailed, "%s: %s", c.path, e.Msg)
	}
	return err
}

// opsChanged is what a verb has done (posagent.ops.changed/1).
type opsChanged struct {
	Schema string   `json:"schema"`
	Verb   string   `json:"verb"`
	Key    wire.Key `json:"key,omitempty"` // "" = all
	Count  int      `json:"count"`
}

// changed prints what a verb has done.
func (c *call) changed(word string, key wire.Key, count int) error {
	if c.json {
		return printJSON(c.out, opsChanged{"posagent.ops.changed/1", c.cmd.name, key, count})
	}
	what := string(key)
	if key == "" {
		what = fmt.Sprintf("%d operation(s)", count)
	}
	fmt.Fprintf(c.out, "%s %s\n", what, word)
	return nil
}
