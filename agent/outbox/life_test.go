package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
	"posagent/store/storetest"
)

func TestMaxAgeCountsRunningTimeOnly(t *testing.T) {
	b := &backend{mode: unreachable}
	k := b.kind("k")
	k.MaxAge = time.Hour
	sending(t, k, func(t *testing.T, r *rig, n outbox.New) {
		pass(30 * time.Minute)
		r.stop()
		pass(48 * time.Hour) // the power is off
		r.wallOff.Store(int64(10 * 365 * 24 * time.Hour))
		r.start()
		pass(25 * time.Minute)
		require.Equal(t, outbox.Pending, r.get(n.Key).State)
		pass(10 * time.Minute)
		require.Equal(t, outbox.Expired, r.get(n.Key).State)
		require.Equal(t, []string{"EXPIRED"}, r.settled(n.Key))
		b.set(nil)
		pass(time.Hour)
		require.Empty(t, b.effects)
	})
}

func TestASentOperationNeverExpires(t *testing.T) {
	b := &backend{mode: lost}
	k := b.kind("k")
	k.MaxAge = time.Hour
	sending(t, k, func(t *testing.T, r *rig, n outbox.New) {
		pass(5 * time.Hour)
		require.Equal(t, outbox.Sent, r.get(n.Key).State)
	})
}

func TestForgottenKeyIsDoubt(t *testing.T) {
	for name, tc := range map[string]struct {
		asks    bool
		running bool          // the time passes while running, not while off
		wall    time.Duration // how far the wall clock is off after the restart
		want    outbox.State
	}{
		"off for a day":             {want: outbox.Doubt},
		"off, can read":             {asks: true, want: outbox.Done},
		"running for a day":         {running: true, want: outbox.Doubt},
		"off, clock went back":      {wall: -20 * 365 * 24 * time.Hour, want: outbox.Done},
		"running, clock goes ahead": {running: true, wall: 365 * 24 * time.Hour, want: outbox.Doubt},
	} {
		t.Run(name, func(t *testing.T) {
			b := &backend{mode: lost}
			k := b.kind("k")
			k.Asks = tc.asks
			sending(t, k, func(t *testing.T, r *rig, n outbox.New) {
				pass(time.Minute)
				if tc.running {
					pass(23*time.Hour + 50*time.Minute)
					r.wallOff.Store(int64(tc.wall))
					require.Equal(t, outbox.Sent, r.get(n.Key).State, "not yet, whatever the wall clock says")
					pass(20 * time.Minute)
				} else {
					r.stop()
					pass(25 * time.Hour)
					r.wallOff.Store(int64(tc.wall))
					b.set(nil)
					r.start()
					pass(10 * time.Second)
				}
				require.Equal(t, tc.want, r.get(n.Key).State)
				last := b.calls[len(b.calls)-1]
				require.Equal(t, tc.asks, last.ReadOnly)
				if tc.want == outbox.Doubt {
					require.Empty(t, b.effects, "not resent")
					require.Equal(t, []string{"DOUBT"}, r.settled(n.Key))
					require.ErrorIs(t, r.o.SendNow(t.Context(), n.Key), outbox.ErrState)
					require.NoError(t, r.o.Resolve(t.Context(), n.Key, outbox.Done, "seen on the statement"))
					require.Equal(t, []string{"DOUBT", "DONE"}, r.settled(n.Key))
				}
			})
		})
	}
}

func TestNeverReplay(t *testing.T) {
	b := &backend{}
	k := b.kind("k")
	k.Replay = outbox.Never
	bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
		b.mode = lost
		n := newOp("k", "a")
		r.accept(n)
		r.start()
		pass(time.Second)
		require.Equal(t, outbox.Doubt, r.get(n.Key).State)

		b.set(func(outbox.Op) outbox.Verdict { r.db.dead.Store(true); return outbox.Verdict{} })
		m := newOp("k", "b")
		r.accept(m)
		pass(time.Minute)
		r.kill()
		b.set(nil)
		r.start()
		pass(time.Minute)
		require.Equal(t, outbox.Doubt, r.get(m.Key).State)
		require.Len(t, b.calls, 2)
	})
}

