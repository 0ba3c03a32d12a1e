package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
)

// What waits for a service that is away is not even looked for before the service's next probe, however much of it comes. When the
// service is back it goes.
func TestNothingIsLookedForWhileItsServiceIsAway(t *testing.T) {
	away := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{away.kind("k")}, func(t *testing.T, r *rig) {
		r.stop()
		r.opts.Jitter = func(d time.Duration) time.Duration { return d }
		r.open()
		r.start()
		r.accept(newOp("k", "a"))
		pass(31500 * time.Millisecond) // tried after 1, 2, 4, 8 and 16 s: not again for half a minute
		sent, looked := away.count(), r.db.reads.Load()
		for range 50 {
			r.accept(newOp("k", "b"))
			synctest.Wait()
		}
		require.Equal(t, looked, r.db.reads.Load())
		require.Equal(t, sent, away.count())
		away.set(nil)
		pass(time.Minute)
		require.Empty(t, r.list(outbox.Filter{Open: true}))
		require.Len(t, away.effects, 51)
	})
}

// An attempt ends while the schedule, read before, still says that the operation is due: it rests as its answer said.
func TestAnOldScheduleMakesNoAttempt(t *testing.T) {
	var sent atomic.Int32
	var answer, read chan struct{} // of the bubble
	kind := outbox.Kind{Name: "k", Replay: outbox.SameKey, Asks: true, Send: func(context.Context, outbox.Op) outbox.Verdict {
		if sent.Add(1) == 1 {
			<-answer
		}
		return outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: 2 * time.Second, Reason: "running"}
	}}
	bubble(t, []outbox.Kind{kind}, func(t *testing.T, r *rig) {
		answer, read = make(chan struct{}), make(chan struct{})
		r.start()
		r.accept(newOp("k", "a"))
		synctest.Wait()
		require.EqualValues(t, 1, sent.Load())
		seen := func() { <-read }
		r.db.seen.Store(&seen)
		r.o.Wake()
		synctest.Wait() // the schedule is read, and says that it is due
		close(answer)
		synctest.Wait() // the attempt has ended
		r.db.seen.Store(nil)
		close(read)
		pass(1900 * time.Millisecond)
		require.EqualValues(t, 1, sent.Load())
		pass(200 * time.Millisecond)
		require.EqualValues(t, 2, sent.Load())
	})
}
