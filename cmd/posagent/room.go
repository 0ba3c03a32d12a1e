package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/ready"
	"posagent/device/file"
	"posagent/store"
)

// A start that its disk has no room for is tried again.
const (
	roomWanted = 128 << 10        // bytes: it may get through
	roomAnyway = 30 * time.Second // whatever the file system says that it has
)

// noRoom says that a start, or a terminal, has ended for want of space on a disk.
func noRoom(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// waitForRoom keeps a terminal from ending whose disk is so full that it does not start: an end would only be a start again, and what it
// owes waits for the room alone. It says what is to be typed, keeps the journal from other owners, and returns nil once the start may be
// tried again; errReload where the configuration is another one.
func waitForRoom(ctx context.Context, r *running, why error) error {
	dir := r.c.stateDir()
	release, err := fileOf(r.c).hold(ctx)
	if err != nil {
		return storeError(err)
	}
	defer func() { _ = release() }() // the next start takes it, or says why it does not
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.log.Warn("the terminal does not start", "err", why)
	sayWaiting(r.c, ready.Trouble{Cause: ready.DiskFull, Where: dir}, r.log)
	go func() {
		_ = feedWatchdog(ctx, watchdogTime(), func(context.Context) error { return nil }, r.log) // it ends with ctx, and has no other error
	}()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if configDigest(r.c) != r.digest {
			return errReload
		}
		if free, err := file.Free(dir); err != nil || free >= roomWanted || time.Since(began) > roomAnyway {
			return nil
		}
	}
}
