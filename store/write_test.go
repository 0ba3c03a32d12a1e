package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/storetest"
)

var rowsStep = store.Step{Name: "test/1 rows", SQL: `CREATE TABLE rows (
	id   INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT`}

func insert(id int64, text string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO rows (id, text) VALUES (?, ?)", id, text)
		return err
	}
}

func ids(t testing.TB, db store.DB) []int64 {
	t.Helper()
	var out []int64
	require.NoError(t, db.Read(context.Background(), func(r store.Reader) error {
		rows, err := r.Query("SELECT id FROM rows ORDER BY id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			out = append(out, id)
		}
		return rows.Err()
	}))
	return out
}

func TestWriteIsVisibleAfterReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := storetest.OpenAt(t, path, rowsStep)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.Equal(t, []int64{1}, ids(t, s))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Write(t.Context(), insert(2, "two")), store.ErrClosed)

	s = storetest.OpenAt(t, path, rowsStep)
	require.Equal(t, []int64{1}, ids(t, s))
	require.NoError(t, s.Close())
}

func TestFailingCallerRollsBackAlone(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	mine := errors.New("mine")
	var wg sync.WaitGroup
	errs := make([]error, 300)
	for i := range errs {
		wg.Go(func() {
			errs[i] = s.Write(t.Context(), func(tx store.Tx) error {
				if err := insert(int64(i), string(rune('a'))+"-"+string(rune(i+1000)))(tx); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return mine
				case 2:
					panic("boom")
				}
				return nil
			})
		})
	}
	wg.Wait()
	var want []int64
	for i, err := range errs {
		switch i % 3 {
		case 0:
			require.NoError(t, err)
			want = append(want, int64(i))
		case 1:
			require.ErrorIs(t, err, mine)
		case 2:
			require.ErrorIs(t, err, store.ErrPanic)
		}
	}
	require.Equal(t, want, ids(t, s))
	require.Less(t, s.Health(t.Context()).Commits, int64(len(want)))
}
