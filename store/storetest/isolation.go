package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

func sum(r store.Reader) (total int64, err error) {
	err = r.QueryRow("SELECT COALESCE(SUM(n), 0) FROM suite_rows").Scan(&total)
	return total, err
}

// isolation are the cases of what closures see of each other, and in which order.
var isolation = []test{
	{"a read is one snapshot", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), put(1, 0)))
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			count := func() (n int) {
				require.NoError(t, r.QueryRow("SELECT count(*) FROM suite_rows").Scan(&n))
				return n
			}
			require.Equal(t, 1, count())
			require.NoError(t, db.Write(t.Context(), put(2, 0)))
			require.Equal(t, 1, count())
			return nil
		}))
		require.Equal(t, []int64{1, 2}, ids(t, db))
	}},
	{"a closure sees its own effects, and none that were undone", func(t *testing.T, s suite) {
		db := s.open(t)
		require.Error(t, db.Write(t.Context(), func(tx store.Tx) error {
			if err := put(1, 5)(tx); err != nil {
				return err
			}
			n, err := sum(tx)
			require.NoError(t, err)
			require.EqualValues(t, 5, n)
			return errors.New("undone")
		}))
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			n, err := sum(tx)
			require.Zero(t, n)
			return err
		}))
	}},
	{"writes are serial: nothing is counted twice or lost", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), put(0, 0)))
		const callers, each = 16, 20
		var wg sync.WaitGroup
		got := make([][]int64, callers)
		for c := range callers {
			wg.Go(func() {
				for range each {
					var n int64
					err := db.Write(t.Context(), func(tx store.Tx) error { // reads, decides in Go, and writes
						if err := tx.QueryRow("SELECT n FROM suite_rows WHERE id = 0").Scan(&n); err != nil {
							return err
						}
						n++
						_, err := tx.Exec("UPDATE suite_rows SET n = ? WHERE id = 0", n)
						return err
					})
					if err != nil {
						t.Error(err)
					}
					got[c] = append(got[c], n)
				}
			})
		}
		wg.Wait()
		all := slices.Concat(got...)
		slices.Sort(all)
		for i, n := range all {
			require.EqualValues(t, i+1, n)
		}
		for _, own := range got {
			require.IsIncreasing(t, own, "each caller's writes are in their order")
		}
	}},
	{"writes that look at each other's rows are serial too", func(t *testing.T, s suite) {
		// Each takes what is left only where both rows together have enough: on snapshots of their
		// own, two would.
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return errors.Join(put(1, 50)(tx), put(2, 50)(tx)) }))
		errShort := errors.New("too little is left")
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				err := db.Write(t.Context(), func(tx store.Tx) error {
					total, err := sum(tx)
					if err != nil {
						return err
					}
					if total < 30 {
						return errShort
					}
					_, err = tx.Exec("UPDATE suite_rows SET n = n - 30 WHERE id = ?", 1+i%2)
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
	{"readers see commits whole and in order", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return errors.Join(put(1, 0)(tx), put(2, 0)(tx)) }))
		var done atomic.Bool
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				var last int64
				for !done.Load() {
					var a, b int64
					err := db.Read(t.Context(), func(r store.Reader) error {
						return errors.Join(r.QueryRow("SELECT n FROM suite_rows WHERE id = 1").Scan(&a), r.QueryRow("SELECT n FROM suite_rows WHERE id = 2").Scan(&b))
					})
					if err != nil || a != b || a < last {
						t.Errorf("read %d and %d after %d: %v", a, b, last, err)
						return
					}
					last = a
				}
			})
		}
		for n := range int64(60) {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec("UPDATE suite_rows SET n = ? WHERE id = 1", n)
				if err == nil {
					_, err = tx.Exec("UPDATE suite_rows SET n = ? WHERE id = 2", n)
				}
				return err
			}))
			require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { // what was answered can be read
				total, err := sum(r)
				require.Equal(t, 2*n, total)
				return err
			}))
		}
		done.Store(true)
		wg.Wait()
	}},
	{"many callers, few of them with luck", func(t *testing.T, s suite) {
		db := s.open(t)
		const callers = 100
		won := make([]bool, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				fresh := int64(0)
				err := db.Write(t.Context(), func(tx store.Tx) error { // a key is given out once
					res, err := tx.Exec("INSERT INTO suite_rows (id, text, n) VALUES (?, ?, ?) ON CONFLICT (text) DO NOTHING", i, fmt.Sprint("key ", i%10), i)
					if err == nil {
						fresh, err = res.RowsAffected()
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				won[i] = fresh == 1
			})
		}
		wg.Wait()
		want := []int64{}
		for i, yes := range won {
			if yes {
				want = append(want, int64(i))
			}
		}
		require.Len(t, want, 10)
		require.Equal(t, want, ids(t, db))
	}},
}
