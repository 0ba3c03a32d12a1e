package outbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// reader is a kind that reads before its backend's first send.
func (b *backend) reader(look func(op outbox.Op) outbox.Verdict) outbox.Kind {
	k := b.kind("k")
	k.Reads = true
	k.Send = func(ctx context.Context, op outbox.Op) outbox.Verdict {
		if op.State == outbox.Pending && op.Memo == nil {
			return look(op)
		}
		return b.send(ctx, op)
	}
	return k
}

// What is read before the first send is durable with SENT, in one commit, and comes with the send; of a lost reply nothing is read again.
func TestWhatIsReadFirstIsStoredWithSent(t *testing.T) {
	b := &backend{}
	looks := 0
	var r *rig
	k := b.reader(func(op outbox.Op) outbox.Verdict {
		looks++
		require.Equal(t, outbox.Pending, op.State)
		at := r.get(op.Key)
		require.Equal(t, outbox.Pending, at.State, "nothing has left")
		require.Zero(t, at.Attempts)
		return outbox.Verdict{State: outbox.Pending, Reach: outbox.Reached, Memo: []byte("as it was")}
	})
	b.mode = func(op outbox.Op) outbox.Verdict {
		at := r.get(op.Key)
		require.Equal(t, outbox.Sent, at.State)
		require.Equal(t, "as it was", string(at.Memo), "durable before it leaves")
		if op.Attempts == 1 {
			return lost(op)
		}
		return outbox.Verdict{}
	}
	bubble(t, []outbox.Kind{k}, func(t *testing.T, rr *rig) {
		r = rr
		n := newOp("k", "a")
		r.accept(n)
		r.start()
		pass(time.Minute)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Equal(t, 1, looks)
		require.Equal(t, []int{1, 2}, []int{b.calls[0].Attempts, b.calls[1].Attempts}, "the reading is no attempt of its own")
		for _, op := range b.calls {
			require.Equal(t, "as it was", string(op.Memo))
		}
	})
}

// The power fails during the reading, again and again: the operation was never sent, and says so.
func TestPowerCutWhileItIsRead(t *testing.T) {
	b := &backend{}
	cuts := 0
	var r *rig
	k := b.reader(func(outbox.Op) outbox.Verdict {
		if cuts++; cuts <= 3 {
			r.db.dead.Store(true)
		}
		return outbox.Verdict{State: outbox.Pending, Reach: outbox.Reached, Memo: []byte("m")}
	})
	bubble(t, []outbox.Kind{k}, func(t *testing.T, rr *rig) {
		r = rr
		n := newOp("k", "a")
		r.accept(n)
		for range 3 {
			r.start()
			pass(2 * time.Second)
			r.kill()
			r.open()
			require.Equal(t, outbox.Pending, r.get(n.Key).State)
		}
		require.Empty(t, b.calls)
		r.start()
		pass(time.Minute)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Len(t, b.calls, 1)
		require.Equal(t, outbox.Pending, b.calls[0].State)
	})
}

// However a reading fails, nothing has left: the operation is never in doubt, and never taken for sent.
func TestAReadingThatFailsProvesNothing(t *testing.T) {
	for name, fails := range map[string]func(outbox.Op) outbox.Verdict{
		"no answer":    func(op outbox.Op) outbox.Verdict { return lost(op) },
		"nobody there": func(op outbox.Op) outbox.Verdict { return unreachable(op) },
		"too many": func(op outbox.Op) outbox.Verdict {
			return outbox.FromError(op, outbox.Compare, wire.Errorf(wire.TooMany, "t", "429"))
		},
		"its own 500": func(op outbox.Op) outbox.Verdict {
			return outbox.FromError(op, outbox.Compare, wire.Errorf(wire.Internal, "t", "500"))
		},
		"key reused": func(op outbox.Op) outbox.Verdict {
			return outbox.FromError(op, outbox.Compare, wire.Errorf(wire.KeyReused, "t", "422"))
		},
		"panic": func(op outbox.Op) outbox.Verdict {
			if op.Attempts < 3 {
				panic("no")
			}
			return lost(op)
		},
		"nonsense": func(outbox.Op) outbox.Verdict { return outbox.Verdict{State: "?"} },
	} {
		t.Run(name, func(t *testing.T) {
			b := &backend{}
			var up atomic.Bool
			k := b.reader(func(op outbox.Op) outbox.Verdict {
				if !up.Load() {
					return fails(op)
				}
				return outbox.Verdict{State: outbox.Pending, Reach: outbox.Reached, Memo: []byte("m")}
			})
			k.MaxAge = 2 * time.Hour
			bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
				n, old := newOp("k", "a"), newOp("k", "b")
				r.accept(n)
				r.start()
				pass(90 * time.Minute)
				op := r.get(n.Key)
				require.Equal(t, outbox.Pending, op.State, op.Reason)
				require.Greater(t, op.Attempts, 1, "and it is asked again")
				require.Empty(t, b.calls)
				r.accept(old)
				pass(time.Hour)
				require.Equal(t, outbox.Expired, r.get(n.Key).State, "it was never sent")
				up.Store(true)
				pass(10 * time.Minute)
				require.Equal(t, outbox.Done, r.get(old.Key).State)
				require.Len(t, b.calls, 1)
			})
		})
	}
}

