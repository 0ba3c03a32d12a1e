package drive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// closed is what one register was told of the end of day.
type closed struct {
	totals ecr.Totals
	err    error
	after  time.Duration
}

// closing asks for the end of day for a register that waits so long, 0 = as long as it takes.
func (r *rig) closing(patience time.Duration) <-chan closed {
	told, start := make(chan closed, 1), time.Now()
	go func() {
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if patience > 0 {
			ctx, cancel = context.WithTimeout(ctx, patience)
		}
		defer cancel()
		var c closed
		c.totals, c.err = r.Close(ctx)
		c.after = time.Since(start)
		told <- c
	}()
	synctest.Wait()
	return told
}

// A register is told "not closed" of a day that stays open, and of no other. The kind: an end of day
// that takes longer than its register waits, one that another register asks for meanwhile, with more
// patience and with less, one whose commit hangs, and one that cannot be written.
func TestField2_M30NotClosedIsToldOfAnOpenDayAlone(t *testing.T) {
	stuck := func(r *rig) {
		r.approved(1000)
		r.unconfirmed(500)
		r.world.lock(func() { r.world.offline = true })
	}
	mend := func(r *rig) {
		r.world.lock(func() { r.world.offline = false })
		pass(15 * time.Minute)
	}
	t.Run("slow", func(t *testing.T) {
		terminal(t, func(r *rig) {
			stuck(r)
			told := <-r.closing(16 * time.Second)
			refused(t, told.err, ecr.EODImpossible)
			require.Equal(t, 16*time.Second, told.after, "within the register's patience")
			mend(r)
			require.Equal(t, 1, r.batch(), "told not closed")
			told = <-r.closing(16 * time.Second)
			require.NoError(t, told.err)
			require.EqualValues(t, []any{1, 1, minor(1000)}, []any{told.totals.Batch, told.totals.Count, told.totals.Net})
		})
	})
	for name, wait := range map[string]struct{ second, first, other time.Duration }{
		"another waits longer": {0, 16 * time.Second, 15 * time.Second}, "another waits less": {5 * time.Second, 6 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				stuck(r)
				one := r.closing(16 * time.Second)
				pass(time.Second)
				two := r.closing(wait.second)
				first, other := <-one, <-two
				refused(t, first.err, ecr.EODImpossible)
				refused(t, other.err, ecr.EODImpossible)
				require.Equal(t, []time.Duration{wait.first, wait.other}, []time.Duration{first.after, other.after}, "of the one with the least patience")
				mend(r)
				require.Equal(t, 1, r.batch())

				r.unconfirmed(200)
				r.world.lock(func() { r.world.offline = true })
				one = r.closing(0)
				pass(time.Second)
				two = r.closing(0)
				r.world.lock(func() { r.world.offline = false })
				first, other = <-one, <-two
				require.NoError(t, first.err)
				require.NoError(t, other.err)
				require.Equal(t, first.totals, other.totals, "one day, closed once")
				require.Equal(t, 2, r.batch())
			})
		})
	}
	t.Run("the journal hangs", func(t *testing.T) {
		for write := range 2 { // what settles the open sales, and what closes
			for _, patience := range []time.Duration{0, 5 * time.Second} {
				terminal(t, func(r *rig) {
					r.approved(1000)
					free := make(chan struct{})
					r.guard.nth(write, func() { <-free })
					one, two := r.closing(patience), r.closing(patience)
					pass(time.Minute)
					require.Empty(t, one, "what it comes to is not known")
					require.Empty(t, two)
					close(free)
					for _, told := range []closed{<-one, <-two} {
						require.Equal(t, patience == 0, told.err == nil)
						require.Equal(t, told.err == nil, r.batch() == 2)
					}
				})
			}
		}
	})
	t.Run("not written", func(t *testing.T) {
		for write := range 2 {
			terminal(t, func(r *rig) {
				r.approved(1000)
				r.guard.nth(write, nil)
				refused(t, (<-r.closing(0)).err, ecr.NotStored)
				require.Equal(t, 1, r.batch())
				told := <-r.closing(0)
				require.NoError(t, told.err)
				require.EqualValues(t, 1000, told.totals.Net)
			})
		}
	})
}

// nth lets the write after n others wait for do; nil = it is not written.
func (g *guard) nth(n int, do func()) {
	next := func() { g.nth(n-1, do) }
	if n == 0 {
		if next = do; do == nil {
			g.fail(1)
			return
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.before = next
}
