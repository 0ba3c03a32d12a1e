package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestARemovalWritesThroughNoLink: root runs the script, and the state directory belongs to the terminal's account.
func TestARemovalWritesThroughNoLink(t *testing.T) {
	root, other := t.TempDir(), filepath.Join(t.TempDir(), "passwd")
	state := filepath.Join(root, "var/lib/posagent")
	require.NoError(t, os.MkdirAll(state, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "usr/bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "usr/bin/posagent"), []byte("#!/bin/sh\nexit 0\n"), 0o755)) // nothing is pending
	require.NoError(t, os.WriteFile(filepath.Join(state, "agent.db"), []byte("abc"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("root's own"), 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(state, "settled")))

	code, said := ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.prerm", "remove")
	require.Zero(t, code, said)
	require.Equal(t, "root's own", read(t, other))
	info, err := os.Lstat(filepath.Join(state, "settled"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular(), info.Mode())
	sum := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of abc
	require.Equal(t, sum, strings.Fields(read(t, filepath.Join(state, "settled")))[0])

	code, said = ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.postrm", "purge")
	require.Zero(t, code, said)
	require.NoDirExists(t, state)
}
