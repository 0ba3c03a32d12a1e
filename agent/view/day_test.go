package view_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// The day's sums have what was approved since midnight, by currency, refunds beside payments; the newest sales are of any day.
func TestDay(t *testing.T) {
	db := storetest.Open(t, append(journal.Schema(), outbox.Schema()...)...)
	now := time.Date(2026, 11, 23, 14, 0, 0, 0, time.Local)
	j := journal.New(journal.Options{DB: db})
	h := &view.Daemon{DB: db, Now: func() time.Time { return now }}
	receipt := 0
	sell := func(at time.Time, kind ecr.Kind, result ecr.Result, amount money.Minor, currency string) {
		receipt++
		row := &journal.Row{Key: wire.NewKey(), Kind: kind, Line: "tcp", Amount: amount, Currency: currency, Receipt: receipt, Batch: 1, CreatedMS: at.UnixMilli(),
			State: checkout.State{Kind: kind, Phase: checkout.Done, Result: result}}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return j.Insert(tx, row) }))
	}
	empty, err := h.Day(t.Context())
	require.NoError(t, err)
	require.Empty(t, empty.Totals)
	require.Empty(t, empty.Newest)

	sell(now.Add(-15*time.Hour), ecr.Payment, ecr.Approved, 99_900, "EUR") // before midnight
	sell(now.Add(-13*time.Hour), ecr.Payment, ecr.Approved, 1250, "EUR")
	sell(now.Add(-2*time.Hour), ecr.Payment, ecr.Declined, 777, "EUR")
	sell(now.Add(-time.Hour), ecr.Payment, ecr.Approved, 3000, "EUR")
	sell(now.Add(-time.Minute), ecr.Payment, ecr.Approved, 500, "SEK")
	sell(now, ecr.Refund, ecr.Approved, 250, "EUR")
	v, err := h.Day(t.Context())
	require.NoError(t, err)
	require.Equal(t, []view.Turnover{
		{Currency: "EUR", Payments: view.Figure{Count: 2, Sum: 4250}, Refunds: view.Figure{Count: 1, Sum: 250}, Net: 4000},
		{Currency: "SEK", Payments: view.Figure{Count: 1, Sum: 500}, Net: 500},
	}, v.Totals)
	require.Len(t, v.Newest, 6)
	require.EqualValues(t, 250, v.Newest[0].Amount)
	require.False(t, v.More)

	for range 120 { // more than one read takes
		sell(now, ecr.Payment, ecr.Approved, 1, "EUR")
	}
	v, err = h.Day(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 4120, v.Totals[0].Net)
	require.Len(t, v.Newest, 20)

	_, err = h.Day(wire.WithCaller(t.Context(), wire.Caller{Name: "kiosk", Own: true, Words: []string{"read", "all"}}))
	require.Equal(t, wire.Forbidden, wire.CodeOf(err))
}

// What waits is counted by kind, state and currency, with the oldest of each; a client sees its own alone.
func TestWaiting(t *testing.T) {
	db := storetest.Open(t, outbox.Schema()...)
	now := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	send := func(context.Context, outbox.Op) outbox.Verdict { return outbox.Verdict{State: outbox.Done} }
	box := outbox.NewOutbox(outbox.Options{DB: db, Now: func() time.Time { return now }, Kinds: []outbox.Kind{{Name: "payments.create", Send: send}, {Name: "tokens.create", Send: send}}})
	h := &view.Daemon{DB: db, Outbox: box, Now: time.Now}
	accept := func(kind, owner, currency string, amount int64) {
		n := outbox.New{Key: wire.NewKey(), Kind: kind, Aggregate: string(wire.NewKey()), Owner: owner, AmountMin: amount, Currency: currency, Payload: []byte("x")}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return box.Accept(tx, n) }))
	}
	first := now
	accept("payments.create", "kiosk", "EUR", 100)
	now = now.Add(time.Hour)
	accept("payments.create", "other", "EUR", 900)
	accept("tokens.create", "other", "", 0)
	list, err := h.Waiting(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, view.OpsCount{Kind: "payments.create", State: "PENDING", Currency: "EUR", Count: 2, Sum: 1000}, list[0].OpsCount)
	require.True(t, list[0].Oldest.Equal(first))
	require.Equal(t, view.OpsCount{Kind: "tokens.create", State: "PENDING", Count: 1}, list[1].OpsCount)

	list, err = h.Waiting(wire.WithCaller(t.Context(), wire.Caller{Name: "kiosk", Own: true, Words: []string{"read"}}))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, view.OpsCount{Kind: "payments.create", State: "PENDING", Currency: "EUR", Count: 1, Sum: 100}, list[0].OpsCount)
}

// The audit log is for those who see everything.
func TestAuditIsForThoseWhoSeeEverything(t *testing.T) {
	h := &view.Daemon{Deeds: func(context.Context, int) ([]view.Deed, error) { return []view.Deed{{Deed: "sale.begin"}}, nil }}
	for _, tc := range []struct {
		caller wire.Caller
		lines  int
	}{
		{wire.Caller{}, 1}, {wire.Caller{Name: "monitor", Words: []string{"read", "all"}}, 1},
		{wire.Caller{Name: "kiosk", Own: true, Words: []string{"read", "sales"}}, 0}, {wire.Caller{Name: "deaf", Words: []string{"all"}}, 0},
	} {
		list, err := h.Audit(wire.WithCaller(t.Context(), tc.caller), 5)
		require.Len(t, list, tc.lines, tc.caller.Name)
		require.Equal(t, tc.lines == 0, wire.CodeOf(err) == wire.Forbidden, tc.caller.Name)
	}
}
