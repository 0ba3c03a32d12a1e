package paylink_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/drivetest"
	"posagent/agent/gateway"
	"posagent/agent/paylink"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// Two links may have one number: those of two accounts, and those of books that were put back. What is given back by number is of the link
// of the account that is configured, or of none; what is given back of a payment is of the link that it was paid on, whatever another
// link of its number was paid. Kind: the entry of a number, the account's list of transactions, the reading of one transaction.
func TestField4_LinksOfOneNumber(t *testing.T) {
	back := func(d *desk) (sum int64) {
		d.bank.lock(func() {
			for _, x := range d.bank.txns {
				sum += *x.Invoice.RefundedAmount
			}
		})
		return sum
	}
	t.Run("of two accounts", func(t *testing.T) {
		service(t, func(d *desk) {
			number := d.paid("p1", 500)
			first := d.bank
			d.bank = newBank()
			d.again("other")
			require.Equal(t, number, d.paid("p2", 300))
			d.must(aapay.Refund, "r1", number, 200)
			require.EqualValues(t, "REFUNDED", d.state("r1"))
			require.EqualValues(t, 200, back(d))
			d.must(aapay.Refund, "r2", "p2", 100)
			require.EqualValues(t, 300, back(d))
			d.bank = first
			d.again("demo")
			require.Zero(t, back(d), "nobody asked for anything of it")
		})
	})
	t.Run("of books that were put back", func(t *testing.T) {
		service(t, func(d *desk) {
			number := d.paid("p1", 500)
			d.bank = newBank() // it has lost the link, and counts from 1 again
			d.again("demo")
			require.Equal(t, number, d.paid("p2", 500))
			reply, err := d.do(aapay.Refund, "r1", "p1", 500)
			require.NoError(t, err)
			require.Equal(t, 202, reply.HTTPStatus)
			_, err = d.svc.Status(d.t.Context(), "r1", "")
			require.ErrorContains(t, err, "another link of that number")
			_, err = d.do(aapay.Refund, "r2", number, 500)
			require.ErrorContains(t, err, "2 links of this journal have the number")
			require.Zero(t, back(d), "of the customer of p2")
			d.must(aapay.Refund, "r3", "p2", 500)
			require.EqualValues(t, "REFUNDED", d.state("r3"))
		})
	})
	t.Run("put back while a refund runs", func(t *testing.T) {
		service(t, func(d *desk) {
			d.paid("p1", 500)
			d.bank.spoil(func(call string) error {
				if call == "refund" {
					return errLost
				}
				return nil
			}, nil)
			d.must(aapay.Refund, "r1", "p1", 500) // its transaction is noted
			d.bank = newBank()
			d.again("demo")
			d.paid("p2", 500) // a transaction of the same number
			require.Error(t, stateErr(d, "r1"))
			rest(time.Minute)
			require.ErrorContains(t, stateErr(d, "r1"), "another link of that number")
			require.Zero(t, back(d))
		})
	})
}

func stateErr(d *desk, ref string) error {
	_, err := d.svc.Status(d.t.Context(), ref, "")
	return err
}

// The answer to a create that is the answer to another one is no link of ours: it is not taken, not shown and not deleted, and the same
// Key finds the own one. Kind: its reference, amount and currency.
func TestField4_AnotherLinksAnswer(t *testing.T) {
	for name, spoil := range map[string]func(l *paylinks.Link){
		"another's":    func(l *paylinks.Link) { l.ReferenceID, l.Amount = "p0", 990 },
		"reference":    func(l *paylinks.Link) { l.ReferenceID = "p0" },
		"amount":       func(l *paylinks.Link) { l.Amount = 990 },
		"the currency": func(l *paylinks.Link) { l.Currency = "CHF" },
	} {
		service(t, func(d *desk) {
			d.bank.keyed = true
			d.must(aapay.Payment, "p0", "", 990)
			other := d.bank.links[0].Link
			d.svc = paylink.New(paylink.Options{DB: d.db, Links: mixed{linkHalf{d.bank}, func() *paylinks.Link { spoil(&other); return &other }}, Transactions: txnHalf{d.bank}, Instance: "demo"})
			_, err := d.do(aapay.Payment, "p1", "", 500)
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), name)
			_, err = d.svc.Status(d.t.Context(), "p1", "")
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "it names no link yet")
			d.again("demo")
			d.must(aapay.Payment, "p1", "", 500)
			require.Equal(t, aapay.Initialized, d.state("p1"))
			d.must(aapay.Reversal, "r1", "p1", 500)
			rest(time.Minute)
			require.EqualValues(t, "REVERSED", d.state("r1"))
			require.False(t, d.bank.links[0].deleted, "the other sale's")
		})
	}
}

