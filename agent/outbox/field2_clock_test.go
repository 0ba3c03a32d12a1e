package outbox_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
)

// told is what authenticated replies have told since a start.
type told struct {
	none atomic.Bool
	off  atomic.Int64
}

func (w *told) time() (time.Time, bool) {
	return time.Now().Add(time.Duration(w.off.Load())), !w.none.Load()
}

// TestField2_M10TheUpperBoundOfAge: after another boot nobody knows how long the power was off until an
// authenticated reply tells the time. What was sent before is read until then and not sent again, and
// it is not in doubt either, whatever the wall clock says; then it ends by its true age. The members of
// the kind: a kind that reads and one that cannot, the same boot, a clock that was wrong in the run
// that sent, and what was first sent in this run.
func TestField2_M10TheUpperBoundOfAge(t *testing.T) {
	const ahead, day = 100 * 24 * time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		blind    bool          // the kind cannot read
		untold   bool          // no reply told the time in the run that sent
		sameBoot bool          // only the program starts again
		wall     time.Duration // of the run that sent
		off      time.Duration // how long nothing runs
		first    outbox.State  // before the time is told
		then     outbox.State
	}{
		"a second before":                     {off: 30 * time.Second, first: outbox.Sent, then: outbox.Done},
		"a second before, cannot read":        {blind: true, off: 30 * time.Second, first: outbox.Sent, then: outbox.Done},
		"two days before":                     {off: 2 * day, first: outbox.Sent, then: outbox.Doubt},
		"two days before, cannot read":        {blind: true, off: 2 * day, first: outbox.Sent, then: outbox.Doubt},
		"the same boot":                       {sameBoot: true, off: 30 * time.Second, first: outbox.Done, then: outbox.Done},
		"the same boot, two days":             {sameBoot: true, off: 2 * day, first: outbox.Doubt, then: outbox.Doubt},
		"the clock was wrong, and never told": {untold: true, wall: ahead, off: 30 * time.Second, first: outbox.Sent, then: outbox.Doubt},
	} {
		t.Run(name, func(t *testing.T) {
			b, w := &backend{}, &told{}
			away := outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: time.Second, Reason: "no answer"}
			b.mode = func(outbox.Op) outbox.Verdict { return away }
			k := b.kind("k")
			k.Asks = !c.blind
			bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
				r.stop()
				born := time.Now()
				r.opts.Trusted, r.opts.BootID = w.time, "one"
				r.opts.Boot = func() time.Duration { return time.Since(born) }
				w.none.Store(c.untold)
				r.wallOff.Store(int64(c.wall))
				n := newOp(k.Name, "a")
				r.open()
				r.accept(n)
				r.start()
				pass(10 * time.Second)
				require.Equal(t, outbox.Sent, r.get(n.Key).State)
				r.kill()
				pass(c.off)
				if !c.sameBoot {
					now := time.Now()
					r.opts.BootID, r.opts.Boot = "two", func() time.Duration { return time.Since(now) }
				}
				r.wallOff.Store(int64(ahead - c.wall))
				w.none.Store(true)
				b.set(func(op outbox.Op) outbox.Verdict {
					if op.ReadOnly {
						return outbox.Verdict{State: outbox.Doubt, Reason: "reading does not tell"}
					}
					return outbox.Verdict{}
				})
				before := b.count()
				r.start()
				pass(10 * time.Minute)
				require.Equal(t, c.first, r.get(n.Key).State)
				if c.first == outbox.Sent {
					require.Empty(t, b.effects, "not sent again")
					for _, op := range b.calls[before:] {
						require.True(t, op.ReadOnly)
					}
					require.Equal(t, c.blind, b.count() == before)
				}
				w.none.Store(false)
				pass(time.Minute)
				require.Equal(t, c.then, r.get(n.Key).State)
				require.Equal(t, c.then == outbox.Done, len(b.effects) == 1)

				late := newOp(k.Name, "late") // the age of the others is no age of its
				r.accept(late)
				r.o.Wake()
				pass(time.Minute)
				require.Equal(t, outbox.Done, r.get(late.Key).State)
			})
		})
	}
}

// What was first sent in this run, before the time was told, is as old as it is: the gap before the run
// is none of its age.
func TestField2_M10AGapIsNoAgeOfWhatCameAfterIt(t *testing.T) {
	b, w := &backend{}, &told{}
	k := b.kind("k")
	bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
		r.stop()
		r.opts.Trusted, r.opts.BootID = w.time, "one"
		r.open()
		r.accept(newOp(k.Name, "first"))
		r.start()
		pass(time.Minute)
		r.stop()
		pass(50 * time.Hour)
		r.opts.BootID = "two"
		w.none.Store(true)
		b.set(func(op outbox.Op) outbox.Verdict {
			return outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: time.Minute, Reason: "no answer"}
		})
		r.start()
		pass(10 * time.Second)
		n := newOp(k.Name, "b")
		r.accept(n)
		r.o.Wake()
		pass(time.Second)
		require.Equal(t, outbox.Sent, r.get(n.Key).State)
		w.none.Store(false)
		b.set(nil)
		pass(2 * time.Minute)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
	})
}
