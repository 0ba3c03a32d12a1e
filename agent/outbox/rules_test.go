package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
)

func TestPayloadsAreSealed(t *testing.T) {
	b := &backend{mode: func(op outbox.Op) outbox.Verdict {
		v := unreachable(op)
		v.Memo = []byte("memo of " + op.Aggregate)
		return v
	}}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		n := newOp("k", "a")
		r.accept(n)
		pass(time.Second)
		require.NotZero(t, b.count())
		require.Equal(t, "pay a", string(r.get(n.Key).Payload))
		require.Equal(t, "memo of a", string(r.get(n.Key).Memo))
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error {
			var payload, memo []byte
			require.NoError(t, rd.QueryRow(`SELECT payload, memo FROM outbox_ops`).Scan(&payload, &memo))
			require.NotEmpty(t, payload)
			require.NotContains(t, string(payload), "pay a")
			require.NotEmpty(t, memo)
			require.NotContains(t, string(memo), "memo of a")
			return nil
		}))
	})
}

// MONEY B.12: age is running time; the wall clock may jump as it likes.
func TestAWallClockThatJumpsExpiresNothing(t *testing.T) {
	for _, jump := range []time.Duration{10 * 365 * 24 * time.Hour, -10 * 365 * 24 * time.Hour} {
		b := &backend{mode: unreachable}
		k := b.kind("k")
		k.MaxAge = time.Hour
		bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
			n := newOp("k", "a")
			r.accept(n)
			r.start()
			pass(10 * time.Minute)
			r.wallOff.Store(int64(jump))
			pass(45 * time.Minute)
			require.Equal(t, outbox.Pending, r.get(n.Key).State)
			pass(10 * time.Minute)
			require.Equal(t, outbox.Expired, r.get(n.Key).State)
		})
	}
}
