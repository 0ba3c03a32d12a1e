package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/sqlite"
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
	require.NoError(t, db.Read(context.Background(), func(r store.Reader) (err error) {
		out, err = store.Column[int64](r, "SELECT id FROM rows ORDER BY id")
		return err
	}))
	return out
}

// together makes n calls that come while the writer is busy: a fast disk, or one processor, would take each as it comes.
func together(t *testing.T, s store.DB, n int, call func(i int)) {
	t.Helper()
	var wg sync.WaitGroup
	var come atomic.Int64
	all := make(chan struct{})
	wg.Go(func() { _ = s.Write(t.Context(), func(store.Tx) error { <-all; return errors.New("only waits") }) })
	for i := range n {
		wg.Go(func() {
			come.Add(1)
			call(i)
		})
	}
	need.Until(t, "all callers", func() bool { return come.Load() == int64(n) })
	close(all)
	wg.Wait()
}

// Callers that fail share a commit with those that do not.
func TestFailingCallersDoNotCostACommitEach(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	errs := make([]error, 300)
	together(t, s, len(errs), func(i int) {
		errs[i] = s.Write(t.Context(), func(tx store.Tx) error {
			err := insert(int64(i), fmt.Sprint(i))(tx)
			if i%3 != 0 {
				return errors.New("changed its mind")
			}
			return err
		})
	})
	for i, err := range errs {
		require.Equal(t, i%3 != 0, err != nil, "%d: %v", i, err)
	}
	require.Len(t, ids(t, s), 100)
	require.Less(t, s.Health(t.Context()).Commits, int64(100))
}

// What SQLite has beside the statements of the suite is kept from a closure, too.
func TestClosureIsKeptInItsTransaction(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	for _, query := range []string{"release caller", "PRAGMA synchronous=OFF", "VACUUM", "ATTACH 'x' AS x"} {
		err := s.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(query)
			return err
		})
		require.ErrorContains(t, err, "not allowed", query)
	}
	var kept store.Tx
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		kept = tx
		return insert(1, "one")(tx)
	}))
	require.ErrorContains(t, insert(2, "two")(kept), "after its closure")
	require.ErrorContains(t, kept.QueryRow("SELECT 1").Scan(new(int)), "after its closure")
	require.ErrorIs(t, s.Read(t.Context(), func(r store.Reader) error {
		return insert(3, "three")(r.(store.Tx))
	}), store.ErrReadOnly)
	require.True(t, sqlite.IsUnique(s.Write(t.Context(), insert(7, "one"))))
	require.True(t, sqlite.IsUnique(s.Write(t.Context(), insert(1, "other"))))
	require.ErrorContains(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO rows VALUES (5, x'00')")
		return err
	}), "cannot store BLOB", "STRICT")
	require.Equal(t, []int64{1}, ids(t, s))
}

func TestCancelledWhileQueued(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.Write(context.Background(), func(store.Tx) error {
			close(held)
			<-hold
			return nil
		})
	})
	<-held
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() { got <- s.Write(ctx, insert(1, "one")) }()
	cancel()
	require.ErrorIs(t, <-got, context.Canceled)
	close(hold)
	wg.Wait()
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
	require.Equal(t, []int64{2}, ids(t, s))
}

