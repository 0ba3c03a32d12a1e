package paylinks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// Whatever happens to a few links in whatever order, with restarts between: the books stay whole (net checks them), what
// the merchant has is what the answers said, a deleted link never earns anything, and nothing ends but in the contract's words.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		x, ctx := w.Transactions(), t.Context()
		kinds := []func(*paylinks.CreateRequest){nil, reserve, authorize, counter, func(q *paylinks.CreateRequest) {
			q.SubscriptionState, q.SubscriptionInterval, q.SubscriptionPeriod = true, "P1D", "P3D"
		}}
		var made []paylinks.Created
		deleted := map[int64]bool{}
		amounts := []int64{1000, 1000, 1000, 90003, 90006, 90012}
		for range rapid.IntRange(1, 3).Draw(r, "links") {
			made = append(made, w.link(rapid.SampledFrom(amounts).Draw(r, "amount"), rapid.SampledFrom(kinds).Draw(r, "kind")))
		}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			l := rapid.SampledFrom(made).Draw(r, "link")
			id := int64(rapid.IntRange(500_001, 500_006).Draw(r, "txn"))
			part := cents(rapid.SampledFrom([]int64{1, 400, 1000}).Draw(r, "part"))
			if rapid.Bool().Draw(r, "all") {
				part = nil
			}
			var err error
			switch rapid.SampledFrom([]string{"pay", "decline", "delete", "charge", "capture", "refund", "remove", "stop", "wait", "days", "restart"}).Draw(r, "act") {
			case "pay":
				_, err = w.Pay(ctx, *l.Hash)
			case "decline":
				_, err = w.Decline(ctx, *l.Hash)
			case "delete":
				if _, err = w.Delete(ctx, "", l.ID); err == nil {
					deleted[l.ID] = true
				}
			case "charge":
				_, err = x.Charge(ctx, "", id, paylinks.ChargeRequest{Amount: part})
			case "capture":
				_, err = x.Capture(ctx, "", id)
			case "refund":
				_, err = x.Refund(ctx, "", id, paylinks.RefundRequest{Amount: part})
			case "remove":
				_, err = x.Delete(ctx, "", id)
			case "stop":
				_, err = w.Stop(ctx, *l.Hash)
			case "wait":
				w.Pass(11 * time.Second)
			case "days":
				w.Pass(25 * time.Hour)
			case "restart":
				w.Restart()
				x = w.Transactions()
			}
			if err != nil {
				require.Contains(t, []wire.Code{wire.Conflict, wire.NotFound}, wire.CodeOf(err), "%v", err)
			}
		}
		list, err := x.List(ctx, paylinks.Filter{})
		require.NoError(t, err)
		var earned int64
		for _, one := range list {
			link := one.Invoice.PaymentRequestID
			switch one.Status {
			case paylinks.Confirmed, paylinks.PartiallyRefunded, paylinks.Refunded:
				require.False(t, deleted[link], "%+v", one)
				if *one.Invoice.RefundedAmount == 0 && one.Status != paylinks.Confirmed || one.Status == paylinks.Refunded && *one.Invoice.RefundedAmount > one.Invoice.TotalAmount {
					t.Fatalf("%+v", one)
				}
				earned += one.Invoice.TotalAmount - *one.Invoice.RefundedAmount
			case paylinks.Waiting, paylinks.Authorized, paylinks.Reserved:
				require.False(t, deleted[link], "%+v", one)
			case paylinks.Declined, paylinks.Cancelled:
				require.Zero(t, *one.Invoice.RefundedAmount)
			default:
				t.Fatalf("a word of nobody: %+v", one)
			}
		}
		require.LessOrEqual(t, int64(w.net()), earned, "less only where a part was charged")
		for id := range deleted {
			_, err := w.Read(ctx, id)
			refused(t, err, wire.NotFound, "")
		}
	})
}
