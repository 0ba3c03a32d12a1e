package paylink_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/paylink"
	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// TestField5_PortARefundIsNoOtherRefundOfThePayment: one till gave 2.00 of a payment by link back, and the request was lost; another till
// gave 2.00 of it back, which was done. The next reading showed 2.00, and the first was told as done as well: the customer had half of it.
// The kind: what another refund of this journal has done to the payment since, or may have done, is no effect of this one. Its members: a
// refund that has ended and one that is open; of the same amount, of another one, and of several that come to it; a service that tells
// what went back, and one that tells it by words; a success that names nothing; a refusal behind a lost attempt, and one of the first.
func TestField5_PortARefundIsNoOtherRefundOfThePayment(t *testing.T) {
	lose := func(call string) error {
		if call == "refund" {
			return errLost
		}
		return nil
	}
	for name, c := range map[string]struct {
		silent, arrived bool    // the first one's request
		besides         []int64 // of other tills
		open            bool    // and their requests are lost likewise
		want            string  // of the first, and of the others
		returned        int64
	}{
		"the same amount":            {besides: []int64{200}, want: "IN_DOUBT REFUNDED", returned: 200},
		"the same, and it arrived":   {arrived: true, besides: []int64{200}, want: "REFUNDED REFUNDED", returned: 400},
		"another amount":             {besides: []int64{150}, want: "REFUNDED REFUNDED", returned: 350},
		"another, and it arrived":    {arrived: true, besides: []int64{150}, want: "REFUNDED REFUNDED", returned: 350},
		"several that come to it":    {besides: []int64{150, 50}, want: "IN_DOUBT REFUNDED REFUNDED", returned: 200},
		"words only":                 {silent: true, besides: []int64{200}, want: "IN_DOUBT REFUNDED", returned: 200},
		"words only, and it arrived": {silent: true, arrived: true, besides: []int64{200}, want: "IN_DOUBT REFUNDED", returned: 400},
		"both are lost":              {besides: []int64{200}, open: true, want: "REFUNDED IN_DOUBT", returned: 200},
	} {
		t.Run(name, func(t *testing.T) {
			service(t, func(d *desk) {
				d.bank.silent = c.silent
				id := d.paid("p1", 500)
				if d.bank.spoil(lose, nil); c.arrived {
					d.bank.spoil(nil, lose)
				}
				d.must(aapay.Refund, "r0", id, 200)
				if !c.open {
					d.bank.spoil(nil, nil)
				}
				refunds := []string{"r0"}
				for i, amount := range c.besides {
					refunds = append(refunds, "r"+string(rune('1'+i)))
					d.must(aapay.Refund, refunds[i+1], id, amount)
				}
				d.bank.spoil(nil, nil)
				var ends []string
				for range 4 {
					rest(31 * time.Second)
					ends = nil
					for _, r := range refunds {
						ends = append(ends, string(d.state(r)))
					}
				}
				require.Equal(t, c.want, strings.Join(ends, " "))
				require.EqualValues(t, c.returned, *d.bank.txns[0].Invoice.RefundedAmount)
			})
		})
	}

	t.Run("a refusal", func(t *testing.T) {
		for first, want := range map[bool]aapay.State{true: aapay.Failed, false: gateway.InDoubt} {
			service(t, func(d *desk) {
				id := d.paid("p1", 500)
				if !first {
					d.bank.spoil(lose, nil)
					d.must(aapay.Refund, "r0", id, 200)
					rest(31 * time.Second)
				}
				d.bank.spoil(func(call string) error {
					if call == "refund" { // another channel's goes first
						d.bank.lock(func() {
							*d.bank.txns[0].Invoice.RefundedAmount, d.bank.txns[0].Status = 450, paylinks.PartiallyRefunded
						})
						return no(wire.Conflict, paylinks.TooMuch)
					}
					return nil
				}, nil)
				d.must(aapay.Refund, "r0", id, 200)
				require.Equal(t, want, d.state("r0"), "first attempt %v", first)
			})
		}
	})
}

