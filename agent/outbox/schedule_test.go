package outbox_test

import (
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
