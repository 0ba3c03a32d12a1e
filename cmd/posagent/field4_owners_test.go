package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// A client was renamed and keeps its id; a new one has its old name. A person gives a payment "to alpha": that is the id of one and the name
// of the other, and what two have names neither. It went to the first, which could read it and give it back. The kind: the id of a renamed
// client, its name, the id of the new one, and its name.
func TestField4_OwnNamesOneClient(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	require.NoError(t, os.WriteFile(file, []byte(twoClients), 0o600))
	p := runProgramIn(t, dir)
	p.end()
	renamed := strings.Replace(twoClients, "[port.clients.alpha]", "[port.clients.front]", 1) +
		"[port.clients.alpha]\ntoken = \"another-token-0123456789\"\nmay = [\"read\", \"pay\", \"refund\"]\n"
	require.NoError(t, os.WriteFile(file, []byte(renamed), 0o600))
	p = runProgramIn(t, dir)
	main, front, alpha := p.client("main", p.main()), p.client("front", "alpha-token-0123456789"), p.client("alpha", "another-token-0123456789")
	made, err := main.pay.Create(t.Context(), wire.NewKey(), moto(1250))
	require.NoError(t, err)
	reads := func(c *client, want wire.Code) {
		t.Helper()
		_, err := c.pay.Read(t.Context(), made.PaymentID)
		require.Equal(t, want, wire.CodeOf(err), "%s: %v", c.name, err)
	}
	var out, talk bytes.Buffer
	code := execute(t.Context(), []string{"ops", "own", made.PaymentID, "alpha", "--config", file, "--state", filepath.Join(dir, "s")}, std{strings.NewReader(""), &out, &talk})
	require.NotZero(t, code, "%s", &out)
	require.Contains(t, talk.String(), `"alpha" is the id of the client that [port.clients] calls front, and the name of the one with the id alpha-2: give front or alpha-2`)
	reads(front, wire.NotFound)
	reads(alpha, wire.NotFound)
	p.verb("ops", "own", made.PaymentID, "alpha-2")
	reads(front, wire.NotFound)
	reads(alpha, "")
	p.verb("ops", "own", made.PaymentID, "front")
	reads(front, "")
	reads(alpha, wire.NotFound)
}
