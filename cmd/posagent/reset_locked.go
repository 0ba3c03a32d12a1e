package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"posagent/device"
	"posagent/device/file"
	"posagent/store"
)

// resetLocked puts a journal aside that no key opens, with what is taken for its key, and lets the next start begin a new one. Nothing of
// it is deleted, and nothing that is open in it is sent or undone. locked is why it does not open. A kill leaves it where it was or puts
// it aside; the same verb again ends what was broken off.
func resetLocked(ctx context.Context, c *call, o *resetOptions, list []string, locked error) error {
	sales, ops, err := pendingLeft(ctx, agentDB(c))
	if err != nil {
		return storeError(err)
	}
	open := "nothing is open in it"
	if sales+ops > 0 {
		open = "it has " + pendingText(sales, ops) + ", which no terminal goes on with then"
	}
	if !o.yes {
		if err := confirm(c, resetWord, "the journal in "+c.stateDir()+" is put aside, because no key opens it; "+open); err != nil {
			return err
		}
	}
	kept := filepath.Join(c.stateDir(), asideName+time.Now().UTC().Format("20060102T150405.000"))
	if err := os.Mkdir(kept, 0o700); err != nil {
		return fail(exitFailed, "%v", err)
	}
	if err := file.SyncDir(c.stateDir()); err != nil {
		return storeError(err)
	}
	err = fileOf(c).ended(list, false, store.WasLocked, o.reason)
	if err == nil { // the keys go first: without a journal a key that is no key would keep the next start from making one
		err = putKeysAside(c, kept)
	}
	if err == nil {
		err = fileOf(c).putAside(ctx, filepath.Join(kept, filepath.Base(agentDB(c))))
	}
	if err == nil {
		err = fileOf(c).ended(list, true, store.WasLocked, o.reason)
	}
	if err != nil {
		return storeError(err)
	}
	if c.json {
		return printJSON(c.out, resetView{Schema: "posagent.reset/1", State: c.stateDir(), Kept: kept, Sales: sales, Ops: ops})
	}
	fmt.Fprintf(c.out, "the journal that no key opens (%s) is kept in %s; %s\n", strings.TrimPrefix(locked.Error(), "device: "), kept, open)
	fmt.Fprintf(c.out, "posagent sale list --state %s and posagent ops list --state %[1]s show it, and say that it is cut, because nothing runs on it: settle by hand, in the backend's portal, what was open\n", kept)
	fmt.Fprintf(c.out, "a backup takes its place now: posagent restore%s FILE; without one the next start begins a new journal\n", c.flags())
	return nil
}

// putKeysAside moves the device key, the secret that is wrapped under it, and what that one opens, beside the journal that is put aside.
func putKeysAside(c *call, kept string) error {
	to := filepath.Join(kept, filepath.Base(keyDir(c)))
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, file := range []string{secretFile(c), besideFile(c)} {
		if err := os.Rename(file, filepath.Join(to, filepath.Base(file))); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return device.PutAside(keyDir(c), to)
}
