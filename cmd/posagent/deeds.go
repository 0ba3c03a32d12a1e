package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"posagent/agent/control"
	"posagent/agent/records/audit"
	"posagent/store"
)

// asPerson makes the account that runs the program the actor of what is written.
func asPerson(ctx context.Context) context.Context { return audit.With(ctx, audit.Uid(os.Getuid())) }

// noteDeed writes a deed that changes nothing in the journal to the audit log, by the running terminal or without one. A log that
// cannot be written does not prevent a backup: that is said on the talk stream.
func noteDeed(ctx context.Context, c *call, d audit.Deed) {
	ctx = asPerson(ctx)
	err := (&control.Client{Path: controlSocket(c)}).Note(ctx, d.Deed, d.Subject, d.Detail)
	if errors.Is(err, control.ErrNoDaemon) {
		err = ownersRights(c, func() error { return noteStopped(ctx, c, d) })
	}
	if err != nil {
		fmt.Fprintf(c.err, "%s is not in the audit log: %v\n", d.Deed, err)
	}
}

func noteStopped(ctx context.Context, c *call, d audit.Deed) error {
	db, err := openStopped(ctx, c, "")
	if err != nil {
		return err
	}
	err = db.Write(ctx, func(tx store.Tx) error { return audit.Append(tx, time.Now(), d) })
	return errors.Join(err, db.Close())
}
