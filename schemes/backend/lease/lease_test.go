package lease_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend/lease"
	"posagent/schemes/backend/room/roomtest"
	"posagent/store"
)

const (
	every = 10 * time.Millisecond
	after = 6 * time.Second // far beyond what a busy machine holds a count up for
	quick = 150 * time.Millisecond
)

// gate is a store that can stop answering.
type gate struct {
	store.DB
	shut atomic.Bool
}

var errGone = errors.New("the database does not answer")

func (g *gate) Write(ctx context.Context, fn func(store.Tx) error) error {
	if g.shut.Load() {
		return errGone
	}
	return g.DB.Write(ctx, fn)
}

// worker is one process.
type worker struct {
	db     gate
	works  atomic.Bool // on the task
	begun  atomic.Int64
	cancel context.CancelFunc
	ended  chan error
}

// crew is several processes over one database.
type crew struct {
	t    *testing.T
	db   store.Store
	now  atomic.Int64 // how many work at this moment
	most atomic.Int64
}

func newCrew(t *testing.T) *crew {
	c := &crew{t: t, db: roomtest.Open(t, filepath.Join(t.TempDir(), "b.db"), lease.Schema())}
	t.Cleanup(func() { require.NoError(t, c.db.Close()) })
	return c
}

func (c *crew) join(after time.Duration) *worker {
	w := &worker{ended: make(chan error, 1)}
	w.db.DB = c.db
	ctx, cancel := context.WithCancel(c.t.Context())
	w.cancel = cancel
	go func() {
		w.ended <- lease.Run(ctx, lease.Options{DB: &w.db, Every: every, After: after}, lease.Task{Name: "task", Work: func(ctx context.Context) error {
			n := c.now.Add(1)
			for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
			}
			w.begun.Add(1)
			w.works.Store(true)
			<-ctx.Done()
			w.works.Store(false)
			c.now.Add(-1)
			return ctx.Err()
		}})
	}()
	return w
}

// leave ends a process as it ends by itself.
func (c *crew) leave(w *worker) {
	c.t.Helper()
	w.cancel()
	require.ErrorIs(c.t, <-w.ended, context.Canceled)
}

func (c *crew) eventually(what string, ok func() bool) {
	c.t.Helper()
	need.Until(c.t, what, ok)
}

// Of several processes one works. Where it ends, another one goes on, long before its lease has run out.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	var crew []*worker
	for range 4 {
		crew = append(crew, c.join(time.Hour))
	}
	for len(crew) > 0 {
		var at int
		c.eventually("one of four to work", func() bool {
			for i, w := range crew {
				if w.works.Load() {
					at = i
					return true
				}
			}
			return false
		})
		c.leave(crew[at])
		crew = append(crew[:at], crew[at+1:]...)
	}
	require.EqualValues(t, 1, c.most.Load())
}

// A process that loses the database stops before another one begins, and begins again only when it is its turn.
func TestAHolderThatLosesTheDatabase(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	first := c.join(after)
	c.eventually("the first to work", first.works.Load)
	second := c.join(after)
	c.eventually("one row", func() bool { return rows(t, c.db) == 1 })
	first.db.shut.Store(true)
	c.eventually("the second to work", second.works.Load)
	require.EqualValues(t, 1, c.most.Load(), "both worked at once")
	require.False(t, first.works.Load())

	first.db.shut.Store(false)
	c.leave(second)
	c.eventually("the first to work", first.works.Load)
	require.GreaterOrEqual(t, first.begun.Load(), int64(2))
	c.leave(first)
	require.EqualValues(t, 1, c.most.Load())
	require.Zero(t, rows(t, c.db))
}

// A lease whose holder is gone without a word is taken when it has stood still.
func TestAHolderThatIsGone(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	require.NoError(t, c.db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO lease_task (name, holder, beat) VALUES ('task', 'gone', 7)`)
		return err
	}))
	w := c.join(quick)
	c.eventually("it to work", w.works.Load)
	c.leave(w)
}

// A task that gives up ends the process: an operator has to see it.
func TestATaskThatGivesUp(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	bad := errors.New("it cannot go on")
	err := lease.Run(t.Context(), lease.Options{DB: c.db, Every: every}, lease.Task{Name: "task", Work: func(context.Context) error { return bad }})
	require.ErrorIs(t, err, bad)
	require.Zero(t, rows(t, c.db))
}

func rows(t *testing.T, db store.DB) (n int) {
	t.Helper()
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error { return r.QueryRow(`SELECT count(*) FROM lease_task`).Scan(&n) }))
	return n
}
