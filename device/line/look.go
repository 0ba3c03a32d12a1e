package line

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"posagent/device/node"
)

// ErrInUse says that another process has the line.
var ErrInUse = errInUse

// Look returns the device behind the configured name, and what would keep Open from opening it: os.ErrNotExist, node.ErrAmbiguous,
// ErrNotTTY, os.ErrPermission, ErrInUse. It does not open the device, so a program that has it notices nothing.
func (c Config) Look() (device string, err error) {
	path, err := node.Path(c.SysDir, c.Path)
	if err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return path, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || !c.isTTY(uint64(st.Rdev)) {
		return path, fmt.Errorf("%s: %w", path, ErrNotTTY)
	}
	if err := unix.Access(path, unix.R_OK|unix.W_OK); err != nil {
		return path, fmt.Errorf("%s: %w", path, err)
	}
	if holder(st) != 0 {
		return path, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if c.LockDir == "" {
		c.LockDir = "/run/lock"
	}
	for _, dir := range []string{c.LockDir, os.TempDir()} {
		if locked(filepath.Join(dir, lockName(path))) {
			return path, fmt.Errorf("%s: %w", path, ErrInUse)
		}
	}
	return path, nil
}

// isTTY says whether the kernel knows a character device as a terminal. One that it does not describe counts as one: Open finds out.
func (c Config) isTTY(rdev uint64) bool {
	sys := c.SysDir
	if sys == "" {
		sys = "/sys"
	}
	if major := unix.Major(rdev); major >= 136 && major <= 143 { // pseudo terminals, which sysfs does not describe
		return true
	}
	to, err := os.Readlink(filepath.Join(sys, fmt.Sprintf("dev/char/%d:%d/subsystem", unix.Major(rdev), unix.Minor(rdev))))
	return err != nil || filepath.Base(to) == "tty"
}

// lockName is the name of a device's lock file.
func lockName(device string) string {
	return "LCK.." + strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(device, "/dev/"), "/"), "/", "_")
}

// locked says whether a process holds a lock file. It takes the lock for a moment, shared.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
