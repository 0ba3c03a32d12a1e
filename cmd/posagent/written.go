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

// wroteNot is the failure of a file that was not written; an interruption stays one.
func wroteNot(file string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fail(exitFailed, "%s was not written: %v", file, err)
}
