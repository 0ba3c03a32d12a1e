package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
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
	key := filepath.Join(keyDir(c), "device.key")
	if closeToOthers(c, key, 0o600) {
		fmt.Fprintln(c.err, "posagent: other accounts may have read the device key until now: posagent config rotate-key"+c.flags()+" makes another")
	}
	closeToOthers(c, keyDir(c), 0o700)
	for _, name := range []string{"agent.db", "agent.db-wal", "agent.db-shm", "agent.db.mark"} {
		closeToOthers(c, filepath.Join(dir, name), 0o600)
	}
}

// closeToOthers takes the rights of other accounts on a file of this account, or, for root, on one of the account that owns the state
// directory. It returns whether there were any.
func closeToOthers(c *call, path string, mode os.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() || info.Mode().Perm()&^mode == 0 {
		return false
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if me := os.Geteuid(); owner != me && (me != 0 || owner != ownerOf(c.stateDir())) {
		return false
	}
	err = os.Chmod(path, mode)
	fixed(c, fmt.Sprintf("set the mode of %s to %04o (was %04o)", path, mode, info.Mode().Perm()), err)
	return err == nil
}

func fixed(c *call, what string, err error) {
	if err != nil {
		fmt.Fprintf(c.err, "posagent: not fixed: %v\n", err)
		return
	}
	fmt.Fprintln(c.err, "posagent: "+what)
}
