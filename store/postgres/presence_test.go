package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// Who is to have a schema alone waits for nobody: it is refused while others work on it, and they while it does. Another schema is
// another matter.
func TestAlone(t *testing.T) {
	server := pgtest.Open(t)
	place := server.Place()
	alone := at(place, "")
	alone.Alone = true
	one, err := postgres.Open(t.Context(), at(place, ""))
	require.NoError(t, err)
	two, err := postgres.Open(t.Context(), at(place, ""))
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), alone)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, one.Close())
	_, err = postgres.Open(t.Context(), alone)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, two.Close())

	single := free(t, alone) // the server lets a lock go a moment after its connection
	_, err = postgres.Open(t.Context(), at(place, ""))
	require.ErrorIs(t, err, store.ErrLocked)
	reader, err := postgres.OpenReader(t.Context(), at(place, ""))
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	kept(t, at(server.Place(), ""))
	require.NoError(t, single.Close())
	require.NoError(t, free(t, at(place, "")).Close())
	kept(t, at(place, ""))

	_, err = postgres.Open(t.Context(), at(server.URL("nowhere"), ""))
	require.ErrorContains(t, err, "CREATE SCHEMA")
}

// free opens a schema once nobody holds it.
func free(t *testing.T, opt postgres.Options) (s *postgres.Store) {
	t.Helper()
	need.Until(t, "the lock of a schema to be free", func() bool {
		var err error
		if s, err = postgres.Open(t.Context(), opt); err != nil {
			require.ErrorIs(t, err, store.ErrLocked)
		}
		return err == nil
	})
	return s
}

// The lock is its connection's: where that is lost, it is taken again.
func TestTheLockIsTakenAgain(t *testing.T) {
	server := pgtest.Start(t)
	place := server.Place()
	working, alone := at(place, ""), at(place, "")
	working.Beat, alone.Alone = 50*time.Millisecond, true
	one, err := postgres.Open(t.Context(), working)
	require.NoError(t, err)
	const held = "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.granted AND a.application_name = 'posagent'"
	require.Equal(t, 1, server.Count(held))
	server.Exec("", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posagent'")
	need.Until(t, "the lock to be taken again", func() bool { return server.Count(held) == 1 })
	_, err = postgres.Open(t.Context(), alone)
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, one.Close())
}

// A store with one connection for its work has another one for the lock, and neither waits for the other.
func TestOneConnection(t *testing.T) {
	server := pgtest.Open(t)
	opt := at(server.Place(), "")
	opt.Conns = 1
	ctx, cancel := context.WithTimeout(t.Context(), need.Limit())
	defer cancel()
	s, err := postgres.Open(ctx, opt)
	require.NoError(t, err)
	ticket(t, s)
	require.NoError(t, s.Close())
}
