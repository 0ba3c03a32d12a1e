package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// fixSafe mends what cannot lose or reveal anything: a missing state directory, and modes of the box's own files that let others read
// them. It says on the talk stream what it did, and what it could not do.
func fixSafe(c *call) {
	dir := c.stateDir()
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		made := "made " + dir + ", mode 0700"
		if os.Geteuid() == 0 {
			made += ", which belongs to root (chown it where posagent runs as another account)"
		}
		fixed(c, made, os.MkdirAll(dir, 0o700))
	}
	if closeToOthers(c, keyDir(c), "device.key", 0o600) {
		fmt.Fprintln(c.err, "posagent: other accounts may have read the device key until now: posagent config rotate-key"+c.flags()+" makes another")
	}
	closeToOthers(c, keyDir(c), ".", 0o700)
	if bytes, err := clearDead(c); err != nil || bytes > 0 {
		fixed(c, fmt.Sprintf("removed what a killed backup or restore has left beside the journal, %d KiB", bytes>>10), err)
	}
	for _, name := range []string{"agent.db", "agent.db-wal", "agent.db-shm", "agent.db.mark"} {
		closeToOthers(c, dir, name, 0o600)
	}
}

// closeToOthers takes the rights of other accounts on a file in dir ("." is dir itself): one of this account or, for root, of the
// account that owns the state directory. No link is followed, and a file with two names is left alone. It returns whether there
// were such rights, and are none now.
func closeToOthers(c *call, dir, name string, mode os.FileMode) bool {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	at, err := unix.Open(dir, flags|unix.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(at)
	fd, err := unix.Openat(at, name, flags, 0)
	if err != nil {
		return false
	}
	file := os.NewFile(uintptr(fd), filepath.Join(dir, name))
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false
	}
	stat, perm := info.Sys().(*syscall.Stat_t), info.Mode().Perm()
	if perm&^mode == 0 || !info.IsDir() && (!info.Mode().IsRegular() || stat.Nlink != 1) {
		return false
	}
	if me, owner := os.Geteuid(), int(stat.Uid); owner != me && (me != 0 || owner != ownerOf(c.stateDir())) {
		return false
	}
	err = file.Chmod(perm & mode)
	fixed(c, fmt.Sprintf("set the mode of %s to %04o (was %04o)", file.Name(), perm&mode, perm), err)
	return err == nil
}

func fixed(c *call, what string, err error) {
	if err != nil {
		fmt.Fprintf(c.err, "posagent: not fixed: %v\n", err)
		return
	}
	fmt.Fprintln(c.err, "posagent: "+what)
}
