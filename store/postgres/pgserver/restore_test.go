package pgserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres/pgserver"
	"posagent/store/postgres/pgtest"
)

// A server is as it was at a point in time, however the point is named; it may be restored again.
func TestRestore(t *testing.T) {
	pgtest.Need(t)
	made, err := pgserver.Start("fsync=off", "archive_mode=on")
	s := removed(t, made, err)
	require.NoError(t, s.Exec("", "CREATE TABLE lines (text text); INSERT INTO lines VALUES ('a')"))
	require.NoError(t, s.Backup())
	require.NoError(t, s.Exec("", "INSERT INTO lines VALUES ('b')"))
	require.NoError(t, s.Exec("", "SELECT pg_create_restore_point('lunch')"))
	require.NoError(t, s.Exec("", "INSERT INTO lines VALUES ('c'); SELECT pg_switch_wal()"))
	at, err := pgserver.Column[string](s.URL(""), "SELECT clock_timestamp()::text")
	require.NoError(t, err)
	require.NoError(t, s.Exec("", "INSERT INTO lines VALUES ('d')"))
	place, err := pgserver.Column[string](s.URL(""), "SELECT pg_current_wal_insert_lsn()::text")
	require.NoError(t, err)
	require.NoError(t, s.Exec("", "INSERT INTO lines VALUES ('e')"))
	for _, c := range []struct{ target, want string }{
		{"recovery_target_lsn='" + place[0] + "'", "a b c d"},
		{"recovery_target_time='" + at[0] + "'", "a b c"},
		{"recovery_target_name='lunch'", "a b"},
	} {
		s.Crash()
		require.NoError(t, s.Restore(c.target))
		got, err := pgserver.Column[string](s.URL(""), "SELECT string_agg(text, ' ' ORDER BY text) FROM lines")
		require.NoError(t, err)
		require.Equal(t, []string{c.want}, got, c.target)
		require.NoError(t, s.Exec("", "INSERT INTO lines VALUES ('x')"), "it takes writes")
	}
}
