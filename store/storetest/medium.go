package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
)

// medium are the cases of crashes and of a medium that fails.
var medium = []test{
	{"a crash loses nothing that was acknowledged, and leaves nothing by halves", func(t *testing.T, s suite) {
		const clerks, each = 4, 6
		type done struct{ id, n int64 }
		s.Crash(t, Crash{Steps: []store.Step{rowsStep, sealedStep},
			Work: func(db store.Store, ack func(any)) error {
				errs := make([]error, clerks)
				var wg sync.WaitGroup
				for c := range int64(clerks) {
					wg.Go(func() {
						for i := range int64(each) {
							id := c*each + i
							for n := range int64(2) {
								err := db.Write(t.Context(), func(tx store.Tx) error { // two rows of two tables, together
									if n > 0 {
										_, err := tx.Exec("UPDATE suite_rows SET n = 1 WHERE id = ?", id)
										return err
									}
									value, err := db.Seal(tx, cellOf(fmt.Sprint(id)), fmt.Append(nil, "secret ", id))
									if err != nil {
										return err
									}
									return errors.Join(put(id, 0)(tx), sealedTable.Insert(tx, &sealedRow{id: fmt.Sprint(id), value: value}))
								})
								if err != nil {
									errs[c] = err
									return
								}
								ack(done{id, n})
							}
							_ = db.Write(t.Context(), func(tx store.Tx) error { // what fails is never there
								return errors.Join(put(1000+id, 0)(tx), errors.New("undone"))
							})
						}
					})
				}
				wg.Wait()
				return errors.Join(errs...)
			},
			Check: func(db store.Store, acked []any) error {
				found := map[int64]int64{}
				err := db.Read(t.Context(), func(r store.Reader) error {
					list, err := rows.All(r, "")
					if err != nil {
						return err
					}
					sealed, err := sealedTable.All(r, "")
					if err != nil {
						return err
					}
					if len(list) != len(sealed) {
						return fmt.Errorf("%d rows beside %d that were written with them", len(list), len(sealed))
					}
					for _, one := range list {
						found[one.id] = one.n
					}
					for _, one := range sealed {
						if plain, err := db.Unseal(r, cellOf(one.id), one.value); err != nil || string(plain) != "secret "+one.id {
							return fmt.Errorf("sealed %s: %q, %w", one.id, plain, err)
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
				for _, a := range acked {
					if n, there := found[a.(done).id]; !there || n < a.(done).n {
						return fmt.Errorf("%+v was acknowledged; there: %v, %d", a, there, n)
					}
				}
				for id := range found {
					if id >= 1000 {
						return fmt.Errorf("row %d was undone", id)
					}
				}
				if err := db.Check(t.Context()); err != nil {
					return err
				}
				return db.Write(t.Context(), put(5000, 0))
			},
		})
	}},
	{"a medium that fails is named, and what was refused is not there", func(t *testing.T, s suite) {
		for _, as := range []error{store.ErrFull, store.ErrIO} {
			f := s.Faulty(t, []store.Step{rowsStep})
			require.NoError(t, f.DB.Write(t.Context(), put(1, 0)))
			f.Fault(as)
			for id := range int64(3) {
				err := f.DB.Write(t.Context(), put(10+id, 0))
				require.ErrorIs(t, err, as)
				require.NotErrorIs(t, err, store.ErrCommitUnknown)
			}
			h := f.DB.Health(t.Context())
			require.NotEqual(t, store.Ready, h.State)
			require.Error(t, h.Err)
			f.Heal()
			// A write after it may hear of the fault once more; then the store works by itself.
			refused := []int64{}
			need.Until(t, "the store to work by itself", func() bool {
				id := 20 + int64(len(refused))
				if f.DB.Write(t.Context(), put(id, 0)) == nil {
					return true
				}
				refused = append(refused, id)
				return false
			})
			require.Less(t, len(refused), 3)
			want := []int64{1, 20 + int64(len(refused))}
			require.Equal(t, store.Ready, f.DB.Health(t.Context()).State)
			require.Equal(t, want, ids(t, f.DB))
			require.NoError(t, f.DB.Check(t.Context()))
			db := f.Reopen()
			require.Equal(t, want, ids(t, db))
			require.NoError(t, db.Close())
		}
	}},
	{"a commit whose answer is lost is unknown, and looked up by its key", func(t *testing.T, s suite) {
		if s.Lose == nil {
			return // every case has asked for ErrCommitUnknown where a write failed
		}
		for _, took := range []bool{true, false} {
			l := s.Lose(t, s.Place(t), []store.Step{rowsStep})
			l.Lose(took)
			require.ErrorIs(t, l.DB.Write(t.Context(), put(1, 0)), store.ErrCommitUnknown)
			require.Equal(t, took, slices.Contains(ids(t, l.DB), 1))
			require.NoError(t, l.DB.Write(t.Context(), func(tx store.Tx) error { // the caller's retry
				_, err := tx.Exec("INSERT INTO suite_rows (id, text, n) VALUES (1, 'row 1', 0) ON CONFLICT (id) DO NOTHING")
				return err
			}))
			require.Equal(t, []int64{1}, ids(t, l.DB))
			require.NoError(t, l.DB.Close())
		}
	}},
}
