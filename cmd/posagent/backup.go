package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/audit"
	"posagent/agent/control"
	"posagent/store"
)

// keyFileVar names the key file where no flag does.
const keyFileVar = "POSAGENT_BACKUP_KEY_FILE"

const (
	keyLeast = 16 // bytes of a bundle's secret
	keyMost  = 4096
)

type backupOptions struct {
	key    string
	export bool
}

func backupCommand() command {
	return command{
		name: "backup", args: "FILE", short: "the journal into one sealed file, or readable for the merchant's own records",
		long: "Works beside the running terminal. FILE is sealed under the key in --key-file (16 bytes or more, readable by its owner only):\n" +
			"keep the key elsewhere, without it nobody reads the file. The box's own key never leaves it; posagent restore puts the journal\n" +
			"back on this box or on another one. With --export FILE is JSON, one line each sale, operation and event: no card data, no\n" +
			"secrets, and it cannot be restored. FILE is replaced whole or not at all.",
		examples: []string{
			"posagent backup /media/usb/shop.bundle --key-file backup.key",
			"posagent backup --export /media/usb/shop.jsonl",
			"head -c 32 /dev/urandom | base64 > backup.key; chmod 600 backup.key    # a key",
		},
		flags: func(fs *flag.FlagSet) any {
			o := &backupOptions{}
			keyFlag(fs, &o.key)
			fs.BoolVar(&o.export, "export", false, "write readable JSON lines instead of a sealed bundle")
			return o
		},
		run: runBackup,
	}
}

func keyFlag(fs *flag.FlagSet, to *string) {
	fs.StringVar(to, "key-file", "", "`file` with the key of the bundle (default: the one "+keyFileVar+" names)")
}

// backupView is what a backup says of itself (posagent.backup/1).
type backupView struct {
	Schema string           `json:"schema"`
	File   string           `json:"file"`
	Bytes  int64            `json:"bytes"`
	Bundle store.BundleHead `json:"bundle"`
}

func runBackup(ctx context.Context, c *call) error {
	o := c.opts.(*backupOptions)
	if len(c.args) != 1 {
		return fail(exitUsage, "%s: into which file? (posagent backup FILE)", c.path)
	}
	if o.export {
		return runExport(ctx, c, c.args[0])
	}
	secret, err := bundleSecret(o.key)
	if err != nil {
		return err
	}
	if err := mayReplace(c.args[0]); err != nil {
		return err
	}
	if _, err := journalKeys(c); err != nil {
		return err
	}
	noteDeed(ctx, c, audit.Deed{Deed: control.Backup, Subject: filepath.Base(c.args[0])}) // first: the bundle holds its own line
	v, err := writeBundle(ctx, c, c.args[0], secret)
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.out, v)
	}
	fmt.Fprintf(c.out, "%s: %d KiB, generation %d of %s\n", v.File, v.Bytes>>10, v.Bundle.Generation, v.Bundle.Terminal)
	return nil
}

// bundleSecret reads the key of a bundle.
func bundleSecret(path string) ([]byte, error) {
	if path == "" {
		path = os.Getenv(keyFileVar)
	}
	if path == "" {
		return nil, fail(exitUsage, "which key? (--key-file FILE, or %s)", keyFileVar)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fail(exitFailed, "key file: %v", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, fail(exitFailed, "key file: %v", err)
	case !fi.Mode().IsRegular():
		return nil, fail(exitRefused, "key file %s is not a regular file", path)
	case fi.Mode().Perm()&0o077 != 0:
		return nil, fail(exitRefused, "key file %s may be read by others (chmod 600 %s)", path, path)
	}
	secret := make([]byte, keyMost+1)
	n, err := bufio.NewReader(f).Read(secret)
	if secret = bytes.TrimRight(secret[:n], "\r\n"); len(secret) < keyLeast || len(secret) > keyMost {
		return nil, fail(exitRefused, "key file %s holds %d bytes, wanted are %d to %d (head -c 32 /dev/urandom | base64 makes one)",
			path, len(secret), keyLeast, keyMost)
	}
	return secret, nil
}

// writeBundle seals the journal as it is at this moment into file.
func writeBundle(ctx context.Context, c *call, file string, secret []byte) (v backupView, err error) {
	keys, err := journalKeys(c)
	if err != nil {
		return v, err
	}
	if err := mayReplace(file); err != nil {
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
	head.Bytes = fi.Size()
	v = backupView{Schema: "posagent.backup/1", File: file}
	err = replaceFile(file, func(to *os.File) error {
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
		return v, wroteNot(file, err)
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

// oneAtATime keeps two verbs from using the same names beside the journal.
func oneAtATime(c *call) (release func(), err error) {
	f, err := os.OpenFile(agentDB(c)+".copy.lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, storeError(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fail(exitRefused, "another backup or restore is under way on %s", c.stateDir()), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// clearStaged removes a copy that a killed verb left.
func clearStaged(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// mayReplace refuses to write over anything but an earlier bundle or export.
func mayReplace(file string) error {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
			return fail(exitFailed, "%s: there is no folder %s: make it, or choose another", file, filepath.Dir(file))
		}
		return nil
	}
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	defer f.Close()
	begin := make([]byte, 64)
	n, _ := f.Read(begin)
	if begin = begin[:n]; n == 0 || bytes.HasPrefix(begin, []byte("posagent-bundle ")) || bytes.HasPrefix(begin, []byte(`{"schema":"posagent.export/`)) {
		return nil
	}
	return fail(exitRefused, "%s is there already and is no backup: choose another name", file)
}

// replaceFile gives a file its content whole or not at all; it is durable then, and readable by its owner only.
func replaceFile(file string, write func(*os.File) error) error {
	f, err := os.OpenFile(file+".new", os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(err, f.Close(), os.Remove(file+".new"))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file+".new"))
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func wroteNot(file string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fail(exitFailed, "%s was not written: %v", file, err)
}
