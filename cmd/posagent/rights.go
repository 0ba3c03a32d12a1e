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
	list := toRead(c)
	back, err := lower(c, st)
	if back == nil || err != nil {
		return err
	}
	if cfg, wrong := readConfig(c); wrong == nil && cfg.Store.Mark != "" {
		list = append(list, cfg.Store.Mark)
	}
	if closed(st.Uid, list...) {
		return back()
	}
	uid := int(st.Uid)
	if err := syscall.Setresuid(uid, uid, uid); err != nil {
		return notOwner(c, st, err)
	}
	return nil
}

// ownersRights does something with the rights of the account that the state directory belongs to, where root asks for it: root's files in it
// would keep the terminal from its own, and root is no owner of its key.
func ownersRights(c *call, do func() error) error {
	var st unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(c.stateDir(), &st) != nil || st.Uid == 0 {
		return do()
	}
	back, err := lower(c, st)
	if err != nil {
		return err
	}
	err = do()
	if back != nil {
		err = errors.Join(err, back())
	}
	return err
}

func notOwner(c *call, st unix.Stat_t, err error) error {
	return fail(exitFailed, "%s belongs to uid %d: %w (run as that user)", c.stateDir(), st.Uid, err)
}

// lower gives root the rights of the account that a state directory belongs to, until back is called; nil = root may become
// nobody else.
func lower(c *call, st unix.Stat_t) (back func() error, err error) {
	uid, gid, was, root := int(st.Uid), int(st.Gid), syscall.Getgid(), 0
	groups, err := syscall.Getgroups()
	if err != nil {
		return nil, notOwner(c, st, err)
	}
	if syscall.Setgroups([]int{gid}) != nil { // in a container, say
		return nil, nil
	}
	back = func() error {
		for _, step := range []func() error{
			func() error { return syscall.Setresuid(root, root, root) },
			func() error { return syscall.Setresgid(was, was, was) },
			func() error { return syscall.Setgroups(groups) },
		} {
			if err := step(); err != nil {
				return notOwner(c, st, err)
			}
		}
		return nil
	}
	err = syscall.Setresgid(gid, gid, gid)
	if err == nil {
		err = syscall.Setresuid(uid, uid, root) // the saved number is the way back
	}
	if err != nil {
		return nil, back()
	}
	return back, nil
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
