package view_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/daily"
	"posagent/agent/outbox"
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
