package line

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"posagent/device/node"
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
	err := flock(device)
	if errors.Is(err, errInUse) {
		return lock{}, inUse(device)
	}
	if err == nil && node.Mine(device) { // by another file of it, which has a lock of its own
		err = ErrOurs
	}
	if err != nil {
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

// holder is the number of the process that has locked a file, 0 = none. It opens nothing.
func holder(st unix.Stat_t) int {
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	name := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino)
	for line := range strings.Lines(string(text)) { // "1: FLOCK  ADVISORY  WRITE 812 00:05:97 0 EOF"
		if f := strings.Fields(line); len(f) > 5 && f[1] == "FLOCK" && f[5] == name {
			pid, err := strconv.Atoi(f[4])
			if err != nil || pid <= 0 { // a process that is not seen from here
				pid = -1
			}
			return pid
		}
	}
	return 0
}

// inUse is what keeps a locked device from being opened: this program itself, or another one.
func inUse(device int) error {
	var st unix.Stat_t
	if unix.Fstat(device, &st) == nil && holder(st) == os.Getpid() {
		return ErrOurs
	}
	return errInUse
}

// takeFile holds the lock file of a device for as long as the returned file is open.
func takeFile(dir, device string) (*os.File, error) {
	name := lockName(device)
	f, err := openLock(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, errPlanted) {
		f, err = openLock(filepath.Join(os.TempDir(), name))
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

// errPlanted is that of a lock file which is not one: everybody may put files into the places where they lie.
var errPlanted = errors.New("is not a lock file of root's or of this account's: look what it is, and remove it")

// openLock opens a lock file, and makes it. It follows no link, and opens no other name of another file.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, fmt.Errorf("%s %w", path, errPlanted)
	}
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	if err == nil && planted(st, os.Geteuid()) {
		err = fmt.Errorf("%s %w", path, errPlanted)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// planted reports whether what is open may be another account's doing.
func planted(st unix.Stat_t, uid int) bool {
	return st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || st.Uid != 0 && int(st.Uid) != uid
}
