package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// A process may lose the lock that keeps a copy away and not hear of it: a pooler that keeps no sessions, an idle time-out. It
// writes nothing to books that were marked as moved all the same, in neither kind of write: who marks them waits for what is
// under way, and what comes later is refused with nothing done. Where the mark is taken back, work goes on.
func TestField2_G2_NothingIsWrittenToMovedBooks(t *testing.T) {
	server := pgtest.Start(t)
	place := server.URL("")
	working, alone := at(place, ""), at(place, "")
	working.Beat, alone.Alone = -1, true // it never looks again
	one, err := postgres.Open(t.Context(), working)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, one.Close()) })
	const held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
	server.Exec("", "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
	need.Until(t, "the lock to be lost", func() bool { return server.Count(held) == 0 })
	mover, err := postgres.Open(t.Context(), alone)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mover.Close()) })

	kinds := map[string]func(context.Context, func(store.Tx) error) error{"Write": one.Write, "WriteOwn": one.WriteOwn}
	insert := func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO tickets (n) VALUES (1)")
		return err
	}
	rows := 0
	for kind, write := range kinds {
		begun, goOn, ended, marked := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
		go func() {
			ended <- write(t.Context(), func(tx store.Tx) error {
				err := insert(tx)
				var n int
				if err == nil {
					err = tx.QueryRow("SELECT count(*) FROM tickets").Scan(&n)
				}
				close(begun)
				<-goOn
				return err
			})
		}()
		<-begun
		go func() {
			marked <- mover.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(store.PutMeta, store.MetaMoved, []byte("{}"))
				return err
			})
		}()
		need.Until(t, "the mark to wait for the write", func() bool {
			return server.Count("SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'store_meta' AND NOT l.granted") == 1
		})
		close(goOn)
		require.NoError(t, <-ended, kind)
		require.NoError(t, <-marked, kind)
		rows++
		for later, write := range kinds {
			err := write(t.Context(), insert)
			require.ErrorIs(t, err, store.ErrLocked, later)
			require.ErrorIs(t, err, store.ErrIO, "to a caller the server is away")
			require.NotErrorIs(t, err, store.ErrCommitUnknown)
		}
		require.Equal(t, rows, server.Count("SELECT count(*) FROM tickets"))
		require.NoError(t, mover.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("DELETE FROM store_meta WHERE name = ?", store.MetaMoved)
			return err
		}))
		require.NoError(t, write(t.Context(), insert), kind)
		rows++
	}
	require.Equal(t, rows, server.Count("SELECT count(*) FROM tickets"))
}
