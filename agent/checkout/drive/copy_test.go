package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestField_L15AnEarlierReceiptIsToldAgain: after a decline the last approved receipt was out of
// reach.
func TestField_L15AnEarlierReceiptIsToldAgain(t *testing.T) {
	terminal(t, func(r *rig) {
		r.world.onStatus = approveAfter(r.world, 1)
		first := r.sale(700)
		paid := <-first.Outcome
		require.Equal(t, ecr.Approved, paid.Result)
		_, err := r.Copy(context.Background(), paid.Receipt)
		require.ErrorIs(t, err, ecr.ErrNone, "nobody has acknowledged it: 06 20 without a number asks for that")
		r.Told(first, ecr.Told)

		r.world.onStatus = say(1, aapay.Rejected, "")
		no := r.sale(500)
		require.Equal(t, ecr.Declined, (<-no.Outcome).Result)
		r.Told(no, ecr.Told)
		last := r.Again()
		require.Equal(t, ecr.Declined, (<-last.Outcome).Result, "06 20 repeats the last outcome")
		_, err = r.Delivered(context.Background(), last.ID, ecr.Told)
		require.NoError(t, err)

		for _, what := range []ecr.Delivery{ecr.Told, ecr.Refused, ecr.Lost} {
			again, err := r.Copy(context.Background(), paid.Receipt)
			require.NoError(t, err)
			require.Equal(t, first.ID, again.ID)
			out := <-again.Outcome
			require.Equal(t, []any{ecr.Approved, true, paid.Receipt}, []any{out.Result, out.Repeat, out.Receipt})
			require.EqualValues(t, 700, out.Amount)
			_, err = r.Delivered(context.Background(), again.ID, what)
			require.NoError(t, err)
			pass(15 * time.Minute)
			require.EqualValues(t, 700, r.world.net(), "what becomes of a copy undoes nothing")
		}
		_, err = r.Copy(context.Background(), paid.Receipt+1)
		require.ErrorIs(t, err, ecr.ErrNone)
	})
}