// A refusal of the reading is the backend's final no; one that is held goes on unsent; one that is withdrawn meanwhile never leaves.
func TestEndsOfAReading(t *testing.T) {
	b := &backend{}
	verdicts := make(chan outbox.Verdict)
	k := b.reader(func(outbox.Op) outbox.Verdict { return <-verdicts })
	bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
		verdicts = make(chan outbox.Verdict)
		seen := outbox.Verdict{State: outbox.Pending, Reach: outbox.Reached, Memo: []byte("m")}
		r.start()
		put := func() outbox.New {
			n := newOp("k", string(wire.NewKey()))
			r.accept(n)
			pass(time.Second)
			return n
		}
		n := put()
		verdicts <- outbox.Verdict{State: outbox.Failed, Reason: "no such thing"}
		pass(time.Second)
		require.Equal(t, outbox.Failed, r.get(n.Key).State)

		n = put()
		verdicts <- outbox.Verdict{State: outbox.Held, Reason: "not readable"}
		pass(time.Second)
		require.Equal(t, outbox.Held, r.get(n.Key).State)
		require.NoError(t, r.o.Release(t.Context(), n.Key))
		require.Equal(t, outbox.Pending, r.get(n.Key).State)
		pass(time.Second)
		require.NoError(t, r.o.Hold(t.Context(), n.Key, "stop"))
		verdicts <- seen
		pass(time.Minute)
		require.Equal(t, outbox.Held, r.get(n.Key).State)
		require.Empty(t, b.calls, "held before it left")
		require.NoError(t, r.o.Release(t.Context(), n.Key))
		pass(time.Second)
		require.NoError(t, r.o.Withdraw(t.Context(), n.Key, []byte("{}"), "nobody waits"))
		verdicts <- seen
		pass(time.Minute)
		require.Equal(t, outbox.Expired, r.get(n.Key).State)
		require.Equal(t, []string{"EXPIRED"}, r.settled(n.Key))
		require.Empty(t, b.calls)

		n = put()
		verdicts <- seen
		pass(time.Minute)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
	})
}

// A sender gives up only what was never sent; what is behind it goes with it where it has to.
func TestGivenUpUnsent(t *testing.T) {
	b := &backend{}
	gone := outbox.Verdict{State: outbox.Expired, Result: []byte(`{"withdrawn":true}`), Reason: "never sent"}
	unsent, behind, sent := newOp("create", "a"), newOp("k", "a"), newOp("k", "b")
	b.mode = func(op outbox.Op) outbox.Verdict {
		if op.Key == sent.Key && op.Attempts == 1 {
			return lost(op)
		}
		return gone
	}
	create := b.kind("create")
	create.Breaks = true
	bubble(t, []outbox.Kind{create, b.kind("k")}, func(t *testing.T, r *rig) {
		r.accept(unsent, behind, sent)
		r.start()
		pass(time.Hour)
		require.Equal(t, outbox.Expired, r.get(unsent.Key).State)
		require.Equal(t, gone.Result, r.get(unsent.Key).Result)
		require.Equal(t, outbox.Failed, r.get(behind.Key).State, "what was behind it is not sent")
		require.Equal(t, outbox.Sent, r.get(sent.Key).State, "it may have had an effect")
	})
}
