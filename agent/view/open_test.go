package view_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/support/daily"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_L3WhatIsOpenIsReadWhole: status looked for what a person must decide among the newest 1,000
// sales. The same line says what is known of it and what to type.
func TestField2_L3WhatIsOpenIsReadWhole(t *testing.T) {
	steps := append(append(append(journal.Schema(), outbox.Schema()...), catalog.Schema()...), daily.Schema()...)
	db := storetest.Open(t, steps...)
	j := journal.New(journal.Options{DB: db})
	held := wire.NewKey()
	row := func(key wire.Key, phase checkout.Phase) *journal.Row {
		return &journal.Row{Key: key, Kind: ecr.Payment, Line: "tcp", Amount: 4711, Currency: "EUR", Batch: 1,
			State: checkout.State{Kind: ecr.Payment, Phase: phase, Sends: 1}}
	}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		if err := j.Insert(tx, row(held, checkout.Waiting)); err != nil {
			return err
		}
		n, err := journal.SetAside(tx, db, "restored from the backup", time.Now())
		require.Equal(t, 1, n)
		return err
	}))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for range 1005 {
			if err := j.Insert(tx, row(wire.NewKey(), checkout.Done)); err != nil {
				return err
			}
		}
		return nil
	}))
	read := func() view.Status {
		t.Helper()
		v := view.NewStatus(view.Status{})
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return v.Read(r, false) }))
		require.Len(t, v.Open, 1)
		require.Equal(t, []any{string(held), "HELD", ecr.InProgress, ecr.OnHold}, []any{v.Open[0].ID, v.Open[0].Phase, v.Open[0].Result, v.Open[0].Code})
		require.Len(t, v.Attention, 1)
		return v
	}
	want := "sale %s of 47.11 EUR is set aside, restored from the backup. It is not undone; %s. Compare it with the register, " +
		"stop the terminal, then posagent sale release %s (paid, it counts; not paid, it ends) or posagent sale close %s --note TEXT"
	require.Equal(t, fmt.Sprintf(want, held, "what the backend says of it is not known yet", held, held), read().Attention[0])
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		r, err := j.ByKey(tx, held)
		require.NoError(t, err)
		_, err = j.Transit(tx, r, checkout.Event{Name: checkout.StatusRead, Status: aapay.Status{State: aapay.Finalized, AccountState: aapay.Commit, TransactionID: 7}})
		return err
	}))
	require.Equal(t, fmt.Sprintf(want, held, "the backend says that it was paid", held, held), read().Attention[0])
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return journal.TakeUp(tx, db, string(held), time.Now()) }))
	require.Contains(t, read().Attention[0], "it was let go on, and ends as the backend says")
}

// TestField3_E2AHeldSaleHasOneLine: what the backend said of a held sale is an alert, and the sale was named a second time beside it. The
// one line has both: who is short of the amount, and the verbs that decide. Acknowledged, the sale still waits.
func TestField3_E2AHeldSaleHasOneLine(t *testing.T) {
	db := storetest.Open(t, slices.Concat(catalog.Schema(), outbox.Schema(), journal.Schema(), daily.Schema())...)
	box := outbox.NewOutbox(outbox.Options{DB: db})
	j := journal.New(journal.Options{DB: db, Outbox: box})
	key := wire.NewKey()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		row := &journal.Row{Key: key, Kind: ecr.Payment, Line: "tcp", Amount: 4711, Currency: "EUR", Batch: 1,
			State: checkout.State{Kind: ecr.Payment, Phase: checkout.Waiting, Sends: 1}}
		if err := j.Insert(tx, row); err != nil {
			return err
		}
		_, err := journal.SetAside(tx, db, "restored from the backup", time.Now())
		return err
	}))
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		r, err := j.ByKey(tx, key)
		require.NoError(t, err)
		_, err = j.Transit(tx, r, checkout.Event{Name: checkout.StatusRead, Status: aapay.Status{State: aapay.Finalized, AccountState: aapay.Commit, TransactionID: 7}})
		return err
	}))
	read := func() view.Status {
		t.Helper()
		v := view.NewStatus(view.Status{})
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return v.Read(r, false) }))
		require.Len(t, v.Attention, 1, "%q", v.Attention)
		for _, verb := range []string{"posagent sale release " + string(key), "posagent sale close " + string(key) + " --note TEXT"} {
			require.Contains(t, v.Attention[0], verb)
		}
		return v
	}
	v := read()
	require.Equal(t, v.Waiting(), v.Attention)
	require.Contains(t, v.Attention[0], "payment of 47.11 EUR: held: the backend says that it was paid")
	require.Contains(t, v.Attention[0], "the customer may be short of it")
	require.NoError(t, box.Acknowledge(t.Context(), key))
	require.Contains(t, read().Attention[0], "is set aside, restored from the backup")
}
