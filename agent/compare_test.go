package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/control"
	"posagent/agent/records/audit"
	"posagent/agent/records/history"
	"posagent/agent/support/daily"
	"posagent/cross/need"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// TestTheDailyComparisonIsSeen: what it finds stands in the status of the running terminal, in its history and among its events, until a
// person acknowledges it as any other alert.
func TestTheDailyComparisonIsSeen(t *testing.T) {
	db, dir := storetest.Open(t, agent.Schema()...), t.TempDir()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { // the setting is older than this start
		_, err := tx.Exec(`INSERT INTO daily_runs VALUES (1, '2020-01-01', 0, 'first', '', 0, 0, 0, '', 0, 0, X'5B5D', 0)`)
		return err
	}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	list, socket := filepath.Join(dir, "till.csv"), filepath.Join(dir, "control")
	a := agent.New(agent.Options{
		DB: db, Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Port: ln, Now: time.Now, Local: agent.Local{Token: readyToken}, Control: socket,
		Boot: func() time.Duration { return time.Hour }, BootID: "boot", Log: slog.New(slog.DiscardHandler),
		Compare: &daily.Options{Backend: noBackend{}, File: list, Currency: "EUR"},
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	type difference struct {
		Key, Class, Text, Remedy string
	}
	status := func() (v struct {
		Differences []difference
		Attention   []string
		Reconciled  *struct{ Outcome, Text string }
	}) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ln.Addr().String()+"/agent/v1/status", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+readyToken)
		code, said := answered(t, req)
		require.Equal(t, http.StatusOK, code, said)
		require.NoError(t, json.Unmarshal([]byte(said), &v))
		return v
	}
	need.Until(t, "one difference is shown", func() bool { return len(status().Differences) == 1 })
	v := status()
	d := v.Differences[0]
	require.Equal(t, []string{"list_unusable", "the till's list " + list + " is not there", "list"}, []string{d.Class, d.Text, v.Reconciled.Outcome})
	require.Contains(t, v.Attention, "the list of "+time.Now().Format(time.DateOnly)+": "+d.Text+": "+d.Remedy+" (posagent ops ack "+d.Key+")")
	require.NoError(t, db.Read(ctx, func(r store.Reader) error {
		entries, err := history.Since(r, time.Now().Add(-time.Hour), 10)
		require.NoError(t, err)
		i := slices.IndexFunc(entries, func(e history.Entry) bool { return e.What == history.Reconciled })
		require.Positive(t, i, "behind the start")
		require.Equal(t, v.Reconciled.Text, entries[i].Text)
		var event, body string
		require.NoError(t, r.QueryRow(`SELECT event, body FROM events_log WHERE source = 'reconcile'`).Scan(&event, &body))
		require.Equal(t, "reconcile.list", event)
		require.Contains(t, body, `"outcome":"list"`)
		return nil
	}))

	c := &control.Client{Path: socket}
	require.NoError(t, c.Acknowledge(ctx, wire.Key(d.Key)))
	require.Empty(t, status().Differences)
	require.Error(t, c.Acknowledge(ctx, wire.Key(d.Key)), "once")
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		lines, err := audit.Page(r, 0)
		require.NoError(t, err)
		l := lines[len(lines)-1]
		require.Equal(t, []any{"reconcile.acknowledged", d.Key, audit.Person}, []any{l.Deed.Deed, l.Subject, l.Actor.Kind})
		return nil
	}))
}
