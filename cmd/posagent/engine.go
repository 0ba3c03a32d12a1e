package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
	"posagent/store/sqlite"
)

// journalOptions say how a journal is opened for work.
type journalOptions = sqlite.Options

// journalFile is the path of a journal, for verbs that handle it as a whole. The engine that lies there is named here alone.
type journalFile string

// fileOf is the journal of the terminal in the state directory.
func fileOf(c *call) journalFile { return journalFile(agentDB(c)) }

// lookAt answers what is wrong with the journal, by its mark alone where the journal is missing.
func lookAt(c *call) error {
	db, err := fileOf(c).readAsItIs(c.ctx, nil, false)
	if err != nil {
		return err
	}
	return db.Close()
}

// open opens the journal for work. It answers what agent.Open answers.
func (f journalFile) open(ctx context.Context, o journalOptions) (store.Journal, error) {
	if err := errors.Join(f.noLink(), f.unheard(ctx)); err != nil {
		return nil, err
	}
	o.Path, o.Outlived, o.Trial, o.Box = string(f), f.outlived(), onTrial(), thisBox()
	return agent.Open(ctx, o)
}

// read opens the journal for reading, whatever earlier program wrote it. keys, nil = none, verify its rows; cut also reads what is
// left of one that was cut. marks are compared besides the one beside the journal.
func (f journalFile) read(ctx context.Context, keys store.Wrapper, cut bool, marks ...string) (store.Journal, error) {
	if err := f.noLink(); err != nil {
		return nil, err
	}
	return journalOrNil(sqlite.OpenReaderOf(ctx, sqlite.Options{Path: string(f), Steps: agent.Schema(), Wrapper: keys, IgnoreMark: cut, Marks: marks, Outlived: f.outlived(), Box: thisBox()}))
}

// thisBox is what this box is known by.
func thisBox() map[string][]string { return device.Marks("/") }

// outlived is what the terminal of a journal keeps beside the device key, and nothing else makes: a journal that is gone with its mark was
// here.
func (f journalFile) outlived() string {
	return filepath.Join(filepath.Dir(string(f)), keysName, secretName)
}

// noLink keeps root from being led by another account: what a link in its directory leads to is not what the terminal works on.
func (f journalFile) noLink() error {
	info, err := os.Lstat(string(f))
	if err != nil || info.Mode().Type() != fs.ModeSymlink || os.Geteuid() != 0 || ownerOf(filepath.Dir(string(f))) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s is a link that another account has made", store.ErrDamaged, string(f))
}

// readAsItIs is read with the schema that the journal has.
func (f journalFile) readAsItIs(ctx context.Context, keys store.Wrapper, cut bool) (store.Journal, error) {
	if err := f.noLink(); err != nil {
		return nil, err
	}
	return journalOrNil(sqlite.Open(ctx, sqlite.Options{Path: string(f), Wrapper: keys, ReadOnly: true, IgnoreMark: cut, Outlived: f.outlived(), Box: thisBox()}))
}

// journalOrNil keeps an engine that was not opened from being an interface that is not nil.
func journalOrNil(s *sqlite.Store, err error) (store.Journal, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// isJournal reports whether a file begins as a journal of this engine does.
func isJournal(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "SQLite format 3\x00"
}

// owner says whether a process has the journal open for work, and which.
func (f journalFile) owner() (pid int, running bool, err error) { return sqlite.Owner(string(f)) }

// hold keeps every owner away until release is called. *store.LockedError while there is one.
func (f journalFile) hold(ctx context.Context) (release func() error, err error) {
	if err := f.unheard(ctx); err != nil {
		return nil, err
	}
	return sqlite.Hold(ctx, string(f))
}

// unheard is *store.LockedError where a terminal answers in the directory of the journal. It may work on files that were removed or
// replaced there, and then no lock at this path is its own.
func (f journalFile) unheard(ctx context.Context) error {
	pid, heard := answering(ctx, filepath.Dir(string(f)))
	if !heard || pid == os.Getpid() {
		return nil
	}
	return &store.LockedError{Path: string(f), PID: pid}
}

// snapshot copies what is committed at this moment into a file, with its keys wrapped under to.
func (f journalFile) snapshot(ctx context.Context, copied string, from, to store.Wrapper, progress func(done, of int)) error {
	return sqlite.Snapshot(ctx, string(f), copied, from, to, progress)
}

// stage makes a journal of a snapshot that lies at f, meant for the place of marks.
func (f journalFile) stage(ctx context.Context, keys store.Wrapper, marks []string, from store.Wrapper, why string) error {
	return sqlite.Stage(ctx, sqlite.Options{Path: string(f), Steps: agent.Schema(), Wrapper: keys, Marks: marks, Trial: onTrial()}, from, why)
}

// replace puts a staged journal in the place of this one, which the caller holds; damaged = this one cannot be read.
func (f journalFile) replace(ctx context.Context, staged journalFile, damaged bool) error {
	return sqlite.Replace(ctx, string(staged), string(f), damaged)
}

// remove deletes the journal, which the caller holds. Call ended before and after.
func (f journalFile) remove(ctx context.Context, damaged bool) error {
	return sqlite.Remove(ctx, string(f), damaged)
}

// ended tells the marks that the journal is about to be removed, or that it was: done. how is store.WasReset, or says with why that it
// is given up unread.
func (f journalFile) ended(marks []string, done bool, how store.Kind, why string) error {
	return sqlite.Ended(string(f), marks, done, how, why)
}

// putAside moves the journal, which the caller holds, to a new place. Call ended before and after.
func (f journalFile) putAside(ctx context.Context, to string) error {
	return sqlite.PutAside(ctx, string(f), to)
}
