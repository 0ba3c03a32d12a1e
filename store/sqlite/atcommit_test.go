package sqlite_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// What AtCommit writes is committed with the batch, once per batch, and not for a batch of which
// nothing is left.
func TestAtCommitRunsOnceInEachBatchThatCommits(t *testing.T) {
	runs, fail := int64(0), error(nil)
	s, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: filepath.Join(t.TempDir(), "a.db"), Steps: []store.Step{rowsStep}, Wrapper: storetest.Wrapper{}, Ballast: -1,
		AtCommit: func(tx store.Tx) ([32]byte, error) {
			runs++
			var n int64
			if err := tx.QueryRow("SELECT count(*) FROM rows").Scan(&n); err != nil {
				return [32]byte{}, err
			}
			if err := insert(1000+n, "chained")(tx); err != nil {
				return [32]byte{}, err
			}
			_, err := tx.Exec("UPDATE rows SET text = 'line ' || id WHERE id = ?", 1000+n)
			return [32]byte{byte(n)}, errors.Join(err, fail)
		},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()

	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.Equal(t, []int64{1, 1001}, ids(t, s))

	mine := errors.New("mine")
	require.ErrorIs(t, s.Write(t.Context(), func(store.Tx) error { return mine }), mine)
	require.Equal(t, int64(1), runs, "nothing was written")

	before := s.Health(t.Context()).Commits
	var wg sync.WaitGroup
	for i := range int64(40) {
		wg.Go(func() {
			if err := s.Write(t.Context(), insert(10+i, string(rune('A'+i)))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1+s.Health(t.Context()).Commits-before, runs, "one for each COMMIT, not for each caller")

	fail = errors.New("no line")
	list := ids(t, s)
	require.ErrorIs(t, s.Write(t.Context(), insert(2, "two")), fail)
	require.Equal(t, list, ids(t, s), "the batch is rolled back, and with it what AtCommit wrote")
	fail = nil
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
}

// A panic of AtCommit is every caller's error and leaves nothing.
func TestAtCommitPanics(t *testing.T) {
	bad := true
	s, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: filepath.Join(t.TempDir(), "a.db"), Steps: []store.Step{rowsStep}, Wrapper: storetest.Wrapper{}, Ballast: -1,
		AtCommit: func(store.Tx) ([32]byte, error) {
			if bad {
				panic("chain")
			}
			return [32]byte{}, nil
		},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.ErrorIs(t, s.Write(t.Context(), insert(1, "one")), store.ErrPanic)
	require.Empty(t, ids(t, s))
	bad = false
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.Equal(t, []int64{1}, ids(t, s))
}
