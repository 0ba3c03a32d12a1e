package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// TestField2_L12ARefusedStartIsNotNoted: the unit starts a terminal that may not start every ten seconds, and each try wrote a line of the
// audit log: after 23 days nothing about money was left in it. A start is noted behind all that may refuse it: another merchant or terminal,
// another address or account while something is open, another currency, another copy of the journal, a device or address that it does not get.
func TestField2_L12ARefusedStartIsNotNoted(t *testing.T) {
	t.Parallel()
	backend := httptest.NewServer(http.HandlerFunc(served))
	t.Cleanup(backend.Close)
	dir := terminalOn(t, backend.URL, "", "")
	file := filepath.Join(dir, "config.toml")
	lines := func() int {
		t.Helper()
		out, err := exec.Command("posagent", "audit", "--json", "--config", file, "--state", filepath.Join(dir, "state")).Output()
		require.NoError(t, err)
		return bytes.Count(out, []byte("\n"))
	}
	runs := func() {
		t.Helper()
		x := runIn(t, dir)
		x.until("^ready ")
		x.stop()
	}
	runs()
	before := lines()
	require.Positive(t, before)
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(good, []byte("demomerchant"), []byte("another"), 1), 0o600))
	for range 3 {
		x := runIn(t, dir)
		select {
		case <-x.end:
		case <-time.After(need.Limit()):
			require.Fail(t, "a terminal that must not start runs")
		}
		require.Equal(t, exitRefused, x.cmd.ProcessState.ExitCode())
		require.Contains(t, x.talk.String(), "merchant another")
	}
	require.Equal(t, before, lines())
	require.NoError(t, os.WriteFile(file, good, 0o600))
	runs()
	require.Equal(t, before+1, lines(), "a start that runs is noted")
}
