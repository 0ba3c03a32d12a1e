package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// TestADeviceThatMayNotBeOpenedNamesWhatGrantsIt: the group and the account are named, and a group that may not write is given the right.
func TestADeviceThatMayNotBeOpenedNamesWhatGrantsIt(t *testing.T) {
	require.Equal(t, "usermod -aG dialout posagent, then start posagent again", grantOf("/dev/ttyUSB0", 0o20660, "dialout", "posagent"))
	require.Equal(t, `chmod g+rw /dev/ttyUSB0 until the next start, a udev rule with MODE="0660" keeps it; usermod -aG dialout posagent, then start posagent again`,
		grantOf("/dev/ttyUSB0", 0o20600, "dialout", "posagent"))
	require.Contains(t, grantOf("/dev/ttyUSB0", 0o20660, "root", "posagent"), "usermod -aG dialout posagent")
	require.Empty(t, grant(filepath.Join(t.TempDir(), "gone")))

	file := filepath.Join(t.TempDir(), "group")
	require.NoError(t, os.WriteFile(file, []byte("root:x:0:\ndialout:x:20:posagent\n"), 0o600))
	require.Equal(t, "dialout", nameIn(file, 20))
	require.Equal(t, "2", nameIn(file, 2))
}

// TestStatusOfAnotherAccount: it says that it does not know, and who does; the doctor fails by that alone.
func TestStatusOfAnotherAccount(t *testing.T) {
	setpriv := need.Tool(t, "setpriv")
	if os.Geteuid() != 0 {
		need.Missing(t, "another account", "run it as root")
	}
	dir := t.TempDir()
	for p := dir; p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		require.NoError(t, os.Chmod(p, 0o755))
	}
	state, program := filepath.Join(dir, "state"), filepath.Join(dir, "posagent")
	require.NoError(t, os.Mkdir(state, 0o700))
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, self, 0o755))
	as := func(args ...string) (code int, out string) {
		c := exec.Command(setpriv, append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", program}, args...)...)
		text, err := c.Output()
		if exited := (*exec.ExitError)(nil); err != nil {
			require.ErrorAs(t, err, &exited)
			return exited.ExitCode(), string(text)
		}
		return 0, string(text)
	}
	line := "NOT READY: unknown: this account may not read " + state + ": run as its owner: sudo -u root posagent status --state " + state
	code, out := as("status", "--check", "--state", state)
	require.Equal(t, exitFailed, code)
	require.Equal(t, line+"\n", out)
	code, out = as("status", "--json", "--state", state)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, `"cause": "no_access"`)
	code, out = as("doctor", "--json", "--state", state)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, `"id": "PA-DSK-001"`)
	require.NotContains(t, out, `"status": "pass"`)
}
