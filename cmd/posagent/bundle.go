package main

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"posagent/device/file"
	"posagent/store"
)

// backupView is what a backup says of itself (posagent.backup/1).
type backupView struct {
	Schema string           `json:"schema"`
	File   string           `json:"file"`
	Bytes  int64            `json:"bytes"`
	Bundle store.BundleHead `json:"bundle"`
}

// writeBundle seals the journal as it is at this moment into file.
func writeBundle(ctx context.Context, c *call, path string, secret []byte) (v backupView, err error) {
	keys, err := journalKeys(c)
	if err != nil {
		return v, err
	}
	if err := mayReplace(path); err != nil {
		return v, err
	}
	release, err := oneAtATime(c)
	if err != nil {
		return v, err
	}
	defer release()
	head, err := describe(ctx, c)
	if err != nil {
		return v, err
	}
	head.Device = keys.ID()
	key, err := store.NewBundleKey(secret)
	if err != nil {
		return v, err
	}
	copied := agentDB(c) + ".copy"
	clear := func() error { return clearStaged(copied) }
	if err := clear(); err != nil {
		return v, fail(exitFailed, "%v", err)
	}
	defer func() { err = errors.Join(err, clear()) }()
	say := progress(c)
	if err := fileOf(c).snapshot(ctx, copied, keys, key, func(done, of int) { say("keys", int64(done), int64(of)) }); err != nil {
		return v, storeError(err)
	}
	in, err := os.Open(copied)
	if err != nil {
		return v, fail(exitFailed, "%v", err)
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return v, fail(exitFailed, "%v", err)
	}
	if err := spaceFor(path, fi.Size()); err != nil {
		return v, err
	}
	head.Bytes = fi.Size()
	v = backupView{Schema: "posagent.backup/1", File: path}
	err = file.Replace(path, 0o600, func(to *os.File) error {
		if err := store.SealBundle(ctx, key, head, in, to, func(done, of int64) { say("sealed", done, of) }); err != nil {
			return err
		}
		if v.Bundle, err = store.ReadBundleHead(to); err != nil { // what was written is what was meant
			return err
		}
		v.Bytes, err = to.Seek(0, 2)
		return err
	})
	if err != nil {
		return v, wroteNot(path, err)
	}
	return v, nil
}

// describe is what the head of a bundle says of the journal.
func describe(ctx context.Context, c *call) (store.BundleHead, error) {
	head := store.BundleHead{Created: time.Now().UTC().Format(time.RFC3339), Program: version}
	db, err := readAgent(c)
	if err != nil {
		return head, err
	}
	defer db.Close()
	head.Schema = db.Health(ctx).Schema
	head.Generation, err = db.Generation(ctx)
	if err == nil {
		err = db.Read(ctx, func(r store.Reader) error {
			err := r.QueryRow(`SELECT name FROM agent_backend WHERE id = 1`).Scan(&head.Terminal)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		})
	}
	return head, storeError(err)
}

// unseal writes the snapshot that lies in a bundle into the file to, which must not be there.
func unseal(ctx context.Context, c *call, in *os.File, key *store.BundleKey, to string) error {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	say := progress(c)
	err = store.OpenBundle(ctx, key, in, out, func(done, of int64) { say("unsealed", done, of) })
	return errors.Join(err, out.Close())
}

// bundleError gives an error of a bundle its exit code and its remedy.
func bundleError(file string, err error) error {
	switch {
	case errors.Is(err, store.ErrBundleKey):
		return fail(exitAuth, "%s: %v (give the one it was made with: --key-file FILE)", file, err)
	case errors.Is(err, store.ErrBundleNewer), errors.Is(err, store.ErrNewer):
		return fail(exitRefused, "%s: %v (install that program first)", file, err)
	case errors.Is(err, store.ErrBundle):
		return fail(exitDamaged, "%s: %v (take another copy of it)", file, err)
	}
	return storeError(err)
}

// oneAtATime keeps two verbs from using the same names beside the journal. Its lock leaves nothing behind.
func oneAtATime(c *call) (release func(), err error) {
	path := agentDB(c) + ".verb.lock"
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, storeError(err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	was, bad := f.Stat()
	if now, gone := os.Lstat(path); err != nil || bad != nil || gone != nil || !os.SameFile(was, now) { // removed by the verb that had it
		return nil, errors.Join(fail(exitRefused, "%w on %s", errUnderWay, c.stateDir()), f.Close())
	}
	return func() { _, _ = os.Remove(path), f.Close() }, nil
}

// spaceFor refuses what its file system has no room for, before it is full.
func spaceFor(path string, need int64) error {
	dir := filepath.Dir(path)
	if free, err := file.Free(dir); err == nil && free < need { // one that does not tell is tried
		return fail(exitFailed, "%s needs %d KiB, and %d KiB are free in %s (df -h %s shows what has them; free space there, or name a file on another medium)", path, need>>10+1, free>>10, dir, dir)
	}
	return nil
}

// clearDead removes what a backup or a restore has left beside the journal that was killed: a copy as large as the journal. It returns
// how many bytes that were. What a verb is at work with stays.
func clearDead(c *call) (bytes int64, err error) {
	var found []string
	for _, name := range []string{agentDB(c) + ".copy", agentDB(c) + ".restore"} {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if info, err := os.Lstat(name + suffix); err == nil {
				found, bytes = append(found, name), bytes+info.Size()
			}
		}
	}
	if len(found) == 0 {
		return 0, nil
	}
	release, err := oneAtATime(c)
	if errors.Is(err, errUnderWay) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer release()
	for _, name := range found {
		err = errors.Join(err, clearStaged(name))
	}
	return bytes, err
}

// errUnderWay: another verb is at work beside the journal.
var errUnderWay = errors.New("another backup or restore is under way")

// clearStaged removes a copy that a killed verb left.
func clearStaged(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
