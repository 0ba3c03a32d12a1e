package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

func TestAcceptOnceByKey(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k"), b.kind("other")}, func(t *testing.T, r *rig) {
		n := newOp("k", "a")
		r.accept(n)
		r.accept(n)
		require.Len(t, r.list(outbox.Filter{}), 1)
		for name, change := range map[string]func(*outbox.New){
			"payload":   func(n *outbox.New) { n.Payload = []byte("x") },
			"amount":    func(n *outbox.New) { n.AmountMin++ },
			"currency":  func(n *outbox.New) { n.Currency = "SEK" },
			"kind":      func(n *outbox.New) { n.Kind = "other" },
			"aggregate": func(n *outbox.New) { n.Aggregate = "b" },
		} {
			other := n
			change(&other)
			err := r.db.Write(t.Context(), func(tx store.Tx) error { return r.o.Accept(tx, other) })
			require.ErrorIs(t, err, &wire.Error{Code: wire.KeyReused}, name)
		}
		for _, bad := range []outbox.New{{}, {Key: "k", Kind: "none", Aggregate: "a"}, {Key: "k", Kind: "k"}, {Key: "a b", Kind: "k", Aggregate: "a"}} {
			require.Error(t, r.db.Write(t.Context(), func(tx store.Tx) error { return r.o.Accept(tx, bad) }))
		}

		// Still the same operation when it is finished and its payload's key is gone.
		r.start()
		pass(time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		r.accept(n)
		pass(time.Second)
		require.Len(t, b.calls, 1)
	})
}

func TestAcceptIsPartOfTheCallersCommit(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		n := newOp("k", "a")
		boom := errors.New("boom")
		require.ErrorIs(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			if err := r.o.Accept(tx, n); err != nil {
				return err
			}
			return boom
		}), boom)
		r.o.Wake()
		pass(time.Hour)
		require.Zero(t, b.count())
		require.ErrorIs(t, r.db.Read(t.Context(), func(rd store.Reader) error { _, err := r.o.Get(rd, n.Key); return err }), outbox.ErrUnknown)
	})
}

func TestOrderWithinParallelAcross(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k"), b.kind("l")}, func(t *testing.T, r *rig) {
		want := map[string][]wire.Key{}
		var ops []outbox.New
		for i := range 5 {
			for a := range 8 {
				n := newOp([]string{"k", "l"}[i%2], fmt.Sprint(a))
				ops = append(ops, n)
				want[n.Aggregate] = append(want[n.Aggregate], n.Key)
			}
		}
		r.accept(ops...)
		r.start()
		pass(5 * time.Second)
		got := map[string][]wire.Key{}
		for _, op := range b.calls {
			got[op.Aggregate] = append(got[op.Aggregate], op.Key)
		}
		require.Equal(t, want, got)
		require.False(t, b.overlap, "two senders in one aggregate")
		require.Equal(t, 4, b.most)
	})
}