func TestSettledRunsInTheCommitAfterFollows(t *testing.T) {
	b := &backend{}
	k := b.kind("k")
	var broken atomic.Bool
	var after atomic.Int32
	broken.Store(true)
	k.Settled = func(tx store.Tx, op outbox.Op) error {
		if err := record(tx, op); err != nil {
			return err
		}
		require.Equal(t, "pay a", string(op.Payload), "the hook still sees the payload")
		require.Equal(t, "ok", string(op.Result))
		if broken.Load() {
			return errors.New("not now")
		}
		return nil
	}
	var r *rig
	k.After = func(op outbox.Op) {
		after.Add(1)
		require.Equal(t, []string{"DONE"}, r.settled(op.Key), "durable by now")
		panic("contained")
	}
	bubble(t, []outbox.Kind{k}, func(t *testing.T, rr *rig) {
		r = rr
		r.start()
		n := newOp("k", "a")
		r.accept(n)
		pass(1200 * time.Millisecond)
		require.Equal(t, outbox.Sent, r.get(n.Key).State)
		require.Empty(t, r.settled(n.Key), "rolled back with the state")
		broken.Store(false)
		pass(5 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.EqualValues(t, 1, after.Load())
		require.Len(t, b.calls, 1, "the outcome was known, it is not asked for again")

		broken.Store(true)
		m := newOp("k", "a")
		r.accept(m)
		pass(5 * time.Minute)
		require.Equal(t, outbox.Held, r.get(m.Key).State)
		require.Contains(t, r.get(m.Key).Reason, "could not be recorded")
		require.Equal(t, "ok", string(r.get(m.Key).Result))
	})
}

func TestPayloadKeyIsDestroyedAtTheEnd(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		n := newOp("k", "a")
		b.set(unreachable)
		r.accept(n)
		pass(time.Second)
		require.Equal(t, "pay a", string(r.get(n.Key).Payload))
		b.set(nil)
		pass(time.Minute)
		op := r.get(n.Key)
		require.Equal(t, outbox.Done, op.State)
		require.Empty(t, op.Payload)
		require.Equal(t, "ok", string(op.Result))
		require.False(t, op.Settled.IsZero())
		require.True(t, op.NextTry.IsZero())
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error {
			var keys, payloads int
			require.NoError(t, rd.QueryRow(`SELECT COUNT(*) FROM store_keys`).Scan(&keys))
			require.NoError(t, rd.QueryRow(`SELECT COUNT(*) FROM outbox_ops WHERE payload IS NOT NULL OR memo IS NOT NULL`).Scan(&payloads))
			require.Zero(t, keys)
			require.Zero(t, payloads)
			return nil
		}))
	})
}

// A person's "failed" must not hide the answer that is on its way.
func TestAnOperationUnderWayIsNotResolved(t *testing.T) {
	b := &backend{mode: func(outbox.Op) outbox.Verdict {
		<-time.After(10 * time.Second)
		return outbox.Verdict{State: outbox.Done}
	}}
	k := outbox.Kind{Name: "k", Replay: outbox.SameKey, Settled: record, Send: func(_ context.Context, op outbox.Op) outbox.Verdict { return b.mode(op) }}
	sending(t, k, func(t *testing.T, r *rig, n outbox.New) {
		pass(time.Second)
		require.NoError(t, r.o.Hold(t.Context(), n.Key, "looks stuck"))
		require.ErrorIs(t, r.o.Resolve(t.Context(), n.Key, outbox.Failed, "seen nothing"), outbox.ErrState)
		pass(10 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.Equal(t, []string{"DONE"}, r.settled(n.Key))
	})
}

func TestVerbs(t *testing.T) {
	b := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{b.kind("k"), b.kind("l")}, func(t *testing.T, r *rig) {
		r.start()
		n, m, l := newOp("k", "a"), newOp("k", "b"), newOp("l", "c")
		l.Currency, l.AmountMin = "SEK", 500
		r.accept(n, m, l)
		pass(10 * time.Minute)
		require.NoError(t, r.o.Hold(t.Context(), n.Key, "the technician waits"))
		require.ErrorIs(t, r.o.Hold(t.Context(), n.Key, "again"), outbox.ErrState)
		require.ErrorIs(t, r.o.Hold(t.Context(), "nobody", ""), outbox.ErrUnknown)
		require.ErrorIs(t, r.o.SendNow(t.Context(), n.Key), outbox.ErrState)
		require.ErrorIs(t, r.o.Resolve(t.Context(), m.Key, outbox.Done, ""), outbox.ErrState)
		require.ErrorIs(t, r.o.Resolve(t.Context(), n.Key, outbox.Pending, ""), outbox.ErrState)

		b.set(nil)
		before := time.Now()
		require.NoError(t, r.o.SendNow(t.Context(), m.Key))
		pass(time.Second)
		require.Equal(t, outbox.Done, r.get(m.Key).State)
		require.Less(t, time.Since(before), 2*time.Second)
		pass(10 * time.Minute)
		require.Equal(t, outbox.Held, r.get(n.Key).State)
		require.Equal(t, "the technician waits", r.get(n.Key).Reason)

		var report []outbox.Line
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) (err error) { report, err = outbox.Report(rd); return err }))
		require.Equal(t, []outbox.Line{
			{Kind: "k", Currency: "EUR", State: outbox.Done, Count: 1, Sum: 1250},
			{Kind: "k", Currency: "EUR", State: outbox.Held, Count: 1, Sum: 1250},
			{Kind: "l", Currency: "SEK", State: outbox.Done, Count: 1, Sum: 500},
		}, report)
		require.Len(t, r.list(outbox.Filter{Kind: "k"}), 2)
		require.Len(t, r.list(outbox.Filter{State: outbox.Done}), 2)
		require.Len(t, r.list(outbox.Filter{Open: true}), 1)
		require.Len(t, r.list(outbox.Filter{Aggregate: "c"}), 1)
		require.Len(t, r.list(outbox.Filter{After: 1, Limit: 1}), 1)

		require.NoError(t, r.o.Release(t.Context(), n.Key))
		pass(time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
	})
}

