package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
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

// TestField2_D7RootKnowsWhatIsPending: root reads a journal with the rights of the account that owns its directory, but only where that
// account can: a file that root has left there, a configuration that is root's alone or a folder of root's above it make no removal of a
// package impossible. What the account closes itself, or leads elsewhere, does not keep root.
func TestField2_D7RootKnowsWhatIsPending(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own")
	require.NoError(t, os.WriteFile(own, nil, 0))
	require.NoError(t, os.Symlink("/etc/shadow", own+".link"))
	require.False(t, closed(uint32(os.Geteuid()), own, own+"/x", own+".link", own+".link/x", own+".gone", "/"), "by nobody else")
	if os.Geteuid() != 0 {
		return // another account's directory is root's to make
	}
	const account = 4242 // no entry is needed
	above, err := os.MkdirTemp("", "posagent-d7-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(above)) })
	if os.Chown(above, account, account) != nil {
		return // a root of a container, which has no other accounts
	}
	require.NoError(t, os.Chown(above, 0, 0))
	entered := true // by others than root
	for dir := filepath.Dir(above); dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		require.NoError(t, err)
		entered = entered && info.Mode()&1 != 0
	}
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(above, "posagent")
	require.NoError(t, os.Symlink(self, program))
	config := filepath.Join(above, "config.toml")
	state := filepath.Join(above, "s")
	for name, tc := range map[string]struct {
		spoil func(at func(string) string) error
		kept  bool // root: what the account has closed to itself is read
	}{
		"all is the account's":    {func(func(string) string) error { return nil }, false},
		"a mark of root":          {func(at func(string) string) error { return os.Chown(at("agent.db.mark"), 0, 0) }, true},
		"a journal of root":       {func(at func(string) string) error { return os.Chown(at("agent.db"), 0, 0) }, true},
		"a key of root":           {func(at func(string) string) error { return os.Chown(at("keys/device.key"), 0, 0) }, true},
		"a configuration, root's": {func(func(string) string) error { return os.Chmod(config, 0o600) }, true},
		"a folder of root above":  {func(func(string) string) error { return os.Chmod(above, 0o700) }, true},
		"a link to a file of root": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("keys/device.key")), os.Symlink("/etc/shadow", at("keys/device.key")), os.Lchown(at("keys/device.key"), account, account))
		}, false},
	} {
		require.NoError(t, os.RemoveAll(state), name)
		require.NoError(t, os.Chmod(above, 0o755), name)
		require.NoError(t, os.WriteFile(config, nil, 0o644), name)
		require.NoError(t, os.Chmod(config, 0o644), name)
		keys, err := openKeys(callOn(t, state))
		require.NoError(t, err, name)
		db, err := openJournal(t.Context(), callOn(t, state), keys, logger(callOn(t, state)), "")
		require.NoError(t, err, name)
		require.NoError(t, db.Close(), name)
		require.NoError(t, filepath.WalkDir(state, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, account, account))
		}), name)
		at := func(file string) string { return filepath.Join(state, file) }
		require.NoError(t, tc.spoil(at), name)
		pending := func() (string, error) {
			said, err := exec.CommandContext(t.Context(), program, "journal", "pending", "--state", state, "--config", config).CombinedOutput()
			return string(said), err
		}
		said, err := pending()
		require.NoError(t, err, "%s: %s", name, said)
		require.Contains(t, said, "nothing is pending", name)

		require.NoError(t, os.Chmod(at("agent.db.mark"), 0), name)
		said, err = pending()
		if tc.kept || !entered {
			require.NoError(t, err, "%s: %s", name, said)
			continue
		}
		require.Error(t, err, name)
		require.Contains(t, said, "ermission denied", name)
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
