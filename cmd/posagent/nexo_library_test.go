package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// TestNexoLibrary: a library that tills have, unmodified, against the running program.
func TestNexoLibrary(t *testing.T) {
	need.Tool(t, "npm")
	need.Tool(t, "node")
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "@adyen/api-library@32.1.0")
	if out, err := install.CombinedOutput(); err != nil {
		need.Missing(t, "@adyen/api-library by npm: "+strings.TrimSpace(string(out)), "a network that reaches the npm registry")
	}
	script, err := os.ReadFile(filepath.Join("testdata", "nexo-library.js"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "till.js"), script, 0o600))
	x := nexoSandbox(t, t.TempDir())
	trusts := filepath.Join(dir, "terminal.pem")
	require.NoError(t, os.WriteFile(trusts, x.pem, 0o600))
	till := exec.CommandContext(t.Context(), "node", "till.js", "https://"+x.at+"/nexo/#", trusts, nexoPhrase, "another-service-key")
	till.Dir = dir
	out, err := till.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, `login "Success"
payment ["Success",12.5]
status ["Success",12.5]
diagnosis "OK"
abort true
wrong key true
`, string(out))
	books := x.verb("backend", "books", "--config", filepath.Join(x.dir, "config.toml"), "--json")
	require.Equal(t, 1, strings.Count(books, `"accountState": "COMMIT"`), books)
	x.run.stop()
	require.NotContains(t, x.run.said(), "another-service-key")
}
