package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/store"
)

// has tells whether an operation is stored.
func (r *rig) has(n outbox.New) bool {
	r.t.Helper()
	for _, op := range r.list(outbox.Filter{Aggregate: n.Aggregate}) {
		if op.Key == n.Key {
			return true
		}
	}
	return false
}

func (r *rig) purged() (lines []outbox.Line) {
	r.t.Helper()
	require.NoError(r.t, r.db.Read(r.t.Context(), func(rd store.Reader) (err error) { lines, err = outbox.Purged(rd); return err }))
	return lines
}

const kept = 12 * time.Hour

// purging is a rig with a short retention and a kind that says what is purged.
func purging(t *testing.T, b *backend, fn func(t *testing.T, r *rig, gone map[string]int)) {
	t.Helper()
	gone := map[string]int{}
	k := b.kind("k")
	k.Purged = func(tx store.Tx, op outbox.Op) error {
		gone[op.Aggregate]++
		_, err := tx.Exec(`DELETE FROM settled WHERE key = ?`, string(op.Key))
		return err
	}
	bubble(t, []outbox.Kind{k}, func(t *testing.T, r *rig) {
		r.stop()
		r.opts.Retention = kept
		r.start()
		fn(t, r, gone)
	})
}

// What is final goes after its retention of running time, with what its kind keeps of it, and the report still has it.
func TestPurgeAfterRetention(t *testing.T) {
	b := &backend{}
	purging(t, b, func(t *testing.T, r *rig, gone map[string]int) {
		first, waits := newOp("k", "a"), newOp("k", "b")
		waits.AmountMin = 700
		r.accept(first)
		pass(time.Minute)
		b.set(unreachable)
		r.accept(waits)
		pass(kept - 2*time.Hour)
		require.True(t, r.has(first))
		r.stop()
		pass(10 * kept) // a night without power is no running time
		r.start()
		pass(time.Hour)
		require.True(t, r.has(first), "an hour before its time")
		pass(2*time.Hour + time.Minute)
		require.False(t, r.has(first))
		require.Empty(t, r.settled(first.Key), "its kind's hook, in the same commit")
		require.Equal(t, []outbox.Line{{"k", "EUR", outbox.Done, 1, 1250}}, r.purged())
		require.Equal(t, []outbox.Line{{"k", "EUR", outbox.Pending, 1, 700}}, r.report())
		r.agree()
		require.Equal(t, map[string]int{"a": 1}, gone)

		require.True(t, r.has(waits), "older than the retention, and not at its end")
		b.set(nil)
		pass(10 * time.Minute)
		require.Equal(t, outbox.Done, r.get(waits.Key).State)
		id := r.get(waits.Key).ID
		pass(kept - 30*time.Minute)
		require.True(t, r.has(waits), "its retention begins at its end, not when it was accepted")
		pass(2 * time.Hour)
		require.False(t, r.has(waits))
		require.Equal(t, []outbox.Line{{"k", "EUR", outbox.Done, 2, 1950}}, r.purged())
		require.Empty(t, r.report())

		r.stop()
		r.start()
		next := newOp("k", "c")
		r.accept(next)
		require.Greater(t, r.get(next.Key).ID, id, "an id is not given again")
	})
}

// The operations of a thing are purged together, and by many small commits where there are many.
func TestPurgeTakesWholeAggregatesInSmallCommits(t *testing.T) {
	b := &backend{}
	purging(t, b, func(t *testing.T, r *rig, gone map[string]int) {
		early, late := newOp("k", "thing"), newOp("k", "thing")
		r.accept(early)
		for i := range 170 {
			r.accept(newOp("k", fmt.Sprint(i)))
		}
		pass(kept / 2)
		r.accept(late)
		pass(kept/2 + 2*time.Hour)
		require.True(t, r.has(early), "a later one of its thing is not old enough")
		require.Len(t, gone, 170)
		require.Equal(t, int64(170), r.purged()[0].Count)
		pass(kept)
		require.False(t, r.has(early))
		require.False(t, r.has(late))
		require.Equal(t, 2, gone["thing"])
	})
}

// A row that somebody has moved to its end is not deleted: it may be money that waits.
func TestPurgeHoldsWhatWasAltered(t *testing.T) {
	b := &backend{mode: unreachable}
	purging(t, b, func(t *testing.T, r *rig, gone map[string]int) {
		n := newOp("k", "a")
		r.accept(n)
		pass(time.Minute)
		require.NoError(t, r.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE outbox_ops SET state = 'DONE', open = 0, ready = 0`)
			return err
		}))
		pass(kept + 2*time.Hour)
		require.Len(t, r.list(outbox.Filter{State: outbox.Held}), 1)
		require.Empty(t, gone)
	})
}
