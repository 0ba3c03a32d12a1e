package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
)

// Pipes and links in the account's directory neither hold a bundle up nor lead it elsewhere.
func TestABundleWaitsForNothing(t *testing.T) {
	dir := t.TempDir()
	state, secret := filepath.Join(dir, "s"), filepath.Join(dir, "secret")
	require.NoError(t, os.MkdirAll(filepath.Join(state, "enrolment"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(state, "keys"), 0o700))
	require.NoError(t, os.WriteFile(secret, []byte(`{"report":{"ready":true},"names":{"terminalId":"canary-of-another-file"}}`), 0o600))
	for _, name := range []string{"port.token", "doctor.json", "waiting.lock", "agent.db", "agent.db.mark", "agent.db.lock", "enrolment/record", "keys/device.key"} {
		require.NoError(t, unix.Mkfifo(filepath.Join(state, name), 0o600))
	}
	require.NoError(t, os.Symlink(secret, filepath.Join(state, "live.json")))
	require.NoError(t, os.WriteFile(filepath.Join(state, "a\nline\x1b[2J"), nil, 0o600))
	ended := make(chan int, 1)
	go func() {
		ended <- execute(t.Context(), []string{"support", "bundle", "--state", state, "--no-log", "--out", filepath.Join(dir, "x.tar.gz")},
			std{strings.NewReader(""), io.Discard, io.Discard})
	}()
	require.Equal(t, exitOK, need.Receive(t, "the end of the bundle", ended))
	data, err := os.ReadFile(filepath.Join(dir, "x.tar.gz"))
	require.NoError(t, err)
	parts := partsOf(t, data)
	require.NotEmpty(t, parts["status.json"])
	require.Contains(t, parts["box/files.txt"], "/a.line.[2J\n")
	for name, text := range parts {
		require.NotContains(t, text, "canary", name)
		require.NotContains(t, text, "no end in", name)
	}
}

// partsOf unpacks an archive of posagent support: texts by the names of their parts.
func partsOf(t *testing.T, data []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	parts := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return parts
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		_, name, _ := strings.Cut(head.Name, "/") // behind the marker
		parts[name] = string(text)
	}
}

// What another account's link leads to is not the journal that root is asked about.
func TestRootFollowsNoLinkOfAnotherAccount(t *testing.T) {
	need.Verify(t, "is for root")
	if os.Geteuid() != 0 {
		need.Missing(t, "directories of other accounts", "run as root")
	}
	dir := t.TempDir()
	state, settled := filepath.Join(dir, "s"), filepath.Join(dir, "settled")
	keys, err := openKeys(callOn(t, settled))
	require.NoError(t, err)
	db, err := openJournal(t.Context(), callOn(t, settled), keys, logger(callOn(t, settled)), "")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	code, out, talk := ask(t, "journal", "pending", "--state", settled)
	require.Equal(t, exitOK, code, out+talk)

	require.NoError(t, os.Mkdir(state, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(settled, "agent.db"), filepath.Join(state, "agent.db")))
	require.NoError(t, os.Chown(state, 65534, 65534))
	code, out, talk = ask(t, "journal", "pending", "--state", state)
	require.Equal(t, exitDamaged, code, out+talk)
	require.Contains(t, talk, "is a link that another account has made")
}
