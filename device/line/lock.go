package line

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lock is what keeps other programs away from a device.
type lock struct {
	file   *os.File
	device int
}

// Close lets the device go.
func (l lock) Close() error { return errors.Join(l.file.Close(), unix.Close(l.device)) }

// takeLock locks a device and its lock file until the lock is closed; the lock closes the device too. The file alone would not do: a
// program that may not write to /run/lock, or has a /tmp of its own, has another file.
func takeLock(dir, path string, device int) (lock, error) {
	if err := flock(device); err != nil {
		return lock{}, err
	}
	f, err := takeFile(dir, path)
	return lock{f, device}, err
}

// flock locks an open file, or returns errInUse.
func flock(fd int) error {
	err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errInUse
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// flocked says whether any process has locked a file. It opens nothing.
func flocked(st unix.Stat_t) bool {
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}
	name := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
	for line := range strings.Lines(string(text)) { // "1: FLOCK  ADVISORY  WRITE 812 00:05:97 0 EOF"
		if f := strings.Fields(line); len(f) > 5 && f[1] == "FLOCK" && f[5] == name {
			return true
		}
	}
	return false
}

// takeFile holds the lock file of a device for as long as the returned file is open.
func takeFile(dir, device string) (*os.File, error) {
	name := lockName(device)
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		f, err = os.OpenFile(filepath.Join(os.TempDir(), name), os.O_RDWR|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := flock(int(f.Fd())); err != nil {
		_ = f.Close()
		return nil, err
	}
	// The number is for people who read the file; the flock is what counts.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(fmt.Sprintf("%10d\n", os.Getpid())), 0)
	return f, nil
}
