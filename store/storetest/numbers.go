package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// countStep declares a count.
func countStep(name string, last int64) store.Step {
	return store.Step{Name: "suite/" + name, SQL: store.NumberTable + fmt.Sprintf("INSERT INTO store_number (name, last) VALUES ('%s', %d);", name, last)}
}

// number gives the next number of a count in a commit of its own.
func number(t *testing.T, write func(fn func(store.Tx) error) error, name string) (n int64) {
	t.Helper()
	require.NoError(t, write(func(tx store.Tx) (err error) { n, err = tx.Number(name); return err }))
	return n
}

// alone writes in closures that are run once, so that no gaps are left.
func alone(t *testing.T, db store.Store) func(fn func(store.Tx) error) error {
	if a, is := db.(again); is {
		db = a.Store
	}
	return func(fn func(store.Tx) error) error { return db.Write(t.Context(), fn) }
}

// numbers are the cases of Tx.Number.
var numbers = []test{
	{"a count begins with the number of its step, and another one is apart", func(t *testing.T, s suite) {
		write := alone(t, s.open(t, countStep("high", 700_000), countStep("one", 0)))
		for i := range int64(3) {
			require.EqualValues(t, 700_001+i, number(t, write, "high"))
			require.EqualValues(t, 1+i, number(t, write, "one"))
		}
	}},
	{"a step declares counts behind the rows that are there, and forgets its own", func(t *testing.T, s suite) {
		place := s.Place(t)
		older := store.Step{Name: "suite/older", SQL: "CREATE TABLE suite_seq (name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT; INSERT INTO suite_seq (name, last) VALUES ('a', 40), ('b', 50);"}
		require.NoError(t, s.at(t, place, older).Close())
		write := alone(t, s.at(t, place, older, store.Step{Name: "suite/newer", SQL: store.NumberTable + `
			INSERT INTO store_number (name, last) SELECT 'suite_' || name, last FROM suite_seq;
			INSERT INTO store_number (name, last) SELECT 'suite_max', coalesce(max(last), 7) FROM suite_seq WHERE name = 'c';
			DROP TABLE suite_seq;`}))
		require.EqualValues(t, 41, number(t, write, "suite_a"))
		require.EqualValues(t, 51, number(t, write, "suite_b"))
		require.EqualValues(t, 8, number(t, write, "suite_max"))
	}},
	{"a count goes on after the store was opened again", func(t *testing.T, s suite) {
		place := s.Place(t)
		db := s.at(t, place, countStep("c", 10))
		require.EqualValues(t, 11, number(t, alone(t, db), "c"))
		require.EqualValues(t, 12, number(t, alone(t, db), "c"))
		require.NoError(t, db.Close())
		require.EqualValues(t, 13, number(t, alone(t, s.at(t, place, countStep("c", 10))), "c"))
	}},
	{"of many closures at once each has a number of its own, and its next ones are higher", func(t *testing.T, s suite) {
		db := s.open(t, countStep("c", 0))
		const callers, each = 12, 10
		var wg sync.WaitGroup
		lists := make([][]int64, callers)
		for c := range callers {
			write := db.Write
			if c%2 == 0 {
				write = db.WriteOwn
			}
			wg.Go(func() {
				for i := range each {
					var n int64
					if err := write(t.Context(), func(tx store.Tx) (err error) {
						if n, err = tx.Number("c"); err != nil {
							return err
						}
						return rows.Insert(tx, &row{id: n, text: fmt.Sprint(c, " ", i), n: n})
					}); err != nil {
						t.Error(err)
					}
					lists[c] = append(lists[c], n)
				}
			})
		}
		wg.Wait()
		for _, list := range lists {
			require.Len(t, list, each)
			require.True(t, slices.IsSorted(list))
		}
		all := slices.Concat(lists...)
		slices.Sort(all)
		require.Len(t, slices.Compact(all), callers*each)
		require.Equal(t, all, ids(t, db))
	}},
	{"the table says which number was the last", func(t *testing.T, s suite) {
		db := s.open(t, countStep("c", 30), countStep("d", 0))
		last := number(t, alone(t, db), "c")
		require.EqualValues(t, 31, last)
		lasts := map[string]int64{}
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			return store.Each(r, func(row store.Row) error {
				var name string
				if err := row.Scan(&name, &last); err != nil {
					return err
				}
				lasts[name] = last
				return nil
			}, "SELECT name, last FROM store_number")
		}))
		require.Equal(t, map[string]int64{"c": 31, "d": 0}, lasts)
	}},
	{"a closure that fails takes no number from another", func(t *testing.T, s suite) {
		db := s.open(t, countStep("c", 0))
		mine := errors.New("mine")
		require.ErrorIs(t, db.Write(t.Context(), func(tx store.Tx) error {
			first, err := tx.Number("c")
			require.NoError(t, err)
			second, err := tx.Number("c")
			require.NoError(t, err)
			require.Greater(t, second, first)
			return mine
		}), mine)
		write := alone(t, db)
		first := number(t, write, "c")
		require.Positive(t, first)
		require.EqualValues(t, first+1, number(t, write, "c"))
	}},
	{"a count that no step declares is refused", func(t *testing.T, s suite) {
		db := s.open(t, countStep("c", 0))
		err := db.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Number("d"); return err })
		require.ErrorContains(t, err, `no step declares the count "d"`)
		require.NotErrorIs(t, err, store.ErrIO)
		require.EqualValues(t, 1, number(t, alone(t, db), "c"))
	}},
	{"a count that was taken away gives nothing until it is put back", func(t *testing.T, s suite) {
		db := s.open(t, countStep("c", 0), countStep("d", 0))
		write := alone(t, db)
		require.EqualValues(t, 1, number(t, write, "c"))
		mine := errors.New("mine")
		take := func(tx store.Tx) error { _, err := tx.Exec("DELETE FROM store_number"); return err }
		require.ErrorIs(t, write(func(tx store.Tx) error { return errors.Join(take(tx), mine) }), mine)
		require.EqualValues(t, 2, number(t, write, "c"), "nothing was taken away")
		require.NoError(t, write(take))
		for range 2 {
			require.ErrorContains(t, write(func(tx store.Tx) error { _, err := tx.Number("c"); return err }), "no step declares")
		}
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			names, err := store.Column[string](r, "SELECT name FROM store_number")
			require.Empty(t, names)
			return err
		}))
		require.NoError(t, write(func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO store_number (name, last) VALUES ('c', 99)")
			return err
		}))
		require.EqualValues(t, 100, number(t, write, "c"))
		require.Error(t, write(func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO store_number (name, last) VALUES ('c', 5)")
			return err
		}))
		require.EqualValues(t, 101, number(t, write, "c"))
	}},
}
