package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestARemovalAsksAndWaitsForNothing: the program is asked about a link to a medium that is away, too, and the files of the account are
// neither followed nor waited for.
func TestARemovalAsksAndWaitsForNothing(t *testing.T) {
	root := t.TempDir()
	state, asked := filepath.Join(root, "var/lib/posagent"), filepath.Join(root, "asked")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "usr/bin"), 0o755))
	program := filepath.Join(root, "usr/bin/posagent")
	answer := func(code string) {
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$*\" >>"+asked+"\nexit "+code+"\n"), 0o755))
	}
	answer("0")
	code, said := ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.prerm", "remove")
	require.Zero(t, code, said)
	require.NoFileExists(t, asked, "no terminal has run here")

	require.NoError(t, os.MkdirAll(filepath.Dir(state), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(root, "away"), state))
	answer("6")
	code, said = ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.prerm", "remove")
	require.Equal(t, 1, code, said)
	require.Contains(t, said, "not removed")
	require.Equal(t, "journal pending --state "+state+"\n", read(t, asked))

	require.NoError(t, os.Remove(state))
	require.NoError(t, os.Mkdir(state, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "etc/posagent"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/posagent/config.toml"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(state, "agent.db"), []byte("abc"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(state, "agent.db-wal"), 0o600))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(state, "agent.db.mark")))
	answer("0")
	code, said = ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.prerm", "remove")
	require.Zero(t, code, said)
	require.Contains(t, read(t, asked), "journal pending --state "+state+" --config "+filepath.Join(root, "etc/posagent/config.toml")+"\n")
	sum := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of abc
	require.Equal(t, sum, strings.Fields(read(t, filepath.Join(state, "settled")))[0])

	require.NoError(t, os.Remove(filepath.Join(state, "settled")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(state, "settled"), 0o600))
	code, said = ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.postrm", "purge")
	require.Equal(t, 1, code, said)
	require.FileExists(t, filepath.Join(state, "agent.db"))
}

// TestAPurgeKeepsWhatWasPutAside: nobody knows what is open in a journal that no key opens.
func TestAPurgeKeepsWhatWasPutAside(t *testing.T) {
	root := t.TempDir()
	state := filepath.Join(root, "var/lib/posagent")
	aside := filepath.Join(state, "locked-20261126T120000Z")
	require.NoError(t, os.MkdirAll(aside, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(aside, "agent.db"), []byte("abc"), 0o600))
	code, said := ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.postrm", "purge")
	require.Equal(t, 1, code, said)
	require.Contains(t, said, "not purged. A journal that no key opened lies in "+aside)
	require.FileExists(t, filepath.Join(aside, "agent.db"))

	require.NoError(t, os.RemoveAll(aside))
	require.NoError(t, os.Symlink("away", aside))
	code, said = ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.postrm", "purge")
	require.Equal(t, 1, code, said)

	require.NoError(t, os.Remove(aside))
	code, said = ran(t, []string{"DPKG_ROOT=" + root}, "sh", "files/deb.postrm", "purge")
	require.Zero(t, code, said)
	require.NoDirExists(t, state)
}
