package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"posagent/store"
)

// lookAsOwner lets root read the journal with the rights of the account that the state directory belongs to, for good. Root stays root
// where that account cannot read what has to be read, and has not closed it itself: beneath a folder of root's, a configuration that is
// root's alone, or what root's own verbs have left. What is pending is told then, too. An account that closes its own files, or puts a
// link in their place, does not keep root.
func lookAsOwner(c *call) error {
	dir := c.stateDir()
	var st unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(dir, &st) != nil || st.Uid == 0 {
		return nil
	}
	uid, gid := int(st.Uid), int(st.Gid)
	refused := func(err error) error {
		return fail(exitFailed, "%s belongs to uid %d: %w (run as that user)", dir, uid, err)
	}
	was, root := syscall.Getgid(), 0
	groups, err := syscall.Getgroups()
	if err != nil {
		return refused(err)
	}
	list := toRead(c)
	if syscall.Setgroups([]int{gid}) != nil { // a root that may become nobody else: in a container, say
		return nil
	}
	err = syscall.Setresgid(gid, gid, gid)
	if err == nil {
		err = syscall.Setresuid(uid, uid, root) // the saved number is the way back
	}
	if err == nil {
		if cfg, wrong := readConfig(c); wrong == nil && cfg.Store.Mark != "" {
			list = append(list, cfg.Store.Mark)
		}
		if !closed(st.Uid, list...) {
			if err := syscall.Setresuid(uid, uid, uid); err != nil {
				return refused(err)
			}
			return nil
		}
	}
	for _, back := range []func() error{
		func() error { return syscall.Setresuid(root, root, root) },
		func() error { return syscall.Setresgid(was, was, was) },
		func() error { return syscall.Setgroups(groups) },
	} {
		if err := back(); err != nil {
			return refused(err)
		}
	}
	return nil
}

// toRead is what a verb that only reads may open.
func toRead(c *call) []string {
	db := agentDB(c)
	list := []string{c.stateDir(), db, db + "-wal", db + "-shm", db + ".lock", store.MarkPath(db)}
	if path := configPath(c); path != "" {
		list = append(list, path)
	}
	for _, dir := range []string{keyDir(c), filepath.Join(c.stateDir(), "enrolment")} {
		list = append(list, dir)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}

// closed says whether one of paths is there and closed to this process, which runs as uid, by another account.
func closed(uid uint32, paths ...string) bool {
	for _, path := range paths {
		if closedAt(uid, path) != "" {
			return true
		}
	}
	return false
}

// closedAt is the part of path that another account than uid has closed to it: a folder on the way, or what lies at its end.
func closedAt(uid uint32, path string) string {
	path = filepath.Clean(path)
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		part := path[:end]
		var st unix.Stat_t
		if unix.Lstat(part, &st) != nil {
			return "" // what is not there is closed to nobody: the folder above it is open
		}
		mode := uint32(unix.X_OK)
		if end == len(path) {
			mode = unix.R_OK
			if strings.HasSuffix(path, "-shm") {
				mode |= unix.W_OK // a reader of the log says there that it reads
			}
		}
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFLNK && st.Uid == uid:
			return "" // where that leads is its own doing
		case !errors.Is(unix.Access(part, mode), unix.EACCES):
		case st.Uid == uid:
			return ""
		default:
			return part
		}
	}
	return ""
}
