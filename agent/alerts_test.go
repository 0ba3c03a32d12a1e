package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/control"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_M5AnAlertOfASaleIsEverywhere: the row of a sale of a closed batch was changed from
// outside. Status, its page, events, doctor's list and metrics say so, with the amount, who is short of
// it and what to type, until a person acknowledges it by the sale's Key; the deed is in the audit log.
func TestField2_M5AnAlertOfASaleIsEverywhere(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	key := wire.NewKey()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		row := &journal.Row{Key: key, Kind: ecr.Payment, Line: "tcp", Amount: 1250, Currency: "EUR", Receipt: 7, Batch: 1,
			State: checkout.State{Kind: ecr.Payment, Phase: checkout.Done, Result: ecr.Approved, Closed: true}}
		return journal.New(journal.Options{DB: db}).Insert(tx, row)
	}))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE checkout_sales SET debited = 1`)
		return err
	}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	socket := filepath.Join(t.TempDir(), "control")
	a := agent.New(agent.Options{
		DB: db, Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Port: ln, Now: time.Now, Local: agent.Local{Token: readyToken}, Control: socket,
		Boot: func() time.Duration { return time.Hour }, BootID: "boot", Log: slog.New(slog.DiscardHandler),
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	get := func(path string) string {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ln.Addr().String()+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+readyToken)
		code, said := answered(t, req)
		require.Equal(t, http.StatusOK, code, said)
		return said
	}
	status := func() (v view.Status) {
		require.NoError(t, json.Unmarshal([]byte(get("/agent/v1/status")), &v))
		return v
	}
	need.Until(t, "the alert is shown", func() bool { return len(status().Alerts) == 1 })
	v := status()
	require.Equal(t, []any{key, "sale", int64(1250), "EUR", "unknown"}, []any{v.Alerts[0].Key, v.Alerts[0].Kind, v.Alerts[0].Amount, v.Alerts[0].Currency, v.Alerts[0].Short})
	line := "payment of 12.50 EUR, receipt 7: its row was changed from outside: what it says may be wrong: who is short of it is not known: " +
		"look for it in the backend's portal; posagent sale show " + string(key) + " (posagent ops ack " + string(key) + ")"
	require.Equal(t, []string{line}, v.Waiting(), "doctor's list")
	about := 0
	for _, s := range v.Attention {
		if s == line {
			about++
		}
	}
	require.Equal(t, 1, about, "one line: %q", v.Attention)
	require.Contains(t, get("/metrics"), "\nposagent_alerts 1\n")
	happened := func() (names []string) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			list, err := store.Column[string](r, `SELECT event FROM events_log WHERE source = 'sale' AND ref = ? ORDER BY id`, string(key))
			names = list
			return err
		}))
		return names
	}
	require.Equal(t, []string{"alert.raised"}, happened())

	c := &control.Client{Path: socket}
	require.NoError(t, c.Acknowledge(ctx, key))
	require.Error(t, c.Acknowledge(ctx, key), "once")
	v = status()
	require.Empty(t, v.Alerts)
	require.NotContains(t, v.Attention, line)
	require.Contains(t, get("/metrics"), "\nposagent_alerts 0\n")
	require.Equal(t, []string{"alert.raised", "alert.acknowledged"}, happened())
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		lines, err := audit.Page(r, 0)
		require.NoError(t, err)
		l := lines[len(lines)-1]
		require.Equal(t, []any{"sale.acknowledged", string(key), int64(1250), audit.Person}, []any{l.Deed.Deed, l.Subject, l.Amount, l.Actor.Kind})
		return nil
	}))
}

// TestField2_M5OneLineForOneSale: a refund in doubt has an alert, which names the command that decides
// its operation. The count of operations in doubt is that of the others.
func TestField2_M5OneLineForOneSale(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: gateway.KindRefund, Send: func(context.Context, outbox.Op) outbox.Verdict { return outbox.Verdict{} }}}})
	sale, other := wire.NewKey(), wire.NewKey()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		row := &journal.Row{Key: sale, Kind: ecr.Refund, Line: "tcp", Amount: 1250, Currency: "EUR", Batch: 1, State: checkout.State{Kind: ecr.Refund, Phase: checkout.Forward}}
		require.NoError(t, journal.New(journal.Options{DB: db}).Insert(tx, row))
		for key, amount := range map[wire.Key]int64{sale: 1250, other: 700} {
			require.NoError(t, box.Accept(tx, outbox.New{Key: key, Kind: gateway.KindRefund, Aggregate: string(key), Payload: []byte("p"), AmountMin: amount, Currency: "EUR"}))
		}
		_, err := tx.Exec(`UPDATE outbox_ops SET state = 'DOUBT'`)
		require.NoError(t, err)
		return box.Raise(tx, outbox.Alert{Key: sale, Kind: outbox.AboutSale, Subject: row.Title(), AmountMin: 1250, Currency: "EUR", Reason: "in doubt: no answer", Short: string(checkout.Customer)})
	}))
	v := view.NewStatus(view.Status{TCP: "127.0.0.1:1"})
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return v.Read(r, true) }))
	v.Advise()
	var about []string
	for _, line := range v.Attention {
		if strings.Contains(line, string(sale)) || strings.Contains(line, "DOUBT") {
			about = append(about, line)
		}
	}
	require.Equal(t, []string{
		"refund of 12.50 EUR: in doubt: no answer: the customer may be short of it: look for it in the backend's portal, then give it back, or hand over the goods; " +
			"posagent sale show " + string(sale) + "; posagent ops resolve " + string(sale) + ` --done|--failed --note "what the backend's books say" (posagent ops ack ` + string(sale) + ")",
		"1 aapay.refund operation(s) DOUBT, 7.00 EUR",
	}, about)
}