// mixed answers a create with another one's answer, after it has done it.
type mixed struct {
	linkHalf
	other func() *paylinks.Link
}

func (m mixed) Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (out paylinks.Created, err error) {
	if _, err = m.linkHalf.Create(ctx, key, req); err == nil {
		out.Link = *m.other()
	}
	return out, err
}

// A refund is done when its answer says that money went back, or a reading shows it: one that the service is still at may fail. Kind: each
// word that an answer may have.
func TestField4_ARefundThatIsAnsweredAndNotDone(t *testing.T) {
	for word, want := range map[paylinks.Status]aapay.State{
		paylinks.Refunded: "REFUNDED", paylinks.PartiallyRefunded: "REFUNDED", "": "REFUNDED",
		paylinks.RefundPending: aapay.Pending, paylinks.Failed: aapay.Pending, paylinks.Declined: aapay.Pending, "brand-new": aapay.Pending,
	} {
		service(t, func(d *desk) {
			d.paid("p1", 500)
			d.svc = paylink.New(paylink.Options{DB: d.db, Links: linkHalf{d.bank}, Transactions: says{txnHalf{d.bank}, word}, Instance: "demo"})
			d.must(aapay.Refund, "r1", "p1", 200)
			require.Equal(t, want, d.state("r1"), word)
			if word != paylinks.RefundPending {
				return
			}
			rest(time.Hour)
			require.Equal(t, aapay.Pending, d.state("r1"))
			d.bank.lock(func() { d.bank.txns[0].Status = paylinks.Confirmed }) // it has failed
			synctest.Wait()
			require.NotEqualValues(t, "REFUNDED", d.state("r1"))
			require.NotEqual(t, gateway.InDoubt, d.state("r1"))
		})
	}
}

// says answers a refund with a word, and gives back where that says so: an answer that names nothing of the request is read behind.
type says struct {
	txnHalf
	word paylinks.Status
}

func (s says) Refund(ctx context.Context, _ wire.Key, id int64, _ paylinks.RefundRequest) (paylinks.Done, error) {
	return paylinks.Done{ID: id, Status: s.word}, s.do("refund", func() error {
		switch t := s.txn(id); s.word {
		case paylinks.RefundPending:
			t.Status = s.word
		case paylinks.Refunded, paylinks.PartiallyRefunded, "":
			*t.Invoice.RefundedAmount, t.Status = 200, paylinks.PartiallyRefunded
		}
		return nil
	})
}

// What the checkout gives back of a link is named by the sale's reference, which no other link has: where the books of the account were put
// back, an older sale's link may have the same number. Kind: a refund by receipt and by number.
func TestField4_TheCheckoutNamesALinkByItsReference(t *testing.T) {
	for _, original := range []string{"R1", "T100001"} {
		terminal(t, func(r *rig) {
			lost := newBank()
			before := paylink.New(paylink.Options{DB: r.guard, Links: linkHalf{lost}, Transactions: txnHalf{lost}, Instance: "demo", Now: drivetest.Now})
			_, err := before.InitializeWithIdempotency(context.Background(), "key-before", aapay.Payment, request("before", "", 900))
			require.NoError(t, err)
			s := r.Sale(1250)
			pass(5 * time.Second)
			r.pay()
			require.Equal(t, "100001", (<-s.Outcome).TransactionID)
			r.Told(s, ecr.Told)
			r.settle()
			r.Approved(r.Accepted(ecr.Request{Kind: ecr.Refund, Amount: 200, Original: original, Line: "jsonl", Sequence: "B1"}), ecr.Told)
			require.EqualValues(t, 1050, r.bank.net())
		})
	}
}
