package paylink_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
)

// TestField4_GatewayG9AListThatLagsShowsNoRefundOfOurs: a register gave two equal parts of a payment by link
// back. The list before the second one lagged and did not show the first, the second request was lost, and
// the next reading showed one part more: the second was told as done, and nothing had moved. What the
// journal knows to have given back stood there before, whatever the list showed. It is the member of
// TestField4_GatewayG4 that a register meets. The kind: a service that tells what went back, and one that
// tells it by words alone, where a person decides.
func TestField4_GatewayG9AListThatLagsShowsNoRefundOfOurs(t *testing.T) {
	for _, silent := range []bool{false, true} {
		t.Run(fmt.Sprint("words only ", silent), func(t *testing.T) {
			service(t, func(d *desk) {
				d.bank.silent = silent
				id := d.paid("p1", 500)
				d.must(aapay.Refund, "r1", id, 100)
				require.EqualValues(t, "REFUNDED", d.state("r1"))
				show := func(given int64, word paylinks.Status) {
					d.bank.lock(func() { d.bank.txns[0].Invoice.RefundedAmount, d.bank.txns[0].Status = &given, word })
				}
				d.bank.spoil(func(call string) error {
					switch call {
					case "list":
						show(0, paylinks.Confirmed)
					case "refund":
						return errLost
					}
					return nil
				}, func(call string) error {
					if call == "list" {
						show(100, paylinks.PartiallyRefunded)
					}
					return nil
				})
				d.must(aapay.Refund, "r2", id, 100)
				d.bank.spoil(nil, nil)
				for range 3 {
					rest(31 * time.Second)
					d.state("r2")
				}
				if silent {
					require.Equal(t, gateway.InDoubt, d.state("r2"))
					return
				}
				require.EqualValues(t, "REFUNDED", d.state("r2"))
				require.EqualValues(t, 200, *d.bank.txns[0].Invoice.RefundedAmount, "each once")
			})
		})
	}
}

// TestField4_GatewayG12ARefundThatIsAnsweredForAnotherIsRead: a register gave two parts of a payment by link
// back, and a gateway answered the second with the answer to the first: the register was told done, and
// nothing had moved. It is the member of the test of that name in agent/gateway that a register meets.
func TestField4_GatewayG12ARefundThatIsAnsweredForAnotherIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		arrives bool // and the reading behind it lags
		want    aapay.State
	}{"another's": {false, gateway.InDoubt}, "it lags only": {true, "REFUNDED"}} {
		t.Run(name, func(t *testing.T) {
			service(t, func(d *desk) {
				id := d.paid("p1", 500)
				d.must(aapay.Refund, "r1", id, 100)
				require.EqualValues(t, "REFUNDED", d.state("r1"))
				truth := *d.bank.txns[0].Invoice.RefundedAmount
				show := func(given int64) {
					d.bank.lock(func() { d.bank.txns[0].Invoice.RefundedAmount = &given })
				}
				d.bank.spoil(nil, func(call string) error {
					if call == "refund" { // what it did is undone, or does not show
						truth = *d.bank.txns[0].Invoice.RefundedAmount
						show(100)
					}
					return nil
				})
				d.must(aapay.Refund, "r2", id, 100)
				require.EqualValues(t, 200, truth)
				require.Equal(t, aapay.Pending, d.state("r2"))
				if c.arrives {
					show(truth)
				}
				rest(31 * time.Second)
				require.Equal(t, c.want, d.state("r2"))
				require.Equal(t, 2, d.bank.count("refund"), "it is not sent again")
			})
		})
	}
}
