package salesapi

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
	"posagent/schemes/wire"
)

// house is a desk that has no receipts and closes no day.
type house struct {
	*desk.Desk
	ecr.Closer
}

func (house) Receipt(context.Context, wire.Key) (ecr.Outcome, error) {
	return ecr.Outcome{}, ecr.ErrNone
}

// Whoever may carry the outcome is waited for, from the moment it has the run: else an approval that a
// client reads would count as not told, and be taken back.
func TestWhoHasTheRunIsWaitedFor(t *testing.T) {
	for _, heard := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := desk.New()
			x := New(Options{Desk: house{Desk: d}})
			defer x.Close()
			ctx := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha"})
			sale, err := d.Begin(ctx, ecr.Request{Line: line(ctx), Sequence: "k1", Kind: ecr.Payment, Amount: desk.StaysOpen})
			require.NoError(t, err)
			begun := x.follow(ctx, "k1", sale)
			asked, err := x.running(ctx, sale.ID, "k1")
			require.NoError(t, err)
			require.Same(t, begun, asked)
			d.Approve()
			synctest.Wait()
			begun.leave(false)
			synctest.Wait()
			_, out := asked.now()
			require.Equal(t, ecr.Approved, out.Result)
			require.Empty(t, d.Recorded(), "one may still carry it")
			asked.leave(heard)
			synctest.Wait()
			what := map[bool]string{true: "told s1", false: "lost s1"}[heard]
			require.Equal(t, []string{what}, d.Recorded())

			require.False(t, begun.listen(0), "what was reported carries nothing any more")
			later, err := x.running(ctx, sale.ID, "k1")
			require.NoError(t, err)
			synctest.Wait()
			require.NotSame(t, begun, later)
			require.Equal(t, []string{what}, d.Recorded())
			later.leave(true)
			synctest.Wait()
			require.Equal(t, []string{what, "told s1"}, d.Recorded())
		})
	}
}
