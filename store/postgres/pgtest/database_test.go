package pgtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres/pgtest"
)

// Tests of a run share its server: each has a database of its own, which is gone after it.
func TestADatabaseOfTheRun(t *testing.T) {
	run := pgtest.Start(t)
	t.Setenv(pgtest.EnvRun, run.URL(""))
	const databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'test%'"
	t.Run("a test", func(t *testing.T) {
		one, two := pgtest.Open(t), pgtest.Open(t)
		require.Equal(t, run.Socket(), one.Socket())
		for _, d := range []*pgtest.Database{one, two} {
			d.Exec(d.Place(), "CREATE TABLE lines (text text)")
			require.Equal(t, 1, d.Count("SELECT count(*) FROM pg_tables WHERE tablename = 'lines'"), "the other's are not seen")
		}
		require.Equal(t, 2, run.Count(databases))
	})
	require.Zero(t, run.Count(databases))
}
