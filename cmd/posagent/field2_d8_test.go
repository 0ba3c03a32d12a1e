package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/device"
	"posagent/store/sqlite"
)

// TestField2_D8WhatRootDoesWithAnothersJournal: an export that root makes of a terminal that does not run stands in its audit log, with
// root's name, and after it, as after a reset, everything in the state directory is the terminal's own.
func TestField2_D8WhatRootDoesWithAnothersJournal(t *testing.T) {
	if os.Geteuid() != 0 {
		need.Missing(t, "another account", "run it as root")
	}
	const owner = 65534
	dir := t.TempDir()
	for p := dir; p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		require.NoError(t, os.Chmod(p, 0o755))
	}
	state := filepath.Join(dir, "state")
	keys, err := device.OpenKeys(filepath.Join(state, "keys"))
	require.NoError(t, err)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: agent.Schema(), Wrapper: keys, Marks: []string{filepath.Join(state, "agent.db.mark")}})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	each := func(do func(path string, uid uint32)) {
		require.NoError(t, filepath.WalkDir(state, func(path string, _ fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := os.Lstat(path)
			require.NoError(t, err)
			do(path, info.Sys().(*syscall.Stat_t).Uid)
			return nil
		}))
	}
	each(func(path string, _ uint32) { require.NoError(t, os.Lchown(path, owner, owner)) })
	program := filepath.Join(dir, "posagent") // TestMain looks at the name
	require.NoError(t, os.Symlink(os.Args[0], program))
	root := func(args ...string) string { // a process of its own: it may change its account
		c := exec.Command(program, append(args, "--state", state)...)
		c.Env = append(os.Environ(), "POSAGENT_CONFIG=")
		text, err := c.CombinedOutput()
		require.NoError(t, err, string(text))
		return string(text)
	}
	export := filepath.Join(dir, "shop.jsonl")
	require.NotContains(t, root("backup", "--export", export), "not in the audit log")
	info, err := os.Stat(export)
	require.NoError(t, err)
	require.Zero(t, info.Sys().(*syscall.Stat_t).Uid, "it is root's own")
	said := root("audit")
	require.Contains(t, said, "journal.export")
	require.Contains(t, said, "shop.jsonl")
	require.Contains(t, said, "uid 0")
	all := func(after string) {
		each(func(path string, uid uint32) { require.EqualValues(t, owner, uid, "%s, after %s", path, after) })
	}
	all("an export")
	root("reset", "--yes")
	all("a reset")
}
