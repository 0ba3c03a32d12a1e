package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
)

// mustEnd runs a verb and answers its exit code; a verb that waits for a pipe fails the test.
func mustEnd(t *testing.T, args ...string) int {
	t.Helper()
	ended := make(chan int, 1)
	go func() { ended <- execute(t.Context(), args, std{strings.NewReader(""), io.Discard, io.Discard}) }()
	return need.Receive(t, "the end of posagent "+strings.Join(args, " "), ended)
}

// A pipe in the place of the configuration, or of a file that it names, holds up no verb that root runs, nor a package's script.
func TestNoVerbWaitsForAPipeOfTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	pipe, state := filepath.Join(dir, "pipe"), filepath.Join(dir, "s")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	names := filepath.Join(dir, "names.toml")
	require.NoError(t, os.WriteFile(names, []byte("[upstream]\nbase = \"https://127.0.0.1:1\"\nclient_cert = \""+pipe+"\"\nclient_key = \""+pipe+"\"\nroots_file = \""+pipe+
		"\"\n[upstream.auth]\nbearer_file = \""+pipe+"\"\n[store]\nmark = \""+pipe+"\"\n[keypad]\ndevice = \""+pipe+"\"\n"), 0o600))
	for _, path := range []string{pipe, names} {
		for _, verb := range []string{"status", "doctor", "journal pending", "config check", "config show", "history", "support bundle --no-log --out " + filepath.Join(t.TempDir(), "x.tar.gz")} {
			mustEnd(t, append(strings.Fields(verb), "--config", path, "--state", state)...)
		}
	}
	require.Equal(t, exitUsage, mustEnd(t, "torture", "nexo", "127.0.0.1:1", "--poi-id", "P", "--roots-file", pipe))
}

// TestField2_D7NoVerbWaitsForAPipe: a pipe in the place of a file that a person has named holds up no verb, of the terminal or of the
// operator: it is refused, and a verb that reads a pipe all the same takes it as its own input.
func TestField2_D7NoVerbWaitsForAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, key := filepath.Join(dir, "pipe"), filepath.Join(dir, "key")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(key, []byte("a key of enough bytes for a test"), 0o600))
	for _, verb := range []string{
		"restore " + pipe + " --key-file " + key, "restore " + pipe + " --key-file " + pipe, "reconcile " + pipe, "enroll --qr " + pipe, "enroll 7K3M-9QXD-2PV --bundle " + pipe,
		"backend fleet import " + pipe, "backend fleet create --toml " + pipe, "backend fleet configure X --toml " + pipe, "backup " + pipe + " --key-file " + pipe,
	} {
		for _, config := range []string{"", pipe} {
			args := append(strings.Fields(verb), "--state", filepath.Join(dir, "s"))
			if config != "" && !strings.HasPrefix(verb, "backend") {
				args = append(args, "--config", config)
			}
			require.NotEqual(t, exitOK, mustEnd(t, args...), verb)
		}
	}
}

// The lock is read by every verb that looks for the running terminal, and taken by those that change the journal.
func TestNoVerbWaitsForAPipeAsLock(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "s")
	keys, err := openKeys(callOn(t, state))
	require.NoError(t, err)
	db, err := openJournal(t.Context(), callOn(t, state), keys, logger(callOn(t, state)), "")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	lock := filepath.Join(state, "agent.db.lock")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, unix.Mkfifo(lock, 0o600))
	held, err := os.OpenFile(lock, os.O_RDWR, 0) // with a writer at its other end, a pipe has no end that a reader comes to
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, unix.Flock(int(held.Fd()), unix.LOCK_EX))
	for _, verb := range []string{"status", "doctor", "sale list"} {
		mustEnd(t, append(strings.Fields(verb), "--state", state)...)
	}
	for _, verb := range []string{"journal pending", "config rotate-key", "reset --yes", "journal accept --reason x"} {
		require.NotEqual(t, exitOK, mustEnd(t, append(strings.Fields(verb), "--state", state)...), verb)
	}
	require.FileExists(t, filepath.Join(state, "agent.db"))
}

// An examination whose time is up ends the read of the journal that it has begun, and waits until that has put its copy away.
func TestAnExaminationEndsItsReads(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	g := &gathered{stop: stop}
	began, ended := make(chan struct{}), false
	go g.during(func() {
		close(began)
		<-ctx.Done()
		ended = true
	})
	<-began
	g.close()
	require.True(t, ended)
	g.during(func() { t.Error("read after the end") })
}
