package paylink_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

func TestASaleByPaymentLink(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(1250)
		pass(5 * time.Second)
		require.True(t, r.screen.code())
		link := r.bank.links[0]
		require.EqualValues(t, 1250, link.Amount)
		require.Equal(t, *link.Link.Link, r.row(s.ID).State.Payload)
		require.Equal(t, link.ReferenceID, r.row(s.ID).Reference)
		r.pay()
		o := <-s.Outcome
		require.Equal(t, ecr.Approved, o.Result)
		require.Equal(t, "100001", o.TransactionID)
		require.False(t, r.screen.code())
		r.Told(s, ecr.Told)
		r.settle()
		require.EqualValues(t, 1250, r.bank.net())
		require.Equal(t, 1, r.bank.count("create"))
		require.Empty(t, r.ops())
	})
}

func TestMoneyB15_AnAbortDeletesTheLink(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(500)
		pass(5 * time.Second)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.True(t, r.bank.links[0].deleted)
		require.Equal(t, checkout.Reversing, r.phase(s.ID), "deleted, but a payment could be on its way")
		pass(45 * time.Second)
		require.Equal(t, checkout.Done, r.phase(s.ID))
		require.Equal(t, "paylink.reversal", r.ops()[0].Kind)
		require.Equal(t, outbox.Done, r.ops()[0].State)
	})
}

// The customer pays between the last look and the delete: the delete is refused, the link is read, and the payment refunded.
func TestMoneyB15_PaidBeforeTheDelete(t *testing.T) {
	for _, careless := range []bool{false, true} {
		terminal(t, func(r *rig) {
			r.bank.careless = careless
			s := r.Sale(500)
			pass(5 * time.Second)
			r.bank.spoil(func(call string) error {
				if call == "delete link" {
					r.bank.lock(func() { r.bank.pay(r.bank.links[0]) })
				}
				return nil
			}, nil)
			require.NoError(t, r.Abort(context.Background(), s.ID))
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
			r.Told(s, ecr.Told)
			r.settle()
			require.Len(t, r.bank.txns, 1)
			require.Zero(t, r.bank.net())
			require.Equal(t, 1, r.bank.count("refund"))
		})
	}
}

// A payment that somebody began before the delete, and that is decided after it.
func TestMoneyB15_BegunBeforeTheDelete(t *testing.T) {
	for _, careless := range []bool{false, true} {
		for _, goal := range []paylinks.Status{paylinks.Confirmed, paylinks.Declined, paylinks.Reserved} {
			terminal(t, func(r *rig) {
				r.bank.careless = careless
				s := r.Sale(500)
				pass(5 * time.Second)
				r.bank.lock(func() { r.bank.begin(r.bank.links[0]) })
				require.NoError(t, r.Abort(context.Background(), s.ID))
				require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
				r.Told(s, ecr.Told)
				pass(5 * time.Minute)
				require.Equal(t, checkout.Reversing, r.phase(s.ID))
				r.bank.lock(func() { r.bank.end(r.bank.txns[0], goal) })
				r.settle()
				require.Zero(t, r.bank.net())
				require.True(t, r.bank.links[0].deleted || r.bank.links[0].Status == paylinks.Confirmed)
				require.False(t, r.bank.txns[0].Status == paylinks.Reserved, "held for nobody")
			})
		}
	}
}

// "Not found" is what a delete may answer after its first answer was lost, and what somebody else's may leave behind: the
// transactions are looked at in any case.
func TestMoneyB15_NotFoundIsNotUnpaid(t *testing.T) {
	terminal(t, func(r *rig) {
		r.bank.careless = true
		s := r.Sale(500)
		pass(5 * time.Second)
		r.bank.spoil(func(call string) error {
			if call == "delete link" {
				r.bank.lock(func() {
					r.bank.pay(r.bank.links[0])
					r.bank.links[0].deleted = true
				})
			}
			return nil
		}, nil)
		require.NoError(t, r.Abort(context.Background(), s.ID))
		<-s.Outcome
		r.Told(s, ecr.Told)
		r.settle()
		require.Len(t, r.bank.txns, 1)
		require.Zero(t, r.bank.net())
	})
}

// The link stays on the customer's phone after the code has left the screen.
func TestMoneyB15_PaidAfterTheDeadline(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(500)
		pass(5 * time.Second)
		r.bank.spoil(func(string) error { return errGone }, nil) // dead network
		require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
		r.Told(s, ecr.Told)
		require.False(t, r.screen.code())
		r.pay()
		pass(time.Hour)
		require.EqualValues(t, 500, r.bank.net())
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
		r.bank.spoil(nil, nil)
		r.settle()
		require.Zero(t, r.bank.net())
		require.Equal(t, 1, r.bank.count("refund"))
	})
}

