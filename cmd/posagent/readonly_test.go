package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/agent"
	"posagent/cross/need"
	"posagent/device"
	"posagent/store/sqlite"
)

// TestStatusOnAReadOnlyFileSystem: the journal cannot be opened there, and is whole all the same.
func TestStatusOnAReadOnlyFileSystem(t *testing.T) {
	need.Verify(t, "mounts a file system")
	state := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	if err := unix.Mount("none", state, "tmpfs", 0, "size=16m,mode=0700"); err != nil {
		need.Missing(t, "a mount", "run it as root: "+err.Error())
	}
	t.Cleanup(func() { _ = unix.Unmount(state, unix.MNT_DETACH) })
	keys, err := device.OpenKeys(filepath.Join(state, "keys"))
	require.NoError(t, err)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(state, "agent.db"), Steps: agent.Schema(), Wrapper: keys, Ballast: -1})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, unix.Mount("", state, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	code, out, talk := ask(t, "status", "--state", state)
	require.Equal(t, exitFailed, code, out+talk)
	require.Contains(t, out, "NOT READY: the file system of "+state+" is read-only: dmesg | tail says why; mount -o remount,rw makes it writable again; the journal is whole\n")
	require.Contains(t, talk, "mount -o remount,rw")
	require.NotContains(t, talk, "call support")
}
