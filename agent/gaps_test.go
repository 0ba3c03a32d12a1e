package agent_test

import (
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

// A row that is removed behind the journal's back leaves a gap that shows, also the newest one: its number is not given again.
func TestField_J9ARemovedRowLeavesAGap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	opt := sqlite.Options{Path: path, Wrapper: storetest.Wrapper{}, Ballast: -1, Marks: []string{store.MarkPath(path)}}
	var last deletedrows.Numbers
	accept := func(db store.Journal) {
		box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: "k", Send: neverSent}}, LastID: last.Operations.Highest})
		for range 3 {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				return box.Accept(tx, outbox.New{Key: wire.NewKey(), Kind: "k", Aggregate: "a", Payload: []byte("x"), AmountMin: 5, Currency: "EUR"})
			}))
		}
	}
	missing := func(db store.Journal) (list []string) {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
			list, err = deletedrows.Read(r)
			return err
		}))
		return list
	}
	remove := func(db store.Journal, query string) {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(query)
			return err
		}))
	}
	db, err := agent.Open(t.Context(), opt)
	require.NoError(t, err)
	accept(db)
	require.Empty(t, missing(db))
	remove(db, `DELETE FROM outbox_ops WHERE id = 3`) // which the table's trigger takes for a purge
	remove(db, `UPDATE outbox_clock SET purged_id = 0`)
	require.NoError(t, db.Close())

	db, err = agent.Open(t.Context(), opt)
	require.NoError(t, err)
	end, err := db.End(t.Context())
	require.NoError(t, err)
	last = deletedrows.Unpack(end.Note)
	require.Equal(t, deletedrows.Range{Highest: 3}, last.Operations)
	accept(db)
	var ids []int64
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
		ids, err = store.Column[int64](r, `SELECT id FROM outbox_ops ORDER BY id`)
		return err
	}))
	require.Equal(t, []int64{1, 2, 4, 5, 6}, ids)
	list := missing(db)
	require.Len(t, list, 1)
	require.Contains(t, list[0], "1 operation(s) were removed from the journal from outside, the first is number 3")
	remove(db, `UPDATE store_end SET note = zeroblob(32)`) // overwritten by that commit itself
	require.Len(t, missing(db), 1)
	require.NoError(t, db.Close())
}
