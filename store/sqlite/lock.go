package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"posagent/store"
)

// Owner says whether a process has the database at path open for writing, and its number where it
// is known. It opens only the lock file and changes nothing.
func Owner(path string) (pid int, running bool, err error) {
	f, err := openBeside(path + ".lock")
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("store: lock: %w", err)
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return 0, false, nil
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
