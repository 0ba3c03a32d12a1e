package pgserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store/postgres/pgserver"
	"posagent/store/postgres/pgtest"
)

// removed ends a server with the test.
func removed(t *testing.T, s *pgserver.Server, err error) *pgserver.Server {
	t.Helper()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Remove()) })
	return s
}

// reads waits until a query reads what is wanted.
func reads(t *testing.T, s *pgserver.Server, query, want string) {
	t.Helper()
	need.Until(t, query+" to be "+want, func() bool {
		got, err := pgserver.Column[string](s.URL(""), query)
		return err == nil && len(got) == 1 && got[0] == want
	})
}

// Three servers change their parts: a commit waits for a standby that is stopped, one standby takes over, the other one follows it, and
// the server that crashed comes back as a standby.
func TestThreeServers(t *testing.T) {
	pgtest.Need(t)
	made, err := pgserver.Start("fsync=on")
	one := removed(t, made, err)
	reads(t, one, "SHOW fsync", "on")
	made, err = one.Standby("two", "work_mem=5MB")
	two := removed(t, made, err)
	reads(t, two, "SHOW work_mem", "5MB")
	made, err = one.Standby("three")
	three := removed(t, made, err)
	require.NoError(t, one.Set("synchronous_standby_names", "FIRST 1 (two)"))
	reads(t, one, "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'two'", "sync")
	require.NoError(t, one.Exec("", "CREATE TABLE lines (text text)"))

	require.NoError(t, two.Stop())
	done := make(chan error, 1)
	go func() { done <- one.Exec("", "INSERT INTO lines VALUES ('first')") }()
	reads(t, one, "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'", "1")
	require.Empty(t, done)
	require.NoError(t, two.Continue())
	require.NoError(t, <-done)

	one.Crash()
	require.Error(t, one.Exec("", "SELECT 1"))
	require.NoError(t, two.Promote())
	require.NoError(t, two.Set("synchronous_standby_names", ""))
	require.NoError(t, two.Exec("", "INSERT INTO lines VALUES ('second')"))
	require.NoError(t, three.Follow(two, "three"))
	require.NoError(t, one.Join(two, "one"))
	for _, s := range []*pgserver.Server{one, three} {
		reads(t, s, "SELECT string_agg(text, ' ' ORDER BY text) FROM lines", "first second")
		reads(t, s, "SELECT pg_is_in_recovery()::text", "true")
	}
	reads(t, two, "SELECT string_agg(application_name, ' ' ORDER BY application_name) FROM pg_stat_replication", "one three")
}