func TestAMarkIsOnlyAMark(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		var want []wire.Key
		for range 5 {
			n := newOp("k", "a")
			r.accept(n)
			want = append(want, n.Key)
		}
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE outbox_ops SET ready = 1`)
			return err
		}))
		r.start()
		pass(5 * time.Second)
		require.False(t, b.overlap)
		require.Equal(t, want, b.effects)
	})
}

func TestNextWaitsForFinal(t *testing.T) {
	b := &backend{}
	first, second := newOp("k", "a"), newOp("k", "a")
	b.mode = func(op outbox.Op) outbox.Verdict {
		if op.Key == first.Key && op.Attempts < 5 {
			return outbox.Verdict{State: outbox.Sent, After: 2 * time.Second, Memo: fmt.Append(nil, op.Attempts), Reason: "running"}
		}
		return outbox.Verdict{}
	}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		r.accept(first, second)
		pass(5 * time.Second)
		require.Equal(t, outbox.Sent, r.get(first.Key).State)
		require.Equal(t, outbox.Pending, r.get(second.Key).State)
		require.Equal(t, "3", string(r.get(first.Key).Memo))
		pass(5 * time.Second)
		require.Equal(t, []wire.Key{first.Key, second.Key}, b.effects)
		require.Equal(t, "4", string(b.calls[4].Memo), "the sender gets its memo back")
		require.Equal(t, "pay a", string(b.calls[0].Payload))
	})
}

func TestSentIsDurableBeforeTheFirstByte(t *testing.T) {
	var r *rig
	var seen outbox.Op
	k := outbox.Kind{Name: "k", Send: func(_ context.Context, op outbox.Op) outbox.Verdict {
		seen = r.get(op.Key)
		require.Equal(r.t, outbox.Pending, op.State, "no earlier attempt can have had an effect")
		return outbox.Verdict{State: outbox.Done}
	}}
	bubble(t, []outbox.Kind{k}, func(t *testing.T, rr *rig) {
		r = rr
		n := newOp("k", "a")
		r.accept(n)
		r.start()
		pass(time.Second)
		require.Equal(t, outbox.Sent, seen.State)
		require.Equal(t, 1, seen.Attempts)
	})
}

func TestCrashBetweenSendAndSettle(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		n := newOp("k", "a")
		b.mode = func(outbox.Op) outbox.Verdict { r.db.dead.Store(true); return outbox.Verdict{} }
		r.accept(n)
		r.start()
		pass(time.Second)
		require.Equal(t, []wire.Key{n.Key}, b.effects)
		r.kill()

		b.mode = nil
		r.start()
		require.Equal(t, outbox.Sent, r.get(n.Key).State)
		require.Empty(t, r.settled(n.Key))
		pass(5 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Equal(t, []string{"DONE"}, r.settled(n.Key))
		require.Equal(t, []wire.Key{n.Key}, b.effects, "one effect")
		require.Len(t, b.calls, 2)
		require.Equal(t, outbox.Sent, b.calls[1].State)
	})
}

func TestDiskFullAtSettleDoesNotSendAgain(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		n := newOp("k", "a")
		b.mode = func(outbox.Op) outbox.Verdict { r.db.dead.Store(true); return outbox.Verdict{} }
		r.accept(n)
		r.start()
		pass(10 * time.Minute)
		r.db.dead.Store(false)
		pass(30 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Len(t, b.calls, 1)
	})
}

func TestLostReplyIsSentAgainUnderTheSameKey(t *testing.T) {
	b := &backend{}
	b.mode = func(op outbox.Op) outbox.Verdict {
		if op.Attempts == 1 {
			b.effect(op.Key)
			return lost(op)
		}
		return outbox.Verdict{}
	}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		n := newOp("k", "a")
		r.accept(n)
		pass(5 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Equal(t, []wire.Key{n.Key}, b.effects)
		require.Len(t, b.calls, 2)
		require.Equal(t, b.calls[0].Key, b.calls[1].Key)
	})
}

func TestFromError(t *testing.T) {
	fresh, sent := outbox.Op{State: outbox.Pending}, outbox.Op{State: outbox.Sent}
	for _, tc := range []struct {
		code   wire.Code
		op     outbox.Op
		replay outbox.Replay
		state  outbox.State
		reach  outbox.Reach
	}{
		{wire.Invalid, fresh, outbox.SameKey, outbox.Failed, outbox.Reached},
		{wire.Invalid, sent, outbox.SameKey, outbox.Failed, outbox.Reached},
		{wire.Invalid, sent, outbox.Compare, outbox.Doubt, outbox.Reached},
		{wire.Invalid, fresh, outbox.Compare, outbox.Failed, outbox.Reached},
		{wire.Conflict, sent, outbox.Never, outbox.Doubt, outbox.Reached},
		{wire.NotFound, fresh, outbox.SameKey, outbox.Failed, outbox.Reached},
		{wire.TooLarge, fresh, outbox.SameKey, outbox.Failed, outbox.Reached},
		{wire.KeyReused, fresh, outbox.SameKey, outbox.Doubt, outbox.Reached},
		{wire.Unauthorized, sent, outbox.SameKey, outbox.Pending, outbox.Refused},
		{wire.Forbidden, sent, outbox.SameKey, outbox.Pending, outbox.Refused},
		{wire.TooMany, fresh, outbox.SameKey, outbox.Sent, outbox.Unreachable},
		{wire.Unavailable, fresh, outbox.SameKey, outbox.Pending, outbox.Unreachable},
		{wire.UnknownOutcome, fresh, outbox.SameKey, outbox.Sent, outbox.Unreachable},
		{wire.Internal, fresh, outbox.SameKey, outbox.Sent, outbox.Reached},
		{"some_new_code", fresh, outbox.SameKey, outbox.Sent, ""},
	} {
		v := outbox.FromError(tc.op, tc.replay, &wire.Error{Code: tc.code, Op: "t", RetryAfter: time.Minute})
		require.Equal(t, tc.state, v.State, tc.code)
		require.Equal(t, tc.reach, v.Reach, tc.code)
		require.NotEmpty(t, v.Reason)
	}
	for _, op := range []outbox.Op{fresh, sent} { // a service that is busy with the Key is not away
		for asked, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Second: 5 * time.Second, time.Minute: time.Minute} {
			v := outbox.FromError(op, outbox.SameKey, &wire.Error{Code: wire.KeyReused, MayRun: true, RetryAfter: asked})
			require.Equal(t, outbox.Sent, v.State)
			require.Equal(t, outbox.Reached, v.Reach)
			require.Equal(t, want, v.After)
		}
	}
	require.Equal(t, outbox.Sent, outbox.FromError(fresh, outbox.SameKey, errors.New("what")).State)
	require.Equal(t, time.Minute, outbox.FromError(fresh, outbox.SameKey, &wire.Error{Code: wire.TooMany, RetryAfter: time.Minute}).After)
}

func TestUnsentStaysPendingSentNeverGoesBack(t *testing.T) {
	b := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		n := newOp("k", "a")
		r.accept(n)
		pass(10 * time.Second)
		require.Equal(t, outbox.Pending, r.get(n.Key).State)
		b.set(lost)
		pass(time.Minute)
		require.Equal(t, outbox.Sent, r.get(n.Key).State)
		b.set(unreachable)
		pass(10 * time.Minute)
		require.Equal(t, outbox.Sent, r.get(n.Key).State, "it may have been carried out")
	})
}

// TestOutageIsProbedNotStormed is the storm of a backend that comes back, and the hot loop of one that does not.
func TestOutageIsProbedNotStormed(t *testing.T) {
	for name, tc := range map[string]struct {
		answer wire.Code
		probe  bool
		most   int // sends in an hour
		drain  time.Duration
	}{
		"no connection":             {wire.Unavailable, false, 25, 6 * time.Minute},
		"no reply":                  {wire.UnknownOutcome, false, 25, 6 * time.Minute},
		"too many":                  {wire.TooMany, false, 25, 6 * time.Minute},
		"no connection, with probe": {wire.Unavailable, true, 3, 40 * time.Second},
		"401":                       {wire.Unauthorized, false, 25, 6 * time.Minute},
		"403 with probe":            {wire.Forbidden, true, 400, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := &backend{}
			var down atomic.Bool
			down.Store(true)
			b.mode = func(op outbox.Op) outbox.Verdict {
				return outbox.FromError(op, outbox.SameKey, wire.Errorf(tc.answer, "t", "down"))
			}
			var probes atomic.Int32
			bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
				r.stop()
				if tc.probe {
					r.opts.Probe = func(context.Context, string) error {
						probes.Add(1)
						if down.Load() {
							return errors.New("unplugged")
						}
						return nil
					}
				}
				r.open()
				r.start()
				var ops []outbox.New
				for i := range 100 {
					ops = append(ops, newOp("k", fmt.Sprint(i)))
				}
				r.accept(ops...)
				pass(time.Second) // a first burst of at most the pool
				before := b.count()
				require.LessOrEqual(t, before, 5)
				pass(time.Hour)
				require.LessOrEqual(t, b.count()-before, tc.most)
				require.LessOrEqual(t, probes.Load(), int32(400))
				require.Len(t, r.list(outbox.Filter{Open: true}), 100, "nothing failed")
				s := r.o.Services()[0]
				require.True(t, s.Down)
				require.Equal(t, tc.answer == wire.Unauthorized || tc.answer == wire.Forbidden, s.Refused)

				down.Store(false)
				b.set(nil)
				pass(tc.drain)
				require.Empty(t, r.list(outbox.Filter{Open: true}))
				require.Len(t, b.effects, 100)
				require.False(t, r.o.Services()[0].Down)
			})
		})
	}
}

func TestOneServiceDownDoesNotStopAnother(t *testing.T) {
	good, bad := &backend{}, &backend{mode: unreachable}
	bubble(t, []outbox.Kind{bad.kind("bad"), good.kind("good")}, func(t *testing.T, r *rig) {
		r.start()
		r.accept(newOp("bad", "a"), newOp("bad", "b"), newOp("bad", "c"))
		pass(time.Minute)
		n := newOp("good", "g")
		r.accept(n)
		pass(time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
	})
}

func TestAnOperationThatAlwaysResetsDoesNotBlockItsService(t *testing.T) {
	b := &backend{}
	poison := newOp("k", "poison")
	b.mode = func(op outbox.Op) outbox.Verdict {
		if op.Key == poison.Key {
			return lost(op)
		}
		return outbox.Verdict{}
	}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		r.accept(poison)
		for i := range 50 {
			r.accept(newOp("k", fmt.Sprint(i)))
		}
		pass(2 * time.Minute)
		require.Len(t, b.effects, 50)
		before := b.count()
		pass(time.Hour)
		require.Less(t, b.count()-before, 400, "at most about three a minute")
		require.Equal(t, outbox.Sent, r.get(poison.Key).State)
	})
}

func TestAfterIsHonouredAndCapped(t *testing.T) {
	for _, tc := range []struct{ after, low, high time.Duration }{
		{30 * time.Second, 30 * time.Second, 31 * time.Second},
		{1_000_000_000_000, 5 * time.Minute, 5*time.Minute + time.Second},
		{1 << 62, 5 * time.Minute, 5*time.Minute + time.Second},
		{-5, 0, 3 * time.Second},
	} {
		b := &backend{}
		b.mode = func(op outbox.Op) outbox.Verdict {
			if op.Attempts > 1 {
				return outbox.Verdict{}
			}
			return outbox.Verdict{State: outbox.Sent, After: tc.after}
		}
		bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
			r.start()
			n := newOp("k", "a")
			r.accept(n)
			start := time.Now()
			for r.get(n.Key).State != outbox.Done {
				pass(200 * time.Millisecond)
				require.Less(t, time.Since(start), time.Hour)
			}
			if tc.after != 1_000_000_000_000 { // that one is 1000 s
				require.GreaterOrEqual(t, time.Since(start), tc.low)
			}
			require.Less(t, time.Since(start), tc.high)
		})
	}
}

func TestTinyAfterIsNoHotLoop(t *testing.T) {
	b := &backend{mode: func(outbox.Op) outbox.Verdict { return outbox.Verdict{State: outbox.Sent, After: 1} }}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		r.accept(newOp("k", "a"))
		pass(time.Minute)
		require.Less(t, b.count(), 65)
	})
}

func TestPoison(t *testing.T) {
	b := &backend{}
	n, behind, other := newOp("k", "a"), newOp("k", "a"), newOp("k", "b")
	broken := newOp("k", "c")
	b.mode = func(op outbox.Op) outbox.Verdict {
		switch op.Key {
		case n.Key:
			panic("cannot read this")
		case broken.Key:
			return outbox.Verdict{State: outbox.Held, Reason: "payload not readable"}
		}
		return outbox.Verdict{}
	}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		r.accept(n, behind, other, broken)
		pass(time.Minute)
		require.Equal(t, outbox.Held, r.get(n.Key).State)
		require.Contains(t, r.get(n.Key).Reason, "panicked")
		require.Equal(t, outbox.Held, r.get(broken.Key).State)
		require.Equal(t, outbox.Pending, r.get(behind.Key).State)
		require.Equal(t, outbox.Done, r.get(other.Key).State)

		b.set(nil)
		require.NoError(t, r.o.Release(t.Context(), n.Key))
		pass(time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Equal(t, outbox.Done, r.get(behind.Key).State)
	})
}

func TestAlteredRowsAreHeld(t *testing.T) {
	for _, column := range []string{"amount = 99", "currency = 'SEK'", "payload = x'00'", "aggregate = 'z'", "attempts = 7", "state = 'SENT'", "digest = x'00'"} {
		b := &backend{}
		bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
			n := newOp("k", "a")
			r.accept(n)
			require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE outbox_ops SET ` + column)
				return err
			}))
			r.start()
			pass(time.Minute)
			require.Zero(t, b.count(), column)
			op := r.list(outbox.Filter{})[0]
			require.Equal(t, outbox.Held, op.State, column)
			require.Contains(t, op.Reason, "altered")
			require.ErrorIs(t, r.o.Release(t.Context(), n.Key), outbox.ErrAltered, "holding it must not make it good")
			require.ErrorIs(t, r.o.SendNow(t.Context(), n.Key), outbox.ErrAltered)
			require.NoError(t, r.o.Resolve(t.Context(), n.Key, outbox.Failed, "seen"))
			require.Equal(t, []string{"FAILED"}, r.settled(n.Key))
			pass(time.Minute)
			require.Zero(t, b.count())
		})
	}
}

func TestASettledRowMadePendingAgainIsNotSent(t *testing.T) {
	b := &backend{}
	sending(t, b.kind("k"), func(t *testing.T, r *rig, n outbox.New) {
		pass(time.Second)
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE outbox_ops SET state = 'PENDING', open = 1, ready = 1`)
			return err
		}))
		r.o.Wake()
		pass(time.Minute)
		require.Len(t, b.calls, 1)
	})
}
