package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
)

// TestField4_GatewayG10AnUntoldClockBoundsNoAge: no reply told the time in the run that sent, and its wall
// clock was some hours ahead, as one that keeps local time. The terminal stood for more than a day. The
// time that was told then made the gap smaller by those hours, and what the backend had forgotten was sent
// again, and had its effect twice. A wall clock that nothing has confirmed bounds no age from above (MONEY
// B.12): what was sent then is old. It is a member of TestField2_M10TheUpperBoundOfAge, whose clock is wrong
// by more than the gap; the others: ahead by less, behind, and right, which nobody can know.
func TestField4_GatewayG10AnUntoldClockBoundsNoAge(t *testing.T) {
	for _, wall := range []time.Duration{5 * time.Hour, 0, -5 * time.Hour} {
		t.Run(wall.String(), func(t *testing.T) {
			b, w := &backend{}, &told{}
			b.mode = func(outbox.Op) outbox.Verdict {
				return outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: time.Second, Reason: "no answer"}
			}
			k := b.kind("k")
			bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
				r.stop()
				born := time.Now()
				r.opts.Trusted, r.opts.BootID = w.time, "one"
				r.opts.Boot = func() time.Duration { return time.Since(born) }
				w.none.Store(true)
				r.wallOff.Store(int64(wall))
				n := newOp(k.Name, "a")
				r.open()
				r.accept(n)
				r.start()
				pass(10 * time.Second)
				require.Equal(t, outbox.Sent, r.get(n.Key).State)
				r.kill()
				pass(26 * time.Hour)
				now := time.Now()
				r.opts.BootID, r.opts.Boot = "two", func() time.Duration { return time.Since(now) }
				r.wallOff.Store(int64(-wall))
				w.none.Store(false)
				b.set(func(outbox.Op) outbox.Verdict { return outbox.Verdict{} })
				r.start()
				pass(10 * time.Minute)
				require.Equal(t, outbox.Doubt, r.get(n.Key).State)
				require.Empty(t, b.effects, "not sent again")
			})
		})
	}
}
