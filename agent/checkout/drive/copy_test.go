package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
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
		_, err := r.Copy(context.Background(), paid.Receipt, "")
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
			again, err := r.Copy(context.Background(), paid.Receipt, "")
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
		_, err = r.Copy(context.Background(), paid.Receipt+1, "")
		require.ErrorIs(t, err, ecr.ErrNone)
	})
}

// A receipt whose approval was undone said the same as one that was never issued, and plain 06 20
// said "not paid" of a customer who had paid.
func TestField_L15AnUndoneReceiptSaysSo(t *testing.T) {
	const says = "paid, not acknowledged: the money goes back"
	terminal(t, func(r *rig) {
		first := r.unconfirmed(500)
		row, _ := r.show(first.Sale)
		receipt := row.Receipt
		require.NotZero(t, receipt)
		pass(10 * time.Minute)
		r.settle()
		plain := r.last(row.Line)
		require.Equal(t, []any{ecr.Aborted, ecr.AbortedByUser, says}, []any{plain.Result, plain.Code, plain.Text})

		r.world.onStatus = approveAfter(r.world, 1)
		require.EqualValues(t, 300, r.approved(300).Amount)
		for _, what := range []ecr.Delivery{ecr.Told, ecr.Refused, ecr.Lost} {
			again, err := r.Copy(context.Background(), receipt, "")
			require.NoError(t, err)
			require.Equal(t, first.Sale, again.ID)
			out := <-again.Outcome
			require.Equal(t, []any{ecr.Aborted, ecr.AbortedByUser, says, 0}, []any{out.Result, out.Code, out.Text, out.Receipt})
			_, err = r.Delivered(context.Background(), again.ID, what)
			require.NoError(t, err)
			r.settle()
			require.EqualValues(t, 300, r.world.net(), "what becomes of a copy changes nothing")
		}
		aborted := r.waiting(aapay.Initialized, time.Second)
		require.NoError(t, r.Abort(context.Background(), aborted.ID))
		require.Equal(t, "aborted, not paid", (<-aborted.Outcome).Text, "no approval was taken back")
		r.Told(aborted, ecr.Told)
	})
}

// The undo that the register's next sale starts is told by its number as well, at once and before
// it is proven.
func TestField_L15AReceiptUndoneByTheNextSaleSaysSo(t *testing.T) {
	terminal(t, func(r *rig) {
		first := r.unconfirmed(500)
		row, _ := r.show(first.Sale)
		next := r.sale(300)
		require.Equal(t, checkout.Reversing, r.phase(first.Sale))
		again, err := r.Copy(context.Background(), row.Receipt, "")
		require.NoError(t, err)
		out := <-again.Outcome
		require.Equal(t, []any{ecr.Aborted, true}, []any{out.Result, out.Settling})
		require.Equal(t, "paid, not acknowledged: the money goes back", out.Text)
		_, err = r.Delivered(context.Background(), again.ID, ecr.Told)
		require.NoError(t, err)
		<-next.Outcome
		r.Told(next, ecr.Told)
		r.settle()
		require.EqualValues(t, 300, r.world.net())
	})
}
