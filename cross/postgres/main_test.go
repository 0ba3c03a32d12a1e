package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres/pgserver"
	"posagent/store/postgres/pgtest"
)

// The command has the server, its exit is ours, and the server is gone with it.
func TestACommandHasAServer(t *testing.T) {
	pgtest.Need(t)
	require.Equal(t, pgtest.EnvRun, envRun)
	said := filepath.Join(t.TempDir(), "url")
	require.ErrorContains(t, run(t.Context(), []string{"sh", "-c", "printf %s \"$" + envRun + "\" > " + said + "; exit 3"}), "exit status 3")
	url, err := os.ReadFile(said)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(url), "postgres://"), string(url))
	require.Error(t, pgserver.Exec(string(url), "SELECT 1"), "the server has ended")
}

func TestNoCommand(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), nil), "usage")
}
