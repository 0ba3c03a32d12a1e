package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
)

// What is accepted for a service that is away wakes no one, though other services are there. It goes with the service's next probe, or
// at once where that is due.
func TestAcceptedForAServiceThatIsAway(t *testing.T) {
	away, there := &backend{mode: unreachable}, &backend{}
	kind := away.kind("k")
	kind.Service = "away"
	bubble(t, []outbox.Kind{kind, there.kind("other")}, func(t *testing.T, r *rig) {
		r.stop()
		r.opts.Jitter = func(d time.Duration) time.Duration { return d }
		r.open()
		r.start()
		accept := func(n outbox.New) {
			require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error { return r.o.Accept(tx, n) }))
			r.o.Accepted("away")
			synctest.Wait()
		}
		first := newOp("k", "a")
		accept(first)
		require.Equal(t, 1, away.count(), "the service is not known to be away")
		pass(31500 * time.Millisecond) // not again for half a minute
		sent, looked := away.count(), r.db.reads.Load()
		for range 50 {
			accept(newOp("k", "b"))
		}
		require.Equal(t, looked, r.db.reads.Load())
		require.Equal(t, sent, away.count())
		away.set(nil)
		pass(time.Minute)
		require.Empty(t, r.list(outbox.Filter{Open: true, Limit: 1}))

		away.set(unreachable)
		last := newOp("k", "c")
		accept(last)
		pass(time.Second / 2)
		require.NoError(t, r.o.Hold(t.Context(), last.Key, "t"))
		away.set(nil)
		pass(10*time.Minute + 20*time.Second) // the time of the probe goes by with nothing to send
		accept(newOp("k", "d"))
		pass(2 * time.Second)
		require.Len(t, r.list(outbox.Filter{Open: true}), 1, "what is held")
	})
}

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
