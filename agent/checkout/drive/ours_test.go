package drive_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// named gives every transaction a ppref of its own.
func (w *world) named() {
	w.onInit = func(int, aapay.Type, aapay.Request) (*aapay.Reply, error, bool) { return nil, nil, false }
	w.onReply = func(x *txn, r *aapay.Reply) {
		x.naa = &aapay.NAA2ECR{PPRef: fmt.Sprintf("pp-%d", x.id)}
		r.Response.NAA2ECR = x.naa
	}
}

// A gateway whose pool has slipped by one hands out the answer of another request. No sale is
// approved by it, whichever answer it is and however little it tells; once the gateway is well again
// the sale ends as the customer has decided, under its own transaction.
func TestField2_M15AnothersAnswerApprovesNothing(t *testing.T) {
	first := func(w *world) *txn { return w.order[0] }
	slips := map[string]struct {
		tells bool // what the service tells of the request in a status
		slip  func(w *world)
		heal  func(w *world)
	}{
		"the answer to initialize is the neighbour's, and tells its name": {false, func(w *world) {
			own := w.onReply
			w.onReply = func(x *txn, r *aapay.Reply) {
				if own(x, r); x.typ == aapay.Payment {
					r.Response.NAA2ECR = first(w).naa
				}
			}
		}, func(*world) {}},
		"the same of a service that tells the reference": {true, func(w *world) {
			own := w.onReply
			w.onReply = func(x *txn, r *aapay.Reply) {
				if own(x, r); x.typ == aapay.Payment {
					r.Response.NAA2ECR = first(w).naa
				}
			}
		}, func(*world) {}},
		"the status is the neighbour's": {true, func(w *world) {
			w.answer = func(_ *txn, st *aapay.Status) { *st = w.statusOf(first(w)) }
		}, func(w *world) { w.answer = nil }},
		"the status is the neighbour's, and names no ppref": {true, func(w *world) {
			w.answer = func(_ *txn, st *aapay.Status) { *st = w.statusOf(first(w)); st.NAA2ECR = nil }
		}, func(w *world) { w.answer = nil }},
		"the status is the neighbour's, and has its number alone": {false, func(w *world) {
			w.onReply = nil
			w.answer = func(_ *txn, st *aapay.Status) {
				*st = w.statusOf(first(w))
				st.NAA2ECR, st.Receipt, st.TimeStamp = nil, nil, ""
			}
		}, func(w *world) { w.answer = nil }},
		"the status tells another amount": {true, func(w *world) {
			w.answer = func(_ *txn, st *aapay.Status) {
				st.State, st.AccountState, st.Receipt.Amount = aapay.Finalized, aapay.Commit, st.Receipt.Amount+1
			}
		}, func(w *world) { w.answer = nil }},
		"the status tells another currency": {true, func(w *world) {
			w.answer = func(_ *txn, st *aapay.Status) {
				st.State, st.AccountState, st.Receipt.Currency = aapay.Finalized, aapay.Commit, "USD"
			}
		}, func(w *world) { w.answer = nil }},
		"the status tells another reference": {true, func(w *world) {
			w.answer = func(_ *txn, st *aapay.Status) {
				st.State, st.AccountState, st.Receipt.Reference = aapay.Finalized, aapay.Commit, "0123456789abcdef0123456789abcdef"
			}
		}, func(w *world) { w.answer = nil }},
	}
	for name, c := range slips {
		for _, pays := range []bool{false, true} {
			terminal(t, func(r *rig) {
				r.world.tells = c.tells
				r.world.named()
				one := r.approved(300)
				r.world.lock(func() { c.slip(r.world); r.world.onStatus = nil })
				s := r.sale(500)
				pass(20 * time.Second)
				row, _ := r.show(s.ID)
				require.NotEqual(t, ecr.Approved, row.State.Result, name)
				r.world.lock(func() { c.heal(r.world) })
				if pays {
					r.payLate()
				}
				o := <-s.Outcome
				r.Told(s, ecr.Told)
				r.settle()
				if o.Result == ecr.Approved {
					require.True(t, pays, "%s: approved, and nobody has paid", name)
					require.NotEqual(t, one.TransactionID, o.TransactionID, name)
					require.EqualValues(t, 800, r.world.net(), name)
					return
				}
				require.EqualValues(t, 300, r.world.net(), "%s: told %s", name, o.Result)
				require.False(t, pays && c.tells, "%s: the service told whose it was, and the customer has paid", name)
			})
		}
	}
}

// A refund or reversal whose end names the transaction of another intent of this journal is not done.
func TestField2_M15AnothersEndIsNoRefund(t *testing.T) {
	terminal(t, func(r *rig) {
		one, two := r.approved(300), r.approved(500)
		r.Approved(r.Accepted(refundOf(one, 100)), ecr.Told)
		r.world.lock(func() {
			r.world.onReply = func(x *txn, _ *aapay.Reply) { // it fails
				n, _ := strconv.Atoi(x.req.OriginalReference)
				r.world.moved[r.world.order[n-1].req.TerminalReference] += x.req.PurchaseAmount.TotalAmount
				x.state, x.account = aapay.Failed, ""
			}
			r.world.answer = func(_ *txn, st *aapay.Status) { *st = r.world.statusOf(r.world.order[2]) } // the first refund's
		})
		s := r.Accepted(refundOf(two, 100))
		o := <-s.Outcome
		require.Equal(t, ecr.InProgress, o.Result, "told done under the transaction %s", o.TransactionID)
		r.Told(s, ecr.Told)
		row, lines := r.show(s.ID)
		require.Empty(t, row.State.Result)
		require.Contains(t, fmt.Sprint(lines), "another")
		require.EqualValues(t, 700, r.world.net())
	})
}
