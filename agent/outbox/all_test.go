package outbox_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
)

// The verbs for everything are those for one, each of them once: what is in doubt is not touched, and the order stays.
func TestVerbsForEverything(t *testing.T) {
	b := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		var ops []outbox.New
		for i := range 250 {
			ops = append(ops, newOp("k", "a"+strconv.Itoa(i%240)))
		}
		r.accept(ops...)
		r.start()
		pass(time.Hour)
		n, err := r.o.HoldEach(t.Context(), "the shop moves")
		require.NoError(t, err)
		require.Equal(t, 250, n)
		require.Equal(t, outbox.Held, r.get(ops[249].Key).State)
		n, err = r.o.HoldEach(t.Context(), "again")
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, r.o.Resolve(t.Context(), ops[0].Key, outbox.Failed, "never sent"))
		b.set(nil)
		pass(time.Hour)
		require.Empty(t, b.effects, "held is held")
		n, err = r.o.ReleaseEach(t.Context())
		require.NoError(t, err)
		require.Equal(t, 249, n)
		pass(time.Hour)
		require.Len(t, b.effects, 249)
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error {
			n, err := outbox.Waiting(rd)
			require.Zero(t, n)
			return err
		}))
	})
}

// An altered record is not released with the others.
func TestReleaseEachLeavesWhatWasAltered(t *testing.T) {
	b := &backend{}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		one, two := newOp("k", "a"), newOp("k", "b")
		r.accept(one, two)
		_, err := r.o.HoldEach(t.Context(), "")
		require.NoError(t, err)
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE outbox_ops SET amount = amount + 1 WHERE key = ?`, string(one.Key))
			return err
		}))
		n, err := r.o.ReleaseEach(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		r.start()
		pass(time.Hour)
		require.Len(t, b.effects, 1)
	})
}

// Send now means now: not when the pause that a dead service has earned is over.
func TestSendAll(t *testing.T) {
	b := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		ops := []outbox.New{newOp("k", "a"), newOp("k", "a"), newOp("k", "b")}
		r.accept(ops...)
		r.start()
		pass(time.Hour)
		b.set(nil)
		due, err := r.o.SendAll(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, due)
		pass(time.Second / 5) // one that was under way ends first
		require.Len(t, b.effects, 3)
	})
}

// Send now is not forgotten because an attempt was under way that fails later: for one operation and
// for all.
func TestSendNowDuringAnAttempt(t *testing.T) {
	for name, send := range map[string]func(r *rig, first outbox.New) error{
		"one": func(r *rig, first outbox.New) error { return r.o.SendNow(r.t.Context(), first.Key) },
		"all": func(r *rig, _ outbox.New) error {
			_, err := r.o.SendAll(r.t.Context())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &backend{mode: unreachable}
			bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
				first, second := newOp("k", "a"), newOp("k", "b")
				r.accept(first, second)
				r.start()
				pass(time.Hour)
				cut := make(chan outbox.Verdict)
				b.set(func(op outbox.Op) outbox.Verdict { return <-cut })
				for n := b.count(); b.count() == n; { // the pauses are five minutes long by now
					pass(time.Second)
				}
				pass(time.Second)
				require.NoError(t, send(r, first))
				b.set(nil)
				cut <- unreachable(outbox.Op{})
				pass(time.Second / 10)
				require.Len(t, b.effects, 2, "what the old attempt found puts nothing off")
			})
		})
	}
}

// What is read beside the daemon is what the daemon says.
func TestLook(t *testing.T) {
	b := &backend{mode: unreachable}
	bubble(t, []outbox.Kind{b.kind("k")}, func(t *testing.T, r *rig) {
		one, two := newOp("k", "a"), newOp("k", "a")
		r.accept(one, two)
		r.start()
		pass(10 * time.Millisecond)
		want := r.get(one.Key)
		require.NoError(t, r.db.Read(t.Context(), func(rd store.Reader) error {
			got, err := outbox.Look(rd, one.Key)
			require.NoError(t, err)
			require.WithinDuration(t, want.NextTry, got.NextTry, time.Second)
			require.Equal(t, want.State, got.State)
			require.Equal(t, want.Attempts, got.Attempts)
			require.Empty(t, got.Payload)
			list, err := outbox.LookAll(rd, outbox.Filter{Open: true})
			require.NoError(t, err)
			require.Len(t, list, 2)
			ahead, err := outbox.Ahead(rd, list[1])
			require.NoError(t, err)
			require.Equal(t, one.Key, ahead.Key)
			_, err = outbox.Ahead(rd, list[0])
			require.ErrorIs(t, err, outbox.ErrUnknown)
			return nil
		}))
	})
}
