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

// TestField2_S2TheLibraryForLinks: the library for JavaScript that shops have for payment links, unmodified, makes a link, reads
// it and deletes it: at the backend, and at the local port of the running program under a client's token. It signs a request
// without payload by the empty text.
func TestField2_S2TheLibraryForLinks(t *testing.T) {
	need.Tool(t, "npm")
	need.Tool(t, "node")
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "payrexx@0.5.2")
	if out, err := install.CombinedOutput(); err != nil {
		need.Missing(t, "payrexx by npm: "+strings.TrimSpace(string(out)), "a network that reaches the npm registry")
	}
	script, err := os.ReadFile(filepath.Join("testdata", "link-library.js"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.js"), script, 0o600))
	p := runProgram(t, twoClients)
	for name, at := range map[string][]string{
		"the backend": {p.backend, "demo", "demo-secret"}, "the port": {p.port, "alpha", "alpha-token-0123456789"},
	} {
		shop := exec.CommandContext(t.Context(), "node", append([]string{"shop.js"}, at...)...)
		shop.Dir = dir
		out, err := shop.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.Equal(t, "signature success\nmade 1250\nread waiting order-7\ndeleted success\ngone 404\n", string(out), name)
	}
}
