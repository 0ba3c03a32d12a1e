package journal_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room/roomtest"
	"posagent/store"
)

func TestWhatIsWrittenIsWhatTheBooksDecided(t *testing.T) {
	ctx := context.Background()
	db := roomtest.New(t, time.Time{}, nil).DB
	write := func(fn func(store.Tx) error) error { return db.Write(ctx, fn) }
	post := func(txn string, e books.Event) error {
		return write(func(tx store.Tx) error {
			_, err := journal.Post(tx, journal.Ref{Service: "s", Payment: "1", Txn: txn, AtMS: 5}, e)
			return err
		})
	}
	require.ErrorIs(t, post("1", books.Event{Kind: books.Commit}), journal.ErrUnknown)
	require.ErrorIs(t, write(func(tx store.Tx) error { return journal.Open(tx, "s", "1", "EUR", 0) }), books.ErrAmount)
	require.NoError(t, write(func(tx store.Tx) error { return journal.Open(tx, "s", "1", "EUR", 100) }))
	require.NoError(t, post("1", books.Event{Kind: books.Reserve}))
	require.NoError(t, post("1", books.Event{Kind: books.Commit}))
	require.NoError(t, post("2", books.Event{Kind: books.Refund, Amount: 30}))
	require.ErrorIs(t, post("3", books.Event{Kind: books.Refund, Amount: 71}), books.ErrRest)
	require.ErrorIs(t, post("3", books.Event{Kind: books.Reverse}), books.ErrRefunded)
	require.NoError(t, db.Read(ctx, func(r store.Reader) error {
		l, currency, err := journal.Load(r, "s", "1")
		require.NoError(t, err)
		require.Equal(t, "EUR", currency)
		require.Equal(t, books.Ledger{Amount: 100, Committed: 100, Returned: 30}, l)
		posts, err := journal.ByTxn(r, "s")
		require.NoError(t, err)
		require.Equal(t, map[string][]books.Posting{
			"1": {{Account: "consumer", Amount: -100}, {Account: "reserved", Amount: 100}, {Account: "reserved", Amount: -100}, {Account: "merchant", Amount: 100}},
			"2": {{Account: "merchant", Amount: -30}, {Account: "consumer", Amount: 30}},
		}, posts)
		net, err := journal.NetOf(r, "s", "1")
		require.NoError(t, err)
		require.Equal(t, l.Net(), net)
		return nil
	}))
}