func TestHoldWhileUnderWay(t *testing.T) {
	b := &backend{}
	release := make(chan outbox.Verdict)
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		release = make(chan outbox.Verdict)
		b.mode = func(outbox.Op) outbox.Verdict { return <-release }
		r.start()
		n := newOp("k", "a")
		r.accept(n)
		pass(time.Second)
		require.NoError(t, r.o.Hold(t.Context(), n.Key, "stop"))
		release <- outbox.Verdict{State: outbox.Sent, Memo: []byte("m")}
		pass(time.Hour)
		require.Equal(t, outbox.Held, r.get(n.Key).State)
		require.Len(t, b.calls, 1)
		require.NoError(t, r.o.Release(t.Context(), n.Key))
		pass(time.Second)
		require.Equal(t, outbox.Sent, b.calls[1].State, "it was sent before")
		require.Equal(t, "m", string(b.calls[1].Memo))
		require.NoError(t, r.o.Hold(t.Context(), n.Key, "stop"))
		release <- outbox.Verdict{State: outbox.Done}
		pass(time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State, "a final answer is final")
	})
}

func TestMoneyC3_ARestoredBackupSendsNothingByItself(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		n, m := newOp("k", "a"), newOp("k", "b")
		r.accept(n, m)
		held, err := r.o.HoldRestored(t.Context(), "restored from a backup")
		require.NoError(t, err)
		require.Equal(t, 2, held)
		r.start()
		pass(time.Hour)
		require.Zero(t, b.count())
		require.Equal(t, outbox.Held, r.get(n.Key).State)
		require.Equal(t, "restored from a backup", r.get(n.Key).Reason)
		require.NoError(t, r.o.Release(t.Context(), n.Key))
		pass(time.Second)
		require.Len(t, b.effects, 1)
		require.Equal(t, outbox.Sent, b.calls[0].State, "it may have been sent before")
	})
}

// An engine may run a closure again: the second run finds what the first has found.
func TestMoneyC3_AHoldThatRunsAgainHoldsAll(t *testing.T) {
	r := newRig(t, (&backend{}).kind("k"))
	r.open()
	defer r.stop()
	n, m := newOp("k", "a"), newOp("k", "b")
	r.accept(n, m)
	held, err := outbox.NewOutbox(outbox.Options{DB: storetest.Again(r.db), Kinds: r.kinds, Now: time.Now, Boot: func() time.Duration { return time.Hour }}).HoldRestored(t.Context(), "restored from a backup")
	require.NoError(t, err)
	require.Equal(t, 2, held)
	require.Equal(t, outbox.Held, r.get(n.Key).State)
	require.Equal(t, outbox.Held, r.get(m.Key).State)
}

