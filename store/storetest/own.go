package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// add counts a row up: it reads it, decides in Go, and writes it.
func add(tx store.Tx, id, n int64) (after int64, err error) {
	if err := tx.QueryRow("SELECT n FROM suite_rows WHERE id = ?", id).Scan(&after); err != nil {
		return 0, err
	}
	after += n
	_, err = tx.Exec("UPDATE suite_rows SET n = ? WHERE id = ?", after, id)
	return after, err
}

// own are the cases of WriteOwn.
var own = []test{
	{"of two own writes of one row none is lost", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.WriteOwn(t.Context(), put(0, 0)))
		const callers, each = 16, 20
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[int64]int{}
		for c := range callers {
			write := db.WriteOwn
			if c%4 == 0 {
				write = db.Write // one row may be written by both
			}
			wg.Go(func() {
				for range each {
					var n int64
					if err := write(t.Context(), func(tx store.Tx) (err error) { n, err = add(tx, 0, 1); return err }); err != nil {
						t.Error(err)
					}
					mu.Lock()
					seen[n]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for n := range int64(callers * each) {
			require.Equal(t, 1, seen[n+1], "%d was reached", n+1)
		}
	}},
	{"an own write of what is left never takes more", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.WriteOwn(t.Context(), put(0, 100)))
		errShort := errors.New("too little is left")
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				err := db.WriteOwn(t.Context(), func(tx store.Tx) error {
					n, err := add(tx, 0, -30)
					if err == nil && n < 0 {
						err = errShort
					}
					return err
				})
				if err != nil && !errors.Is(err, errShort) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			n, err := sum(r)
			require.EqualValues(t, 10, n)
			return err
		}))
	}},
	{"a unique key decides between own writes, and the second sees the first", func(t *testing.T, s suite) {
		db := s.open(t)
		const callers, keys = 60, 6
		var wg sync.WaitGroup
		answers := make([]int64, callers)
		for i := range int64(callers) {
			key, write := fmt.Sprint("key ", i%keys), db.WriteOwn
			if i%4 == 0 {
				write = db.Write
			}
			wg.Go(func() {
				err := write(t.Context(), func(tx store.Tx) error {
					err := tx.QueryRow("SELECT n FROM suite_rows WHERE text = ?", key).Scan(&answers[i])
					if !errors.Is(err, sql.ErrNoRows) {
						return err
					}
					answers[i] = i
					return rows.Insert(tx, &row{id: i, text: key, n: i})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Len(t, ids(t, db), keys)
		for i, n := range answers {
			require.Equal(t, answers[i%keys], n, "callers of one key have one answer")
		}
	}},
	{"an own write whose key was taken before fails, and leaves nothing", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.WriteOwn(t.Context(), put(1, 0)))
		err := db.WriteOwn(t.Context(), func(tx store.Tx) error { return errors.Join(put(2, 0)(tx), put(1, 0)(tx)) })
		require.Error(t, err)
		for _, other := range []error{store.ErrFull, store.ErrIO, store.ErrBusy, store.ErrReadOnly, store.ErrCommitUnknown} {
			require.NotErrorIs(t, err, other, "a constraint is the closure's affair")
		}
		require.Equal(t, []int64{1}, ids(t, db))
	}},
	{"an own write is one snapshot, with what it wrote", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.WriteOwn(t.Context(), put(1, 5)))
		mine := errors.New("mine")
		require.ErrorIs(t, db.WriteOwn(t.Context(), func(tx store.Tx) error {
			if err := put(2, 7)(tx); err != nil {
				return err
			}
			n, err := sum(tx)
			require.NoError(t, err)
			require.EqualValues(t, 12, n)
			return mine
		}), mine)
		require.Equal(t, []int64{1}, ids(t, db))
		require.NoError(t, db.Close())
		require.ErrorIs(t, db.WriteOwn(t.Context(), put(3, 0)), store.ErrClosed)
	}},
	{"the answer of a statement is there when it is asked for", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			raw := []byte("as it was")
			if _, err := tx.Exec("INSERT INTO suite_rows (id, text, n) VALUES (1, ?, 1)", "one"); err != nil {
				return err
			}
			first, err := tx.Exec("UPDATE suite_rows SET n = n + 1")
			require.NoError(t, err)
			second, err := tx.Exec("DELETE FROM suite_rows WHERE id = 7")
			require.NoError(t, err)
			n, err := first.RowsAffected()
			require.NoError(t, err)
			require.EqualValues(t, 1, n)
			if n, err = second.RowsAffected(); err != nil || n != 0 {
				return fmt.Errorf("%d rows, %w", n, err)
			}
			if _, err := tx.Exec("INSERT INTO store_meta (name, value) VALUES ('suite', ?)", raw); err != nil {
				return err
			}
			copy(raw, "changed..")
			var is []byte
			err = tx.QueryRow("SELECT value FROM store_meta WHERE name = 'suite'").Scan(&is)
			require.Equal(t, "as it was", string(is))
			return err
		}))
	}},
}
