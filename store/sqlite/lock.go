package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"posagent/store"
)

// Owner says whether a process has the database at path open for writing, and its number where it
// is known. It opens only the lock file and changes nothing. Where that is gone, or is another one, the
// owner is known by its lock on the database itself.
func Owner(path string) (pid int, running bool, err error) {
	f, err := openBeside(path + ".lock")
	if errors.Is(err, os.ErrNotExist) {
		pid = lockedBy(path)
		return pid, pid > 0, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("store: lock: %w", err)
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		pid = lockedBy(path)
		return pid, pid > 0, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return 0, false, fmt.Errorf("store: lock: %w", err)
	}
	_, _ = fmt.Fscanf(f, "%d", &pid)
	return pid, true, nil
}

// Owner holds the lock for a moment when it looks; an owner that starts just then must not take it
// for a rival.
const (
	lockTries = 5
	lockPause = 20 * time.Millisecond
)

// lockFile takes the one-process lock beside the database.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: lock: %w", err)
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() { // of a pipe nobody says which process holds it
		return nil, errors.Join(fmt.Errorf("store: lock: %s.lock is not a regular file", path), err, f.Close())
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for try := 1; errors.Is(err, unix.EWOULDBLOCK) && try < lockTries && ctx.Err() == nil; try++ {
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		locked := &store.LockedError{Path: path}
		_, _ = fmt.Fscanf(f, "%d", &locked.PID)
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, locked
		}
		return nil, fmt.Errorf("store: lock %s: %w", path, err)
	}
	// The number only helps a reader; a full disk must not keep the store shut, and has room for it in the place of the one before.
	number := fmt.Appendf(nil, "%d\n", os.Getpid())
	if _, err := f.WriteAt(number, 0); err == nil {
		_ = f.Truncate(int64(len(number)))
	}
	return f, nil
}

// lockJournal takes the owner's lock on the database itself, which is there when the lock file was
// removed. It is held until SQLite has closed the file: closing any descriptor of it drops SQLite's own
// locks. The file is nil on a system that knows no such lock. *LockedError while there is an owner.
func lockJournal(path string) (*os.File, error) {
	if pid := lockedBy(path); pid > 0 { // without opening it: the owner may be this process
		return nil, &store.LockedError{Path: path, PID: pid}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil // SQLite says what is wrong with it
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(&store.LockedError{Path: path}, f.Close())
	}
	return nil, f.Close()
}

// lockedBy returns the process that holds the owner's lock on the database at path, 0 where there is
// none. The kernel's table of locks names it; the database is not opened.
func lockedBy(path string) (pid int) {
	db, err := os.Stat(path)
	if err != nil {
		return 0
	}
	st := db.Sys().(*syscall.Stat_t)
	here := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for _, l := range locks("FLOCK", st.Ino) {
		// Some file systems have two names for their device, and then only what the process has open
		// tells two files of one number apart. Another account's process does not show it.
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", l.pid)) // the pattern is none of those that fail
		has := func(fd string) bool { fi, err := os.Stat(fd); return err == nil && os.SameFile(fi, db) }
		if l.file == here || slices.ContainsFunc(fds, has) {
			return l.pid
		}
	}
	return 0
}