// The store lives inside a bubble: its goroutines wait on channels and timers alone, so time moves
// when all wait.
func TestInsideBubble(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := storetest.OpenAt(t, filepath.Join(dir, "a.db"), rowsStep)
		var wg sync.WaitGroup
		for i := range int64(64) {
			wg.Go(func() {
				time.Sleep(time.Duration(i%4) * time.Hour)
				if err := s.Write(t.Context(), insert(i, fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.Len(t, ids(t, s), 64)
		require.NoError(t, s.Truncate(t.Context()))
		require.Zero(t, s.Health(t.Context()).WALBytes)
		require.NoError(t, s.Close())
	})
}

func TestOneFlushForManyCallers(t *testing.T) {
	for _, callers := range []int{1, 8, 64} {
		s := storetest.Open(t, rowsStep)
		before := s.Health(t.Context())
		const ops = 640
		write := func(id int) {
			if err := s.Write(t.Context(), insert(int64(id+1), fmt.Sprint(id))); err != nil {
				t.Error(err)
			}
		}
		waited := 0
		for first := 0; first < ops; first += callers {
			if callers == 1 {
				write(first)
				continue
			}
			waited++
			together(t, s, callers, func(i int) { write(first + i) })
		}
		h := s.Health(t.Context())
		commits := h.Commits - before.Commits
		t.Logf("%d callers: %d commits for %d writes", callers, commits, ops)
		require.GreaterOrEqual(t, h.Writes, int64(ops))
		require.LessOrEqual(t, h.Writes, int64(ops+waited), "and those that only waited")
		if callers == 1 {
			require.EqualValues(t, ops, commits)
		} else {
			require.Less(t, commits, int64(ops/2))
		}
		require.Len(t, ids(t, s), ops)
	}
}

// Writers that never rest keep the checkpointer from ever finding a log without new frames. How long the log becomes rests on the share of the
// processor that the checkpointer gets; that it is started anew, and does not grow with what is written, does not.
func TestLogIsBoundedUnderLoad(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	text := strings.Repeat("x", 64<<10)
	const writers, least, most, each = 8, 640, 3 * 640, 128 << 10 // bytes of a write, with the index
	var longest, writes atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := writes.Add(1); n <= least || n*each < 5*longest.Load()/2 && n <= most; n = writes.Add(1) {
				if err := s.Write(t.Context(), func(tx store.Tx) error {
					_, err := tx.Exec("INSERT INTO rows (id, text) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET text = excluded.text", w, fmt.Sprint(n)+text)
					return err
				}); err != nil {
					t.Error(err)
					return
				}
				if long := s.Health(t.Context()).WALBytes; long > longest.Load() {
					longest.Store(long)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d KiB at most after %d writes", longest.Load()>>10, writes.Load())
	require.Less(t, writes.Load(), int64(most), "the log grows with what is written")
}

// Any mix of callers that succeed, fail and panic leaves exactly what a plain map would hold.
func TestGroupCommitModel(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	model := make(map[int64]string)
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			ID   int64
			Text string
			How  int // 0 insert, 1 insert then fail, 2 insert then panic, 3 delete, 4 replace
		}
		// One id per caller: their order inside a batch is not defined.
		steps := rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) step {
			return step{rapid.Int64Range(0, 40).Draw(rt, "id"), rapid.StringN(0, 9, -1).Draw(rt, "text"), rapid.IntRange(0, 4).Draw(rt, "how")}
		}), 1, 12, func(st step) int64 { return st.ID }).Draw(rt, "steps")
		errs := make([]error, len(steps))
		var wg sync.WaitGroup
		for i, st := range steps {
			wg.Go(func() {
				errs[i] = s.Write(context.Background(), func(tx store.Tx) error {
					var err error
					text := fmt.Sprintf("%d %s", st.ID, st.Text)
					switch st.How {
					case 3:
						_, err = tx.Exec("DELETE FROM rows WHERE id = ?", st.ID)
					case 4:
						_, err = tx.Exec("INSERT INTO rows VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET text = excluded.text", st.ID, text)
					default:
						err = insert(st.ID, text)(tx)
					}
					switch {
					case st.How == 1:
						return errors.New("changed its mind")
					case st.How == 2:
						panic("boom")
					}
					return err
				})
			})
		}
		wg.Wait()
		for i, st := range steps {
			_, there := model[st.ID]
			fails := st.How == 1 || st.How == 2 || st.How == 0 && there
			require.Equal(rt, fails, errs[i] != nil, "%+v: %v", st, errs[i])
			switch {
			case fails:
			case st.How == 3:
				delete(model, st.ID)
			default:
				model[st.ID] = fmt.Sprintf("%d %s", st.ID, st.Text)
			}
		}
		require.Equal(rt, model, texts(rt, s))
	})
}

func texts(t require.TestingT, db store.DB) map[int64]string {
	out := make(map[int64]string)
	require.NoError(t, db.Read(context.Background(), func(r store.Reader) error {
		return store.Each(r, func(row store.Row) error {
			var id int64
			var text string
			err := row.Scan(&id, &text)
			out[id] = text
			return err
		}, "SELECT id, text FROM rows")
	}))
	return out
}

// The log is not emptied under a reader, whose snapshot needs it.
func TestTruncateWaitsForAReader(t *testing.T) {
	s := storetest.Open(t, rowsStep)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		var n int
		require.NoError(t, r.QueryRow("SELECT count(*) FROM rows").Scan(&n))
		require.NoError(t, s.Write(t.Context(), insert(2, "two")))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, s.Truncate(ctx), store.ErrBusy)
		return nil
	}))
	require.NoError(t, s.Truncate(t.Context()))
	require.Equal(t, []int64{1, 2}, ids(t, s))
}
