package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// TestField2_M44AdviceAndHold: after a restore the terminal told a client to repeat a link's create under its key, and sent it: that
// service knows no keys, so a second link was made and paid. Kind: each service that stores here, with Keys and without, and a journal
// older than the backend's memory of one: to repeat is advised only where it makes nothing twice, and else the repeat is held.
func TestField2_M44AdviceAndHold(t *testing.T) {
	link := order(func(r *paylinks.CreateRequest) { r.ReferenceID = "ORDER-7" })
	card := tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}}
	const unknown = "L00000000-0000-8000-8000-000000000001"
	for name, c := range map[string]struct {
		service string
		read    func(t *testing.T, s *shop) error
		create  func(t *testing.T, s *shop) (*wire.Pending, error)
		keyed   bool // as far as the contract goes
	}{
		"payment": {
			service: gateway.Payments, keyed: true,
			read: func(t *testing.T, s *shop) error { _, err := s.pay.Read(t.Context(), unknown); return err },
			create: func(t *testing.T, s *shop) (*wire.Pending, error) {
				c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessSale, 1000))
				return c.Operation, err
			},
		},
		"token": {
			service: gateway.Tokens, keyed: true,
			read: func(t *testing.T, s *shop) error { _, err := s.tok.Token(t.Context(), unknown); return err },
			create: func(t *testing.T, s *shop) (*wire.Pending, error) {
				c, err := s.tok.Create(t.Context(), "c1", card)
				return c.Operation, err
			},
		},
		"link": {
			service: gateway.Paylinks,
			read: func(t *testing.T, s *shop) error {
				_, err := s.front.Links().Read(t.Context(), 2_000_099_999)
				return err
			},
			create: func(t *testing.T, s *shop) (*wire.Pending, error) {
				c, err := s.front.Links().Create(t.Context(), "c1", link)
				return c.Operation, err
			},
		},
	} {
		for how, old := range map[string]time.Duration{"young": 0, "older than the backend's memory": 25 * time.Hour} {
			for keys, keyless := range map[string][]string{"": nil, ", [offline] keyless": {c.service}} {
				t.Run(name+", "+how+keys, func(t *testing.T) {
					inShop(t, gateway.Options{Keyless: keyless}, func(t *testing.T, s *shop) {
						_, err := s.pay.Create(t.Context(), "c0", moto(payments.ProcessSale, 100)) // the backup is not an empty one
						require.NoError(t, err)
						backup := s.backup()
						_, err = c.create(t, s)
						require.NoError(t, err)
						sent := len(s.cable.writes())
						s.restore(backup)
						require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
							return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasRestored}, Generation: 2, RunMS: 1})
						}))
						s.pass(old)
						repeat := c.keyed && keyless == nil && old == 0
						err = c.read(t, s)
						require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
						if repeat {
							require.ErrorContains(t, err, "repeat its write under its Idempotency-Key")
						} else {
							require.NotContains(t, err.Error(), "Idempotency-Key")
							require.ErrorContains(t, err, "compare the backend's portal")
						}
						for range 2 {
							op, err := c.create(t, s)
							require.NoError(t, err)
							require.Equal(t, !repeat, op != nil && s.op(op.Key).State == outbox.Held)
							s.pass(time.Hour)
						}
						if !repeat {
							require.Len(t, s.cable.writes(), sent, "nothing leaves before a person has released it")
						}
					})
				})
			}
		}
	}
}
