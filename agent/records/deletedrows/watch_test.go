package deletedrows_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/outbox"
	"posagent/agent/records/deletedrows"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// TestWatchFindsWhatIsGoneInPieces removes rows 2, 5 and 6 of ten, and counts three numbers at a time.
func TestWatchFindsWhatIsGoneInPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db, err := agent.Open(t.Context(), sqlite.Options{Path: path, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: []string{store.MarkPath(path)}})
	require.NoError(t, err)
	defer db.Close()
	box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: "k", Send: neverSent}}})
	accept := func(rows int) {
		for range rows {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				return box.Accept(tx, outbox.New{Key: wire.NewKey(), Kind: "k", Aggregate: "a", Payload: []byte("x")})
			}))
		}
	}
	remove := func(ids string) {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			if _, err := tx.Exec(`DELETE FROM outbox_ops WHERE id IN ` + ids); err != nil {
				return err
			}
			_, err := tx.Exec(`UPDATE outbox_clock SET purged_id = 0`) // which the delete raised, as a purge does
			return err
		}))
	}
	const advice = " operation(s) were removed from the journal from outside, the first is number 2: compare it with the register's journal and a backup"
	w := deletedrows.Pieces(3)
	read := func() string {
		var list []string
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
			list, err = w.Read(r)
			return err
		}))
		require.LessOrEqual(t, len(list), 1)
		if len(list) == 0 {
			return ""
		}
		return list[0]
	}
	accept(10)
	for range 8 { // two rounds
		require.Empty(t, read())
	}
	remove("(2, 5, 6)")
	require.Equal(t, "1"+advice, read(), "1 to 3")
	for range 2 { // 4 to 6 and 7 to 9
		require.Equal(t, "3"+advice, read())
	}
	accept(1) // the round is longer by one
	for range 12 {
		require.Equal(t, "3"+advice, read(), "said in every later round, from its first piece on")
	}
}

func neverSent(context.Context, outbox.Op) outbox.Verdict { panic("sent") }
