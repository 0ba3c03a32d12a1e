package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"posagent/agent"
	"posagent/agent/records/audit"
	"posagent/device"
	"posagent/store"
)

// checkAtOnce is the size of a journal that is checked before the terminal is ready: about a second on a small box.
const checkAtOnce = 16 << 20

// checkJournal looks for damaged pages before anything is told from them. Of a large journal it returns that check, to be run beside
// the terminal: its open rows are read, and verified, at the start all the same.
func checkJournal(ctx context.Context, db store.Journal) (rest func(context.Context) error, err error) {
	check := func(ctx context.Context) error {
		err := db.QuickCheck(ctx)
		if errors.Is(err, store.ErrDamaged) {
			return storeError(err)
		}
		return nil // a disk that fails is said by the writer
	}
	if db.Health(ctx).FileBytes > checkAtOnce {
		return check, nil
	}
	return func(context.Context) error { return nil }, check(ctx)
}

// beginGeneration holds what is open in a journal that was put back from an earlier time, or accepted after a cut.
func beginGeneration(ctx context.Context, db store.Journal, log *slog.Logger) error {
	old, err := agent.Recover(ctx, db, time.Now, device.BootTime, log)
	if err != nil {
		return err
	}
	if old.Why != "" {
		log.Warn("the journal was put back from an earlier time: what is open in it is held (posagent status)",
			"why", old.Why, "sales", old.Sales, "operations", old.Ops)
	}
	return nil
}

// noteStart writes the start of the terminal, and that its configuration is another one than at the start before.
func noteStart(ctx context.Context, c *call, db store.Journal) error {
	now := configDigest(c)
	generation, err := db.Generation(ctx)
	if err != nil {
		return err
	}
	return agent.Started(audit.With(ctx, audit.Self("start")), db, now, fmt.Sprintf("posagent %s, generation %d, as uid %d", version, generation, os.Getuid()))
}

// configDigest names a configuration: the first half of the SHA-256 of its file, and the revision of the enrolment under it, which
// may not be confirmed yet.
func configDigest(c *call) string {
	digest := fileDigest(c)
	if active, err := enrolment(c).Active(); err == nil {
		digest += fmt.Sprintf(" over revision %d of %s", active.Revision, active.ID)
		if active.Unconfirmed {
			digest += ", not confirmed"
		}
	}
	return digest
}

// fileDigest is the file's part of configDigest.
func fileDigest(c *call) string {
	path := c.config
	if path == "" {
		path = defaultConfig
	}
	data, err := readPlain(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return "defaults"
	}
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(bytes.TrimSpace(data))
	return fmt.Sprintf("%x", sum[:16])
}