// What was unsent in the backup may have been sent after it: by the time it is released the backend may have forgotten its Key.
func TestMoneyC3_AReleasedOperationOfAnOldBackupIsNotResent(t *testing.T) {
	for name, c := range map[string]struct {
		replay outbox.Replay
		asks   bool
		age    time.Duration // of the backup
		sends  int
		state  outbox.State
	}{
		"the Key is remembered":         {outbox.SameKey, false, time.Hour, 1, outbox.Done},
		"the Key may be forgotten":      {outbox.SameKey, false, 25 * time.Hour, 0, outbox.Doubt},
		"forgotten, but it can be read": {outbox.SameKey, true, 25 * time.Hour, 0, outbox.Done},
		"no Key protects it":            {outbox.Never, false, time.Hour, 0, outbox.Doubt},
	} {
		t.Run(name, func(t *testing.T) {
			b := &backend{}
			k := b.kind("k")
			k.Replay, k.Asks = c.replay, c.asks
			bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
				r.start()
				pass(time.Second)
				n := newOp("k", "a")
				r.cancel()
				require.NoError(t, <-r.done)
				r.cancel = nil
				r.accept(n) // and then the backup is made
				r.stop()
				pass(c.age)
				r.open()
				held, err := r.o.HoldRestored(t.Context(), "restored from a backup")
				require.NoError(t, err)
				require.Equal(t, 1, held)
				r.start()
				pass(time.Hour / 2)
				require.Zero(t, b.count())
				require.NoError(t, r.o.Release(t.Context(), n.Key))
				pass(time.Minute)
				require.Equal(t, c.state, r.get(n.Key).State)
				sends := 0
				for _, call := range b.calls {
					if !call.ReadOnly {
						sends++
						require.Equal(t, outbox.Sent, call.State)
					}
				}
				require.Equal(t, c.sends, sends)
			})
		})
	}
}

func TestAFailedOneBreaksThoseBehind(t *testing.T) {
	b := &backend{}
	create, follow, third, other := newOp("create", "a"), newOp("k", "a"), newOp("k", "a"), newOp("k", "b")
	b.mode = func(op outbox.Op) outbox.Verdict {
		if op.Key == create.Key {
			return outbox.Verdict{State: outbox.Failed, Reason: "no"}
		}
		return outbox.Verdict{}
	}
	k := b.kind("create")
	k.Breaks = true
	bubble(t, []outbox.Kind{k, b.kind("k")}, func(t *testing.T, r *rig) {
		r.accept(create, follow, third, other)
		r.start()
		pass(time.Minute)
		for _, n := range []outbox.New{follow, third} {
			require.Equal(t, outbox.Failed, r.get(n.Key).State)
			require.Contains(t, r.get(n.Key).Reason, string(create.Key))
			require.Equal(t, []string{"FAILED"}, r.settled(n.Key))
		}
		require.Equal(t, outbox.Done, r.get(other.Key).State)
		require.Len(t, b.calls, 2)
	})
}

func TestRestartResumesAtOnce(t *testing.T) {
	b := &backend{mode: func(op outbox.Op) outbox.Verdict {
		return outbox.Verdict{State: outbox.Sent, After: 5 * time.Minute}
	}}
	sending(t, b.kind("k"), func(t *testing.T, r *rig, n outbox.New) {
		pass(time.Second)
		r.stop()
		b.set(nil)
		r.start()
		pass(3 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
	})
}

func TestStopLetsTheAttemptFinish(t *testing.T) {
	b := &backend{}
	k := b.kind("k")
	k.Send = func(ctx context.Context, op outbox.Op) outbox.Verdict {
		select {
		case <-time.After(3 * time.Second):
			return outbox.Verdict{State: outbox.Done}
		case <-ctx.Done():
			return lost(op)
		}
	}
	sending(t, k, func(t *testing.T, r *rig, n outbox.New) {
		pass(time.Second)
		start := time.Now()
		r.stop()
		require.Equal(t, 2*time.Second, time.Since(start))
		r.open()
		require.Equal(t, outbox.Done, r.get(n.Key).State)
	})
}

// TestUrgentOnesDoNotWait: a service that swallows every request does not hold up money that is owed back.
func TestUrgentOnesDoNotWait(t *testing.T) {
	b := &backend{}
	hole := b.kind("hole")
	hole.Send = func(ctx context.Context, op outbox.Op) outbox.Verdict {
		<-ctx.Done()
		return lost(op)
	}
	undo := b.kind("undo")
	undo.Urgent = true
	bubble(t, []outbox.Kind{hole, undo}, func(t *testing.T, r *rig) {
		for i := range 10 {
			r.accept(newOp("hole", fmt.Sprint("a", i)))
		}
		r.start()
		pass(time.Second)
		for range 3 {
			n := newOp("undo", "u")
			r.accept(n)
			pass(100 * time.Millisecond)
			require.Equal(t, outbox.Done, r.get(n.Key).State)
		}
	})
}

func TestSecondRunIsRefused(t *testing.T) {
	bubble(t, []outbox.Kind{(&backend{}).kind("k")}, func(t *testing.T, r *rig) {
		r.start()
		synctest.Wait()
		require.Error(t, r.o.Run(t.Context()))
	})
}