// TestField5_PortANoBehindALostRefundIsReadAgain: the answer to a refund of 3.00 was lost, and it was sent again after the quiet time.
// The service refused the second one, since the first was done, and the next reading lagged: the register was told "not done", and the
// customer had the money. It is the member of TestField4_GatewayG3 that a register meets. The kind: a no that is heard behind a lost
// attempt, whose effect shows later, and one after which nothing shows; over a start.
func TestField5_PortANoBehindALostRefundIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		arrived bool
		want    aapay.State
	}{"it was done": {true, "REFUNDED"}, "it was not": {false, aapay.Failed}} {
		for _, restart := range []bool{false, true} {
			service(t, func(d *desk) {
				id := d.paid("p1", 500)
				lose := func(call string) error {
					if call == "refund" {
						return errLost
					}
					return nil
				}
				if d.bank.spoil(lose, nil); c.arrived {
					d.bank.spoil(nil, lose)
				}
				d.must(aapay.Refund, "r1", id, 300)
				truth := *d.bank.txns[0].Invoice
				word := d.bank.txns[0].Status
				zero := int64(0)
				d.bank.spoil(func(call string) error {
					if call == "refund" {
						return no(wire.Conflict, paylinks.TooMuch)
					}
					return nil
				}, nil)
				lagging := truth
				lagging.RefundedAmount = &zero
				d.bank.lock(func() { d.bank.txns[0].Invoice, d.bank.txns[0].Status = &lagging, paylinks.Confirmed })
				rest(31 * time.Second)
				require.Equal(t, aapay.Pending, d.state("r1"), name)
				d.bank.lock(func() { d.bank.txns[0].Invoice, d.bank.txns[0].Status = &truth, word })
				if restart {
					d.again("demo")
					d.state("r1")
				}
				rest(31 * time.Second)
				require.Equal(t, c.want, d.state("r1"), name)
			})
		}
	}
}

// TestField5_PortALinkThatNamesNothingIsRead: two tills sold 12.50 by link, and a gateway answered the second create with the answer to the
// first, which names number, hash and address alone. The second customer paid the first one's link: one sale was approved by the other's
// money. The kind: an answer to a create that names neither reference nor Key; the link of another sale, one that is not there and one
// that cannot be read; and the own one, which is taken.
func TestField5_PortALinkThatNamesNothingIsRead(t *testing.T) {
	bare := func(l paylinks.Link) *paylinks.Link {
		return &paylinks.Link{ID: l.ID, Hash: l.Hash, Link: l.Link}
	}
	for name, c := range map[string]struct {
		other bool
		spoil func(d *desk)
		taken bool
	}{
		"another sale's":  {other: true},
		"it is not there": {spoil: func(d *desk) { d.bank.links[len(d.bank.links)-1].deleted = true }},
		"it cannot be read": {spoil: func(d *desk) {
			d.bank.spoil(func(call string) error {
				if call == "read link" {
					return errGone
				}
				return nil
			}, nil)
		}},
		"its own": {taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			service(t, func(d *desk) {
				d.bank.keyed = true
				d.must(aapay.Payment, "p0", "", 1250)
				d.svc = paylink.New(paylink.Options{DB: d.db, Links: mixed{linkHalf{d.bank}, func() *paylinks.Link {
					if c.spoil != nil {
						c.spoil(d)
					}
					if c.other {
						return bare(d.bank.links[0].Link)
					}
					return bare(d.bank.links[len(d.bank.links)-1].Link)
				}}, Transactions: txnHalf{d.bank}, Instance: "demo"})
				_, err := d.do(aapay.Payment, "p1", "", 1250)
				if c.taken {
					require.NoError(t, err)
					require.Equal(t, aapay.Initialized, d.state("p1"))
					return
				}
				require.Equal(t, wire.Unavailable, wire.CodeOf(err))
				d.bank.spoil(nil, nil)
				_, err = d.svc.Status(d.t.Context(), "p1", "")
				require.Equal(t, wire.NotFound, wire.CodeOf(err), "no link is shown")
				require.False(t, d.bank.links[0].deleted, "the other sale's")
			})
		})
	}
}
