package sqlite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/storetest"
)

// The next commit ends the wait, and a Write that fails does not.
func TestCommitted(t *testing.T) {
	db := storetest.Open(t, store.Step{Name: "test/1", SQL: `CREATE TABLE a (n INTEGER) STRICT`})
	first, same := db.Committed(), db.Committed()
	require.Error(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO none VALUES (1)`)
		return err
	}))
	select {
	case <-first:
		require.Fail(t, "nothing was committed")
	default:
	}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO a VALUES (1)`)
		return err
	}))
	<-first
	<-same
	select {
	case <-db.Committed():
		require.Fail(t, "the next has not come")
	default:
	}
}
