package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
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

// A client names itself as the instance of payment links. One that was renamed was refused under its new name, and the new one under the
// name that is its own now: the name was compared with ids alone. The kind: the new name, the old one that the renamed client's software
// still sends, the new client's name, its id, the account's own name, though a client is
// called so; and each of them with another's token, which proves nothing.
func TestField4_AnInstanceIsTheClientsName(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	require.NoError(t, os.WriteFile(file, []byte(twoClients), 0o600))
	p := runProgramIn(t, dir)
	p.end()
	renamed := strings.Replace(twoClients, "[port.clients.alpha]", "[port.clients.front]", 1) +
		"[port.clients.alpha]\ntoken = \"another-token-0123456789\"\nmay = [\"read\", \"links\"]\n" +
		"[port.clients.demo]\ntoken = \"demo-token-0123456789\"\nmay = [\"read\", \"links\"]\n"
	require.NoError(t, os.WriteFile(file, []byte(renamed), 0o600))
	p = runProgramIn(t, dir)
	const front, alpha = "alpha-token-0123456789", "another-token-0123456789"
	_, err := p.client("demo", p.main()).txns.List(t.Context(), paylinks.Filter{})
	require.NoError(t, err, "a client is called as the account is")
	made := map[string]int64{}
	for _, token := range []string{front, alpha} {
		out, err := p.client("demo", token).links.Create(t.Context(), "", paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 1250, Currency: "EUR"})
		require.NoError(t, err)
		made[token] = out.Link.ID
	}
	for _, c := range []struct {
		instance, token string
		good            bool
	}{
		{"demo", front, true}, {"front", front, true}, {"alpha", front, true}, {"alpha", alpha, true}, {"alpha-2", alpha, true},
		{"front", alpha, false}, {"alpha-2", front, false}, {"alpha", "beta-token-0123456789", false}, {"nobody", front, false},
	} {
		for token, id := range made {
			want := wire.Forbidden
			if c.good {
				if want = wire.NotFound; token == c.token {
					want = ""
				}
			}
			_, err := p.client(c.instance, c.token).links.Read(t.Context(), id)
			require.Equal(t, want, wire.CodeOf(err), "%+v, a link of %s: %v", c, token, err)
		}
	}
}
