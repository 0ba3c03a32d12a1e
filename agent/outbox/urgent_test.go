package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
)

// The way is blocked for the probe alone: an undo is sent within its own back-off of the moment when the backend answers again.
func TestField_P13TheProbeNeverGatesAnUndo(t *testing.T) {
	b := &backend{mode: unreachable}
	undo := b.kind("undo")
	undo.Urgent = true
	bubble(t, []outbox.Kind{undo}, func(t *testing.T, r *rig) {
		r.stop()
		r.opts.Probe = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return errors.New("lost")
		}
		r.open()
		r.start()
		n := newOp("undo", "a")
		r.accept(n)
		pass(10 * time.Minute)
		require.Equal(t, outbox.Pending, r.get(n.Key).State)
		require.True(t, r.o.Services()[0].Down)
		b.set(nil)
		pass(21 * time.Second)
		require.Equal(t, outbox.Done, r.get(n.Key).State)
		require.False(t, r.o.Services()[0].Down)
	})
}

// Undos of a backend that does not answer go one at a time, and not without a pause; others wait for the probe as ever.
func TestField_P13UndosAreNoStorm(t *testing.T) {
	b, other := &backend{mode: unreachable}, &backend{mode: unreachable}
	undo, rest := b.kind("undo"), other.kind("rest")
	undo.Urgent, undo.Service, rest.Service = true, "s", "s"
	bubble(t, []outbox.Kind{undo, rest}, func(t *testing.T, r *rig) {
		r.stop()
		r.opts.Probe = func(context.Context, string) error { return errors.New("unplugged") }
		r.open()
		r.start()
		var ops []outbox.New
		for i := range 100 {
			ops = append(ops, newOp("undo", fmt.Sprint("u", i)), newOp("rest", fmt.Sprint("r", i)))
		}
		r.accept(ops...)
		pass(time.Second)
		burst, others := b.count(), other.count()
		require.LessOrEqual(t, burst, 5)
		b.mu.Lock()
		b.most = 0
		b.mu.Unlock()
		pass(10 * time.Minute)
		require.LessOrEqual(t, b.count()-burst, 300, "one in two seconds")
		require.GreaterOrEqual(t, b.count()-burst, 100, "each is tried")
		b.mu.Lock()
		most := b.most
		b.mu.Unlock()
		require.Equal(t, 1, most)
		require.Equal(t, others, other.count(), "they wait for the probe")
		b.set(nil)
		other.set(nil)
		pass(time.Minute)
		require.Empty(t, r.list(outbox.Filter{Open: true}), "the first undo that gets through lets all go")
	})
}
