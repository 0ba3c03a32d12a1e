package storetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// closures are the cases of what a closure may do, and of what becomes of it.
var closures = []test{
	{"a write is there after it was answered, and after a restart", func(t *testing.T, s suite) {
		place := s.Place(t)
		db := s.at(t, place, rowsStep)
		require.NoError(t, db.Write(t.Context(), put(1, 0)))
		require.Equal(t, []int64{1}, ids(t, db))
		require.NoError(t, db.Close())
		require.NoError(t, db.Close())
		require.ErrorIs(t, db.Write(t.Context(), put(2, 0)), store.ErrClosed)
		require.ErrorIs(t, db.Read(t.Context(), func(store.Reader) error { return nil }), store.ErrClosed)
		require.Equal(t, store.Closed, db.Health(t.Context()).State)
		require.ErrorIs(t, db.Reserved(t.Context()), store.ErrClosed)
		require.Equal(t, []int64{1}, ids(t, s.at(t, place, rowsStep)))
	}},
	{"a closure that fails leaves nothing, beside others that do not", func(t *testing.T, s suite) {
		db := s.open(t)
		mine := errors.New("mine")
		errs := make([]error, 120)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				errs[i] = db.Write(t.Context(), func(tx store.Tx) error {
					if err := put(int64(i), 0)(tx); err != nil {
						return err
					}
					switch i % 4 {
					case 1:
						return mine
					case 2:
						panic("boom")
					case 3:
						return put(int64(i), 0)(tx) // its id is taken
					}
					return nil
				})
			})
		}
		wg.Wait()
		want := []int64{}
		for i, err := range errs {
			switch i % 4 {
			case 0:
				require.NoError(t, err)
				want = append(want, int64(i))
			case 1:
				require.ErrorIs(t, err, mine)
			case 2:
				require.ErrorIs(t, err, store.ErrPanic)
			case 3:
				require.Error(t, err)
				for _, medium := range []error{store.ErrFull, store.ErrIO, store.ErrBusy, store.ErrReadOnly, store.ErrCommitUnknown} {
					require.NotErrorIs(t, err, medium, "a constraint is the closure's affair")
				}
			}
		}
		require.Equal(t, want, ids(t, db))
	}},
	{"a closure that ends its goroutine leaves nothing", func(t *testing.T, s suite) {
		db := s.open(t)
		require.ErrorIs(t, db.Write(t.Context(), func(tx store.Tx) error {
			if err := put(1, 0)(tx); err != nil {
				return err
			}
			runtime.Goexit()
			return nil
		}), store.ErrPanic)
		require.NoError(t, db.Write(t.Context(), put(2, 0)))
		require.Equal(t, []int64{2}, ids(t, db))
	}},
	{"a closure is kept in its transaction", func(t *testing.T, s suite) {
		db := s.open(t)
		for _, query := range []string{"COMMIT", " rollback;", "BEGIN", "SAVEPOINT a", "release a"} {
			require.ErrorContains(t, db.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(query)
				return err
			}), "not allowed", query)
		}
		var kept store.Tx
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			kept = tx
			return put(1, 0)(tx)
		}))
		require.Error(t, put(2, 0)(kept))
		require.Error(t, kept.QueryRow("SELECT 1").Scan(new(int)))
		_, err := kept.Query("SELECT 1")
		require.Error(t, err)
		require.Equal(t, []int64{1}, ids(t, db))
	}},
	{"a reader writes nothing", func(t *testing.T, s suite) {
		db := s.open(t)
		require.Error(t, db.Read(t.Context(), func(r store.Reader) error {
			if tx, ok := r.(store.Tx); ok {
				return put(1, 0)(tx)
			}
			return store.ErrReadOnly
		}))
		_ = db.Read(t.Context(), func(r store.Reader) error { // whatever it answers
			rows, err := r.Query("INSERT INTO suite_rows (id, text, n) VALUES (1, 'one', 1) RETURNING id")
			if err == nil {
				rows.Next()
				err = rows.Close()
			}
			return err
		})
		require.Empty(t, ids(t, db))
	}},
	{"statements overlap, and rows left open are closed", func(t *testing.T, s suite) {
		db := s.open(t)
		const all = "SELECT id FROM suite_rows ORDER BY id"
		for range 3 {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				if _, err := tx.Exec("DELETE FROM suite_rows"); err != nil {
					return err
				}
				for id := range int64(3) {
					if err := put(id, 0)(tx); err != nil {
						return err
					}
				}
				pairs := 0
				outer, err := tx.Query(all)
				if err != nil {
					return err
				}
				for outer.Next() {
					inner, err := tx.Query(all)
					if err != nil {
						return err
					}
					for inner.Next() {
						pairs++
					}
				}
				require.Equal(t, 9, pairs)
				_, err = tx.Query(all) // left open
				_ = tx.QueryRow(all)   // never scanned
				return err
			}))
		}
		require.Len(t, ids(t, db), 3)
	}},
	{"a caller that gives up before its turn leaves nothing", func(t *testing.T, s suite) {
		db := s.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, db.Write(ctx, put(1, 0)), context.Canceled)
		require.Empty(t, ids(t, db))
	}},
	{"a caller that gives up later gets the truth", func(t *testing.T, s suite) {
		db := s.open(t)
		for id := range int64(40) {
			ctx, cancel := context.WithCancel(t.Context())
			err := db.Write(ctx, func(tx store.Tx) error {
				cancel()
				return put(id, 0)(tx)
			})
			cancel()
			if err == nil {
				require.Contains(t, ids(t, db), id)
			} else if !errors.Is(err, store.ErrCommitUnknown) {
				require.NotContains(t, ids(t, db), id, "%v", err)
			}
		}
	}},
	{"the Tx knows its Write's context and its store", func(t *testing.T, s suite) {
		db := s.open(t)
		type key struct{}
		var wg sync.WaitGroup
		for i := range int64(20) {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, i))
				defer cancel()
				var value any
				var err error
				var mac []byte
				if e := db.Write(ctx, func(tx store.Tx) error {
					of := store.Context(tx)
					value, err = of.Value(key{}), of.Err()
					mac = store.Keyed(tx).MAC("suite_rows", "1", i)
					return put(i, 0)(tx)
				}); e != nil {
					t.Error(e)
				}
				if value != i || err != nil || string(mac) != string(db.MAC("suite_rows", "1", i)) {
					t.Errorf("caller %d ran as %v, %v", i, value, err)
				}
			})
		}
		wg.Wait()
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			require.Equal(t, db.MAC("a", "b"), store.Keyed(r).MAC("a", "b"))
			return nil
		}))
		require.Equal(t, context.Background(), store.Context(nil), "no Write's")
	}},
	{"a commit is told to those who wait for it", func(t *testing.T, s suite) {
		db := s.open(t)
		for id := range int64(10) {
			told := db.Committed()
			select {
			case <-told:
				t.Fatal("nothing was committed")
			default:
			}
			require.NoError(t, db.Write(t.Context(), put(id, 0)))
			<-told
		}
	}},
}
