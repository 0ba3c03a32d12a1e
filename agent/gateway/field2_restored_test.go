package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// A backup knows an operation in any state in which nothing is known to have left. After it was made the operation was sent. Restored,
// it is sent again by nothing and nobody: not by its client's repeat, not once a person has released everything.
func TestField2_M39WhateverABackupSaysOfARowItMayHaveBeenSentSince(t *testing.T) {
	code := moto(payments.ProcessSale, 700)
	code.CardDetails.ValidationCode = "123"
	part := payments.RefundRequest{Amount: some(300)}
	type row struct {
		state outbox.State // in the backup
		ask   func(t *testing.T, s *shop, id string) (*wire.Pending, error)
		set   func(t *testing.T, s *shop, key wire.Key) // what is done before the backup
		go_   func(t *testing.T, s *shop, key wire.Key) // and after it
	}
	refund := func(t *testing.T, s *shop, id string) (*wire.Pending, error) {
		d, err := s.pay.Refund(t.Context(), "r1", id, part)
		return d.Operation, err
	}
	pay := func(t *testing.T, s *shop, _ string) (*wire.Pending, error) {
		c, err := s.pay.Create(t.Context(), "p1", code)
		return c.Operation, err
	}
	nothing := func(*testing.T, *shop, wire.Key) {}
	rows := map[string]row{
		"pending": {outbox.Pending, refund, nothing, nothing},
		"held by a person": {outbox.Held, refund,
			func(t *testing.T, s *shop, key wire.Key) { require.NoError(t, s.box.Hold(t.Context(), key, "not now")) },
			func(t *testing.T, s *shop, key wire.Key) { require.NoError(t, s.box.Release(t.Context(), key)) },
		},
		"withdrawn, and told that nothing was sent": {outbox.Expired, pay, nothing,
			func(t *testing.T, s *shop, _ wire.Key) {
				_, err := pay(t, s, "")
				require.NoError(t, err)
			}},
	}
	for how, opts := range map[string]gateway.Options{"no keys": {Keyless: []string{gateway.Payments}}, "keys forgotten": {}} {
		for name, row := range rows {
			t.Run(how+", "+name, func(t *testing.T) {
				inShop(t, opts, func(t *testing.T, s *shop) {
					way := mode(nil)
					if len(opts.Keyless) > 0 {
						way = keyless
					}
					s.cable.set(false, way)
					c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
					require.NoError(t, err)
					s.cut()
					_, _ = row.ask(t, s, c.PaymentID)
					s.pass(time.Second)
					key := s.ops()[1].Key
					row.set(t, s, key)
					backup := s.backup()
					require.Equal(t, row.state, s.op(key).State)
					s.cable.set(false, way)
					s.box.Online()
					s.pass(time.Minute)
					row.go_(t, s, key)
					s.pass(time.Minute)
					require.Equal(t, outbox.Done, s.op(key).State)
					before := len(s.cable.writes())
					if len(opts.Keyless) == 0 {
						s.pass(25 * time.Hour)
					}

					s.restore(backup)
					_, _ = row.ask(t, s, c.PaymentID)
					s.pass(time.Hour)
					if state := s.op(key).State; state != outbox.Expired {
						require.Equal(t, outbox.Held, state, "it waits for a person")
					}
					_, err = s.box.ReleaseEach(t.Context())
					require.NoError(t, err)
					s.pass(time.Hour)
					for range 2 {
						_, err = row.ask(t, s, c.PaymentID)
						s.pass(time.Minute)
					}
					require.NotEqual(t, wire.Unavailable, wire.CodeOf(err), "that nothing was sent is not known any more: %v", err)
					require.Len(t, s.cable.writes(), before, "one departure")
				})
			})
		}
	}
}

// What was withdrawn since the restore was never sent, and goes on at once.
func TestField2_M39WhatIsWithdrawnSinceIsRevived(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.restore(s.backup())
		code := moto(payments.ProcessSale, 700)
		code.CardDetails.ValidationCode = "123"
		s.cut()
		_, err := s.pay.Create(t.Context(), "p1", code)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		s.mend()
		s.pass(25 * time.Hour)
		c, err := s.pay.Create(t.Context(), "p1", code)
		require.NoError(t, err)
		require.Nil(t, c.Operation)
	})
}
