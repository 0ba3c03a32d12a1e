package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
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
		sending(t, k, func(t *testing.T, r *rig, n outbox.New) {
			pass(10 * time.Minute)
			r.wallOff.Store(int64(jump))
			pass(45 * time.Minute)
			require.Equal(t, outbox.Pending, r.get(n.Key).State)
			pass(10 * time.Minute)
			require.Equal(t, outbox.Expired, r.get(n.Key).State)
		})
	}
}

// A sender's error names the path it asked for, and a technician types what he likes: neither leaves a card number in a reason.
func TestNoReasonHoldsACardNumber(t *testing.T) {
	const pan, masked = "4111111111111111", "411111******1111"
	b := &backend{mode: func(op outbox.Op) outbox.Verdict {
		state := outbox.Pending
		if op.Aggregate == "b" {
			state = outbox.Doubt
		}
		return outbox.Verdict{State: state, Reason: `Post "http://a/payments/` + pan + `/Capture": refused`}
	}}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		masks := func(key wire.Key) {
			t.Helper()
			require.Contains(t, r.get(key).Reason, masked)
			require.NotContains(t, r.get(key).Reason, pan)
		}
		waits, decided := newOp("k", "a"), newOp("k", "b")
		r.start()
		r.accept(waits)
		pass(time.Second)
		masks(waits.Key)
		require.Contains(t, r.o.Services()[0].Reason, masked)
		require.NotContains(t, r.o.Services()[0].Reason, pan)
		require.NoError(t, r.o.Hold(t.Context(), waits.Key, "asked by "+pan))
		masks(waits.Key)
		require.NoError(t, r.o.Release(t.Context(), waits.Key))
		held, err := r.o.HoldEach(t.Context(), "all of "+pan)
		require.NoError(t, err)
		require.Equal(t, 1, held)
		masks(waits.Key)
		r.accept(decided)
		pass(time.Minute)
		masks(decided.Key)
		require.NoError(t, r.o.Resolve(t.Context(), decided.Key, outbox.Done, "the slip says "+pan))
		masks(decided.Key)
	})
}
