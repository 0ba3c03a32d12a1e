package view_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/support/daily"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// The status names each refund and reversal of the day whose end its register has not heard, what
// became of it and what to do; no other sale.
func TestField2_M26StatusNamesAnUntoldEnd(t *testing.T) {
	db := storetest.Open(t, slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), daily.Schema())...)
	j := journal.New(journal.Options{DB: db})
	ended := func(kind ecr.Kind, result ecr.Result, told string, batch int) *journal.Row {
		row := &journal.Row{Key: wire.NewKey(), Kind: kind, Line: "till", Amount: 500, Currency: "EUR", Batch: batch, Told: told,
			State: checkout.State{Kind: kind, Phase: checkout.Done, Result: result, Text: "no"}}
		if kind != ecr.Payment {
			row.Original = "of a payment"
		}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return j.Insert(tx, row) }))
		return row
	}
	ended(ecr.Payment, ecr.Declined, "lost", 1)
	ended(ecr.Refund, ecr.Approved, "told", 1)
	ended(ecr.Refund, ecr.Approved, "lost", 0) // of another day
	done := ended(ecr.Refund, ecr.Approved, "in_progress", 1)
	no := ended(ecr.Reversal, ecr.Declined, "lost", 1)
	v := view.NewStatus(view.Status{})
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return v.Read(r, false) }))
	const what = ", but the register till has not heard that: ask for the same again there, it is told the end and nothing is done twice; else compare it with posagent sale show "
	require.Equal(t, []string{
		"reversal of 5.00 EUR: not done (no)" + what + string(no.Key) + " before the end of day",
		"refund of 5.00 EUR: done" + what + string(done.Key) + " before the end of day",
	}, v.Attention)
}

// TestField3_E1AnUntoldEndIsOneLine: the untold end that has its alert is named once, with what to do; it is in the list that doctor, the
// page and the metrics read, and its event names the sale. A person may acknowledge it: then the line of the day is left.
func TestField3_E1AnUntoldEndIsOneLine(t *testing.T) {
	db := storetest.Open(t, slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), daily.Schema())...)
	var events []string
	box := outbox.NewOutbox(outbox.Options{DB: db, Alerted: func(tx store.Tx, a outbox.Alert, how string) error {
		it, ok := view.AlertEvent(tx, a, how)
		require.True(t, ok)
		events = append(events, it.Source+" "+it.Event)
		return nil
	}})
	j := journal.New(journal.Options{DB: db, Outbox: box})
	row := &journal.Row{Key: wire.NewKey(), Kind: ecr.Refund, Line: "till", Amount: 500, Currency: "EUR", Batch: 1, Told: "lost", Original: "of a payment",
		State: checkout.State{Kind: ecr.Refund, Phase: checkout.Done, Result: ecr.Approved}}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return j.Insert(tx, row) }))
	read := func() view.Status {
		t.Helper()
		v := view.NewStatus(view.Status{})
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return v.Read(r, false) }))
		require.Len(t, v.Attention, 1)
		return v
	}
	require.Empty(t, read().Alerts)
	require.NoError(t, db.Write(t.Context(), j.UnheardBefore))
	require.NoError(t, db.Write(t.Context(), j.UnheardBefore), "once")
	v := read()
	require.Equal(t, []string{"refund of 5.00 EUR: done, but the register till has not heard that: ask for the same again there before the end of day, " +
		"it is told the end and nothing is done twice; else compare it with the register; posagent sale show " + string(row.Key) +
		" (posagent ops ack " + string(row.Key) + ")"}, v.Waiting())
	require.Equal(t, v.Waiting(), v.Attention)
	require.Equal(t, []string{"sale alert.raised"}, events)
	require.NoError(t, box.Acknowledge(t.Context(), row.Key))
	require.NoError(t, db.Write(t.Context(), j.UnheardBefore), "a person knows")
	require.Empty(t, read().Alerts)
}
