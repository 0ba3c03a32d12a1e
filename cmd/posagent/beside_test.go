package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/ecr/till"
)

// freeAddress is one of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// renamable is a terminal with a line of JSON and a client, whatever both are called.
const renamable = `[port]
listen = "127.0.0.1:0"
[port.clients.%s]
token = "alpha-token-0123456789"
may = ["read", "pay"]
[[ecr]]
protocol = "jsonl"
tcp = %q
name = %q
` + quick + `wallet_delay = "50ms"
`

// TestField2_M25ARenamedLineIsTheSameInAnotherJournal: a line or a client that was renamed was another one in the journal that took a
// lost one's place, so the id of a sale of before was charged again. The ids: agent.
func TestField2_M25ARenamedLineIsTheSameInAnotherJournal(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), freeAddress(t)
	configure := func(client, line string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), fmt.Appendf(nil, renamable, client, at, line), 0o600))
	}
	configure("alpha", "")
	p := runProgramIn(t, dir)
	sell := func() till.JSONLine {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
		require.NoError(t, err)
		tt := till.NewJSONL(conn, till.JSONLOptions{Wait: need.Limit()})
		defer tt.Close()
		l, _, err := tt.Ask(t.Context(), map[string]any{"op": "sale", "id": "order-1", "amount": 1250, "currency": "EUR"})
		require.NoError(t, err)
		return l
	}
	paid := func(amount int64) (n int) {
		t.Helper()
		var books []struct{ Amount int64 }
		require.NoError(t, json.Unmarshal([]byte(p.verb("backend", "books", "--json")), &books))
		for _, e := range books {
			if e.Amount == amount {
				n++
			}
		}
		return n
	}
	require.Equal(t, "approved", sell().Outcome)
	first, err := p.client("alpha", "alpha-token-0123456789").pay.Create(t.Context(), "order-2", moto(1300))
	require.NoError(t, err)
	require.Nil(t, first.Operation)
	before := []int{paid(1250), paid(1300)}

	p.end()
	for _, name := range []string{"agent.db", "agent.db-wal", "agent.db-shm"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "s", name)))
	}
	p.verb("reset", "--yes", "--lost-journal", "--reason", "the card was wiped")
	configure("front", "till1")
	p = runProgramIn(t, dir)
	l := sell()
	require.NotEqual(t, "approved", l.Outcome)
	require.Contains(t, strings.ToLower(l.Text), "journal was replaced")
	again, err := p.client("front", "alpha-token-0123456789").pay.Create(t.Context(), "order-2", moto(1300))
	if err == nil && again.Operation == nil {
		require.Equal(t, first.PaymentID, again.PaymentID)
	}
	require.Equal(t, before, []int{paid(1250), paid(1300)}, "nothing was charged again")
}

// TestField4_V5AJournalRemovedWithItsMarkIsLost: rm agent.db* took the mark along, and the terminal sold on as if none had run here: an id
// was approved again, and the receipts of before named other customers' payments. The kind: store/sqlite.
func TestField4_V5AJournalRemovedWithItsMarkIsLost(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	c := p.client("demo", p.main())
	first, err := c.pay.Create(t.Context(), "order-2", moto(1300))
	require.NoError(t, err)
	p.end()
	list, err := filepath.Glob(filepath.Join(p.dir, "s", "agent.db*"))
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, name := range list {
		require.NoError(t, os.Remove(name))
	}
	for _, verb := range []string{"run", "status", "doctor"} {
		args := []string{verb, "--config", filepath.Join(p.dir, "c.toml"), "--state", filepath.Join(p.dir, "s")}
		code, out, talk := ask(t, args...)
		require.NotEqual(t, exitOK, code)
		require.Contains(t, out+talk, "there is neither the journal nor a mark of it", verb)
		require.Contains(t, out+talk, "reset --lost-journal", verb)
	}
	p.verb("reset", "--yes", "--lost-journal", "--reason", "the card was wiped")
	p = runProgramIn(t, p.dir)
	again, err := p.client("demo", p.main()).pay.Create(t.Context(), "order-2", moto(1300))
	require.NoError(t, err)
	require.NotNil(t, again.Operation, "a person releases it first")
	require.NotEqual(t, first.PaymentID, again.PaymentID)
	require.Contains(t, p.verb("audit"), "the card was wiped")
}

// A plain reset leaves nothing that says a journal was here.
func TestField4_V5AResetDeletesWhatOutlivesTheJournal(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	p.end()
	p.verb("reset", "--yes")
	require.NoFileExists(t, filepath.Join(p.dir, "s", "keys", "callers.secret"))
	require.NoFileExists(t, filepath.Join(p.dir, "s", "keys", "terminal.known"))
	runProgramIn(t, p.dir)
}

// TestField2_M52ACopyOfTheJournalRunsBesideIt: a state directory was copied and started on the same machine, where no mark of the box
// tells it from the first one: both sold under one journal. A copy that runs alone is the journal under another directory.
func TestField2_M52ACopyOfTheJournalRunsBesideIt(t *testing.T) {
	t.Parallel()
	p := runProgram(t, twoClients)
	p.end()
	clone := t.TempDir()
	require.NoError(t, os.CopyFS(clone, os.DirFS(p.dir)))
	require.NoError(t, filepath.WalkDir(clone, func(path string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0o600)
		if err == nil && d.IsDir() {
			mode = 0o700
		}
		return errors.Join(err, os.Chmod(path, mode))
	}))
	p = runProgramIn(t, p.dir)
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	var talk bytes.Buffer
	code := execute(ctx, []string{"run", "--config", filepath.Join(clone, "c.toml"), "--state", filepath.Join(clone, "s")}, std{strings.NewReader(""), io.Discard, &talk})
	require.Equal(t, exitRefused, code, &talk)
	require.Contains(t, talk.String(), "runs with a copy of this journal")
	p.end()
	runProgramIn(t, clone)
}
