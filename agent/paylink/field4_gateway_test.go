package paylink_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/offline"
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
					require.Equal(t, offline.InDoubt, d.state("r2"))
					return
				}
				require.EqualValues(t, "REFUNDED", d.state("r2"))
				require.EqualValues(t, 200, *d.bank.txns[0].Invoice.RefundedAmount, "each once")
			})
		})
	}
}
