package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/store"
)

// alerts are what a person has to acknowledge.
func (r *rig) alerts() (list []outbox.Alert) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) (err error) { list, _, err = outbox.Alerts(rd, 100); return err }))
	return list
}

// refuses lets the service reject every request of a type.
func (r *rig) refuses(refused aapay.Type) {
	r.world.lock(func() {
		r.world.onInit = func(_ int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
			return &aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil, typ == refused
		}
	})
}

// reserved makes an acknowledged approval that awaits its COMMIT.
func (r *rig) reserved(amount int64) ecr.Sale {
	def := swish()
	def.OKCodes = []methods.OKCode{{Type: methods.Payment, Value: "RESERVED"}}
	r.defs = []methods.Definition{def}
	r.world.lock(func() { r.world.onStatus = say(1, aapay.Reserved, "") })
	s := r.sale(amount)
	require.Equal(r.t, ecr.Approved, (<-s.Outcome).Result)
	r.Told(s, ecr.Told)
	return s
}

// TestField2_M5EveryExceptionIsOneAlert: each exception that a sale can raise stands in the list of
// alerts, once for each sale, with the whole amount and who is short of it; it is also a line of the
// end-of-day report. The members of the kind are the exceptions of package checkout, a row that was
// changed from outside in a closed batch, and a sale that is left alone (crash_test.go has that one).
func TestField2_M5EveryExceptionIsOneAlert(t *testing.T) {
	for name, c := range map[string]struct {
		short  checkout.Short
		amount money.Minor
		reason string
		raise  func(r *rig) string
	}{
		"approved, ended without COMMIT": {checkout.Merchant, 700, "ended CANCELLED without COMMIT", func(r *rig) string {
			s := r.reserved(700)
			r.world.lock(func() { r.world.onStatus = say(1, aapay.Cancelled, "") })
			pass(time.Minute)
			return s.ID
		}},
		"approved, not finalized in time": {checkout.Merchant, 700, "without COMMIT", func(r *rig) string {
			s := r.reserved(700)
			r.world.lock(func() { r.world.onStatus = say(1, aapay.TimedOut, "") })
			pass(time.Minute)
			return s.ID
		}},
		"an undo that is refused for ever": {checkout.Customer, 1250, "undo did not succeed", func(r *rig) string {
			r.refuses(aapay.Reversal)
			o := r.unconfirmed(1250)
			pass(2 * time.Hour)
			require.Greater(r.t, len(r.world.sent(aapay.Reversal)), 3)
			return o.Sale
		}},
		"an approval that was never fetched": {checkout.Customer, 500, "never fetched the outcome", func(r *rig) string {
			req := ask("a")
			req.Keep = true
			o := r.unheard(req)
			pass(time.Hour)
			return o.Sale
		}},
		"a row of a closed batch was changed": {checkout.NotKnown, 100_000, "changed from outside", func(r *rig) string {
			o := r.approved(1000)
			_, err := r.Close(context.Background())
			require.NoError(r.t, err)
			require.NoError(r.t, r.DB.Write(context.Background(), rawExec(`UPDATE checkout_sales SET amount = 100000`)))
			r.Restart(false)
			pass(time.Minute)
			return o.Sale
		}},
	} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				sale := c.raise(r)
				list := r.alerts()
				require.Len(t, list, 1, "one line for one sale")
				a := list[0]
				require.Equal(t, []any{sale, outbox.AboutSale, int64(c.amount), "EUR", string(c.short)}, []any{string(a.Key), a.Kind, a.AmountMin, a.Currency, a.Short})
				require.Contains(t, a.Reason, c.reason)
				require.Contains(t, a.Subject, "payment of ")

				r.Restart(true)
				pass(time.Minute)
				require.Len(t, r.alerts(), 1, "over a start")
				require.NoError(t, r.Box.Acknowledge(context.Background(), a.Key))
				pass(time.Hour)
				require.Empty(t, r.alerts(), "acknowledged once")
			})
		})
	}
}

// TestField2_M5AnAlertThatIsProvenWrongGoes: COMMIT comes after the exception, an undo succeeds in the
// end, the till fetches the outcome after all. The line of the end-of-day report goes with it.
func TestField2_M5AnAlertThatIsProvenWrongGoes(t *testing.T) {
	for name, c := range map[string]struct{ raise, prove func(r *rig) ecr.Sale }{
		"COMMIT": {func(r *rig) ecr.Sale {
			s := r.reserved(700)
			r.world.lock(func() { r.world.onStatus = say(1, aapay.TimedOut, "") })
			pass(time.Minute)
			return s
		}, func(r *rig) ecr.Sale {
			r.world.lock(func() { r.world.onStatus = say(1, aapay.Finalized, aapay.Commit) })
			return ecr.Sale{}
		}},
		"the undo succeeds": {func(r *rig) ecr.Sale {
			r.refuses(aapay.Reversal)
			o := r.unconfirmed(1250)
			pass(time.Hour)
			return ecr.Sale{ID: o.Sale}
		}, func(r *rig) ecr.Sale {
			r.world.lock(func() { r.world.onInit = nil })
			return ecr.Sale{}
		}},
		"the till asks": {func(r *rig) ecr.Sale {
			req := ask("a")
			req.Keep = true
			o := r.unheard(req)
			pass(time.Hour)
			return ecr.Sale{ID: o.Sale}
		}, func(r *rig) ecr.Sale {
			req := ask("a")
			req.Keep = true
			s := r.Accepted(req)
			<-s.Outcome
			r.Told(s, ecr.Told)
			return s
		}},
	} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				s := c.raise(r)
				list := r.alerts()
				require.Len(t, list, 1)
				require.Equal(t, s.ID, string(list[0].Key))
				require.Contains(t, r.exceptions(), list[0].Reason)
				c.prove(r)
				pass(time.Hour)
				require.Empty(t, r.alerts())
				require.NotContains(t, r.exceptions(), list[0].Reason)
			})
		})
	}
}
