package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

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

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// wroteNot is the failure of a file that was not written; an interruption stays one.
func wroteNot(file string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fail(exitFailed, "%s was not written: %v", file, err)
}
