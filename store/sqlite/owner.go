package sqlite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Owner says whether a process has the database at path open for writing, and its number where it
// is known. It opens only the lock file and changes nothing.
func Owner(path string) (pid int, running bool, err error) {
	f, err := os.Open(path + ".lock")
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