// What was told approved and not acknowledged goes back, as with any other method.
func TestMoneyB15_AnApprovalThatWasLostIsRefunded(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(500)
		pass(5 * time.Second)
		r.pay()
		r.Approved(s, ecr.Lost)
		pass(11 * time.Minute)
		r.settle()
		require.Zero(t, r.bank.net())
		_, o, _ := r.last()
		require.Equal(t, ecr.Aborted, o.Result)
	})
}

func TestMoneyB15_EveryPaymentOnTheLinkGoesBack(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(500)
		pass(5 * time.Second)
		r.bank.lock(func() {
			require.True(t, r.bank.pay(r.bank.links[0]))
			r.bank.links[0].Status = paylinks.Waiting // a service that lets a second customer in
			require.True(t, r.bank.pay(r.bank.links[0]))
		})
		r.Approved(s, ecr.Refused)
		r.settle()
		require.Zero(t, r.bank.net())
		require.Equal(t, 2, r.bank.count("refund"))
	})
}

func TestMoneyB15_ReversalAndRefundOfAnAcknowledgedSale(t *testing.T) {
	terminal(t, func(r *rig) {
		first := r.approved(500)
		r.approved(700)
		s := r.Accepted(ecr.Request{Kind: ecr.Reversal, Receipt: first.Receipt})
		r.Approved(s, ecr.Told)
		require.EqualValues(t, 700, r.bank.net())
		for _, amount := range []money.Minor{200, 500} {
			s = r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: amount, Original: "T100002"})
			r.Approved(s, ecr.Told)
		}
		require.Zero(t, r.bank.net())
		_, err := r.Ask(ecr.Request{Kind: ecr.Refund, Amount: 1, Original: "T100002"})
		require.Error(t, err)
		r.settle()
		require.Equal(t, 3, r.bank.count("refund"))
	})
}

// A link's number means something else in another account: nothing of it may be touched.
func TestMoneyB15_AnotherLinkIsNotTouched(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(500)
		pass(5 * time.Second)
		other := "another"
		r.bank.lock(func() { r.bank.links[0].Hash = &other })
		require.NoError(t, r.Abort(context.Background(), s.ID))
		<-s.Outcome
		r.Told(s, ecr.Told)
		pass(time.Hour)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
		require.Zero(t, r.bank.count("delete link"))
		require.Contains(t, r.ops()[0].Reason, "is not the one that was made")
	})
}

// Switched off, the method keeps what it owes: the scheme service knows nothing of it, and would call it undone.
func TestMoneyB15_WithoutAnAccountTheUndoWaits(t *testing.T) {
	terminal(t, func(r *rig) {
		s := r.Sale(500)
		pass(5 * time.Second)
		r.none = true
		r.Restart(true)
		r.pay()
		pass(time.Hour)
		require.Equal(t, checkout.Reversing, r.phase(s.ID))
		r.none = false
		r.Restart(false)
		r.settle()
		require.Zero(t, r.bank.net())
	})
}

// A link that is not found although it was made, and was not deleted from here, may still be paid: at
// another site, or in data that lag. Its sale and its undo end by no such answer; found again, it is
// deleted, and what was paid goes back.
func TestField2_M18ALinkThatIsNotFoundMayBePaid(t *testing.T) {
	for _, paid := range []bool{false, true} {
		for _, aborted := range []bool{false, true} {
			terminal(t, func(r *rig) {
				s := r.Sale(500)
				pass(5 * time.Second)
				hidden := true
				r.bank.spoil(func(call string) error {
					if hidden && (call == "read link" || call == "delete link") {
						return no(wire.NotFound, "")
					}
					return nil
				}, nil)
				if aborted {
					require.NoError(t, r.Abort(context.Background(), s.ID))
				}
				require.Equal(t, ecr.Aborted, (<-s.Outcome).Result)
				r.Told(s, ecr.Told)
				pass(time.Hour)
				require.Equal(t, checkout.Reversing, r.phase(s.ID), "not found, and nobody has deleted it")
				require.Equal(t, outbox.Doubt, r.ops()[0].State, r.ops()[0].Reason)

				r.bank.lock(func() { hidden = false })
				if paid {
					r.pay()
				}
				pass(time.Hour)
				require.Equal(t, checkout.Done, r.phase(s.ID))
				require.Zero(t, r.bank.net())
				require.True(t, r.bank.links[0].deleted || r.bank.links[0].Status == paylinks.Confirmed)
			})
		}
	}
}
