package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/config"
	"posagent/ecr"
	"posagent/store"
	"posagent/store/storetest"
)

// A start with another currency is refused while the open batch has receipts, and says what to do; a
// newer configuration with one waits for the end of the day, or is refused where a person chooses it.
func TestField2_M27AnotherCurrencyWaitsForTheEndOfDay(t *testing.T) {
	db := storetest.Open(t, agent.Schema()...)
	euro, yen := config.Default(), config.Default()
	yen.Terminal.Currency = "JPY"
	require.NoError(t, keepCurrency(t.Context(), db, euro))
	j := journal.New(journal.Options{DB: db})
	row := &journal.Row{Key: "0198c0de-0000-7000-8000-000000000007", Kind: ecr.Payment, Line: "tcp", Amount: 500, Currency: "EUR", Receipt: 3, Batch: 1,
		State: checkout.State{Kind: ecr.Payment, Phase: checkout.Confirmed, Result: ecr.Approved}}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return j.Insert(tx, row) }))
	waits := func(cfg config.Config) (open bool) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { open, err = owes(r, cfg); return err }))
		return open
	}
	const text = `the open batch 1 has 1 sale(s) in EUR, and a batch has one currency: it cannot go on in JPY ` +
		`(set currency of [terminal] to "EUR", close the day at the register, then set it to "JPY")`
	require.EqualError(t, keepCurrency(t.Context(), db, yen), text)
	require.EqualError(t, db.Read(t.Context(), func(r store.Reader) error { return fits(r, yen) }), text)
	require.True(t, waits(yen))
	require.NoError(t, keepCurrency(t.Context(), db, euro))
	require.False(t, waits(euro))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { _, _, err := j.CloseBatch(tx); return err }))
	require.False(t, waits(yen))
	require.NoError(t, keepCurrency(t.Context(), db, yen))
}
