package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

// part asks for the reversal of a part of a payment, as 06 30 with an amount does.
func part(receipt int, amount int64) ecr.Request {
	return ecr.Request{Kind: ecr.Reversal, Receipt: receipt, Amount: minor(amount), Part: true}
}

// TestMoneyB7_APartOfAPaymentIsGivenBack: a reversal of less than the original is a refund in the one
// ledger, and all of it together is never more than was paid.
func TestMoneyB7_APartOfAPaymentIsGivenBack(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		give := func(req ecr.Request) ecr.Outcome {
			out := r.Approved(r.Accepted(req), ecr.Told)
			return out
		}
		no := func(req ecr.Request, code ecr.Code, text string) {
			_, err := r.Ask(req)
			refused(t, err, code)
			require.ErrorContains(t, err, text)
		}
		no(part(o.Receipt, 1001), ecr.AmountWrong, "another amount")
		no(part(o.Receipt+1, 100), ecr.NotReversible, "this terminal has not sold R2")

		out := give(part(o.Receipt, 300))
		require.Equal(t, []any{ecr.Refund, minor(300), o.Trace}, []any{out.Kind, out.Amount, out.OriginalTrace})
		require.EqualValues(t, 700, r.world.net())
		no(part(o.Receipt, 1000), ecr.NotReversible, "refunded in part") // that is the whole
		no(part(o.Receipt, 701), ecr.AmountWrong, "more than is left of the original: 7.00 EUR")
		give(part(o.Receipt, 700))
		require.Zero(t, r.world.net())
		no(part(o.Receipt, 1), ecr.AmountWrong, "more than is left")
		require.Empty(t, r.world.sent(aapay.Reversal))
		require.Len(t, r.world.sent(aapay.Refund), 2)
		require.Equal(t, o.TransactionID, r.world.sent(aapay.Refund)[0].req.OriginalReference)

		o = r.approved(500)
		require.Equal(t, ecr.Reversal, give(part(o.Receipt, 500)).Kind, "the whole amount is a reversal")
		require.Zero(t, r.world.net())
		no(part(o.Receipt, 100), ecr.AlreadyReversed, "already reversed")

		o = r.approved(400)
		_, err := r.Close(context.Background())
		require.NoError(t, err)
		no(part(o.Receipt, 100), ecr.NotReversible, "of the closed day 1: refund it, as R1/")
		require.EqualValues(t, 400, r.world.net())
	})
}

// TestMoneyB7_APartIsRefusedWhereTheMethodCannot: where the method knows the whole amount alone.
func TestMoneyB7_APartIsRefusedWhereTheMethodCannot(t *testing.T) {
	terminal(t, func(r *rig) {
		d := swish()
		d.TransactionTypes = []methods.TransactionType{methods.Payment, methods.Reversal}
		r.defs = []methods.Definition{d}
		o := r.approved(1000)
		_, err := r.Ask(part(o.Receipt, 300))
		refused(t, err, ecr.NotReversible)
		require.ErrorContains(t, err, "Swish gives back the whole amount only")
		row, _ := r.show(o.Sale)
		require.Zero(t, row.Debited)
		require.EqualValues(t, 1000, r.world.net())
		r.Approved(r.Accepted(part(o.Receipt, 1000)), ecr.Told)
		require.Zero(t, r.world.net())
	})
}

// TestMoneyB4_APartIsNotGivenBackTwice: not where its telling was lost, not while it runs, and not
// under the number that it had, even where its batch was closed meanwhile.
func TestMoneyB4_APartIsNotGivenBackTwice(t *testing.T) {
	terminal(t, func(r *rig) {
		o := r.approved(1000)
		req := part(o.Receipt, 300)
		for i, d := range []ecr.Delivery{ecr.Lost, ecr.Lost, ecr.Told} {
			s := r.Accepted(req)
			out := <-s.Outcome
			require.Equal(t, []any{ecr.Approved, i > 0, 2}, []any{out.Result, out.Repeat, out.Receipt})
			r.Told(s, d)
		}
		require.EqualValues(t, 700, r.world.net())

		r.world.lock(func() { r.world.mute = true })
		first := r.Accepted(part(o.Receipt, 200))
		require.Equal(t, ecr.InProgress, (<-first.Outcome).Result)
		r.Told(first, ecr.Told)
		again := r.Accepted(part(o.Receipt, 200))
		require.Equal(t, first.ID, again.ID, "it runs")
		r.Restart(true)
		again = r.Accepted(part(o.Receipt, 200))
		require.Equal(t, first.ID, again.ID, "it still runs")
		r.world.lock(func() { r.world.mute = false })
		pass(10 * time.Minute)
		require.EqualValues(t, 500, r.world.net())

		named := part(o.Receipt, 100)
		named.Sequence = "zvt-1-000007"
		s := r.Accepted(named)
		r.Approved(s, ecr.Told)
		require.EqualValues(t, 400, r.world.net())
		_, err := r.Close(context.Background())
		require.NoError(t, err)
		again = r.Accepted(named)
		require.Equal(t, s.ID, again.ID)
		require.EqualValues(t, 400, r.world.net())
		named.Amount = 99
		_, err = r.Ask(named)
		refused(t, err, ecr.Processing)
		require.Len(t, uniqueKeys(r.world.sent(aapay.Refund)), 3)
	})
}
