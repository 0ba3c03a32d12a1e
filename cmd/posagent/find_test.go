package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_L3AVerbFindsWhatIsOpen: status named a held sale and the verb that lets it go on, and the verb did not find it behind 10,000
// newer ones. The kind: the whole name, its beginning, its end, its reference, its transaction.
func TestField2_L3AVerbFindsWhatIsOpen(t *testing.T) {
	db := storetest.Open(t, append(outbox.Schema(), journal.Schema()...)...)
	j := journal.New(journal.Options{DB: db})
	held, over := wire.NewKey(), wire.NewKey()
	for _, row := range []*journal.Row{
		{Key: over, State: checkout.State{Phase: checkout.Done}},
		{Key: held, State: checkout.State{Phase: checkout.Waiting, TransactionID: 471147}, Reference: journal.ReferenceOf(held)},
		{Key: wire.NewKey(), State: checkout.State{Phase: checkout.Done}},
	} {
		row.Kind, row.Line, row.Amount, row.Currency, row.Batch, row.State.Kind = ecr.Payment, "tcp", 4711, "EUR", 1, ecr.Payment
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return j.Insert(tx, row) }))
	}
	drivetest.Copy(t, db, lookedThrough)
	id := string(held)
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		for _, name := range []string{id, id[:30], id[6:], journal.ReferenceOf(held), "T471147", "471147"} {
			found, err := saleNamed(r, name)
			require.NoError(t, err, name)
			require.Equal(t, id, found, name)
		}
		found, err := findSale(r, string(over))
		require.NoError(t, err, "its whole name finds any sale")
		require.Equal(t, string(over), found)
		_, err = findSale(r, "nobody's")
		require.ErrorIs(t, err, journal.ErrUnknown)
		return nil
	}))
}
