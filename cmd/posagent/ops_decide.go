package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"posagent/agent/config"
	"posagent/agent/control"
	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// proof is what a person has to have seen before an operation is resolved.
const proof = "Proof is what the backend's own books say: look there for the amount, the time and the key, not at the receipt or the\n" +
	"customer's word. --done = the books show it. --failed = they do not, and no attempt is under way that could still arrive.\n" +
	"A wrong --failed charges twice when it is asked for again; a wrong --done loses the money. The note is kept."

func opsHold(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	if o.reason == "" {
		return fail(exitUsage, "%s: why? --reason \"…\" is what the next person reads", c.path)
	}
	key, err := target(ctx, c, o.all)
	if err != nil {
		return err
	}
	to, n := control.Client{Path: controlSocket(c)}, 1
	if o.all {
		n, err = to.HoldAll(ctx, o.reason)
	} else {
		err = to.Hold(ctx, key, o.reason)
	}
	if err != nil {
		return refused(c, err)
	}
	return c.changed("held", key, n)
}

func opsRelease(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	key, err := target(ctx, c, o.all)
	if err != nil {
		return err
	}
	to, n := control.Client{Path: controlSocket(c)}, 1
	if o.all {
		n, err = to.ReleaseAll(ctx)
	} else {
		err = to.Release(ctx, key)
	}
	if err != nil {
		return refused(c, err)
	}
	return c.changed("released", key, n)
}

func opsResolve(ctx context.Context, c *call) error {
	o := c.opts.(*opsOptions)
	if o.done == o.failed {
		return fail(exitUsage, "%s: --done or --failed?\n%s", c.path, proof)
	}
	key, err := oneOp(ctx, c)
	if err != nil {
		return err
	}
	if o.note == "" {
		if o.note, err = askProof(c); err != nil {
			return err
		}
	}
	state, word := outbox.Done, "resolved as accepted"
	if o.failed {
		state, word = outbox.Failed, "resolved as declined"
	}
	to := control.Client{Path: controlSocket(c)}
	if err := to.Resolve(ctx, key, state, o.note); err != nil {
		return refused(c, err)
	}
	return c.changed(word, key, 1)
}

// askProof asks the person at a terminal for the note.
func askProof(c *call) (string, error) {
	f, ok := c.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", fail(exitUsage, "%s: --note \"…\" with the proof is wanted\n%s", c.path, proof)
	}
	fmt.Fprintf(c.err, "%s\nProof: ", proof)
	text, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	if text = strings.TrimSpace(text); text == "" {
		return "", fail(exitUsage, "%s: nothing is resolved without proof", c.path)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return text, nil
}

func opsOwn(ctx context.Context, c *call) error {
	if len(c.args) != 2 {
		return fail(exitUsage, "%s: which operation, and which client? (posagent ops own KEY CLIENT)", c.path)
	}
	owner := c.args[1]
	c.args = c.args[:1]
	key, err := oneOp(ctx, c)
	if err != nil {
		return err
	}
	to, id := control.Client{Path: controlSocket(c)}, owner
	if owner == config.Main {
		id = ""
	}
	if err := to.Own(ctx, key, id); err != nil {
		return refused(c, err)
	}
	return c.changed("given to "+owner, key, 1)
}

func opsAck(ctx context.Context, c *call) error {
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: which operation? (posagent status%s names them)", c.path, c.flags())
	}
	key := wire.Key(c.args[0])
	err := readOps(ctx, c, func(r store.Reader) error {
		found, err := findOp(r, c.args[0])
		if errors.Is(err, outbox.ErrUnknown) { // purged: its alert is still there
			return nil
		}
		key = found
		return err
	})
	if err != nil {
		return err
	}
	to := control.Client{Path: controlSocket(c)}
	if err := to.Acknowledge(ctx, key); err != nil {
		return refused(c, err)
	}
	return c.changed("is acknowledged", key, 1)
}
