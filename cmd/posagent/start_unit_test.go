package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// system is a directory that stands for the system's own until the test ends.
func system(t *testing.T, files ...string) {
	t.Helper()
	was := systemRoot
	t.Cleanup(func() { systemRoot = was })
	systemRoot = t.TempDir()
	for _, file := range files {
		path := filepath.Join(systemRoot, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
}

// TestThePackageStartsItsTerminal: a person is told to start a packaged terminal as the package does, and any other one by hand.
func TestThePackageStartsItsTerminal(t *testing.T) {
	system(t)
	require.Equal(t, "posagent run", (&call{}).start())
	system(t, "lib/systemd/system/posagent.service")
	require.Equal(t, "systemctl start posagent", (&call{}).start())
	require.Equal(t, "systemctl start posagent", (&call{global: global{config: "/etc/posagent/config.toml"}}).start())
	require.Equal(t, "posagent run --state /tmp/x", (&call{global: global{state: "/tmp/x"}}).start())
	require.Equal(t, "posagent run --config /tmp/x.toml", (&call{global: global{config: "/tmp/x.toml"}}).start())
	system(t, "etc/init.d/posagent")
	require.Equal(t, "posagent run", (&call{}).start())
	require.Equal(t, "/etc/init.d/posagent start", (&call{global: global{state: "/srv/posagent"}}).start())
	require.Equal(t, "/etc/init.d/posagent start", placeOf(&call{global: global{state: "/srv/posagent"}}).Start())
}

// TestRootRunsNobodyElsesTerminal: root would leave files that the terminal's account could not open.
func TestRootRunsNobodyElsesTerminal(t *testing.T) {
	need.Verify(t, "is for root")
	if os.Geteuid() != 0 {
		need.Missing(t, "root", "run the tests as root")
	}
	system(t)
	state := t.TempDir()
	require.NoError(t, os.Chown(state, 65534, 65534))
	code, _, talk := ask(t, "run", "--state", state)
	require.Equal(t, exitRefused, code)
	require.Contains(t, talk, state+" belongs to the account nobody, and root would leave files there that it cannot open (su -s /bin/sh nobody -c 'posagent run --state "+state+"')")
	left, err := os.ReadDir(state)
	require.NoError(t, err)
	require.Empty(t, left)
}
