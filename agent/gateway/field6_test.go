package gateway_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
)

// TestField6_WhatWasNeverSentThereIsNotSentHere: a provider did not answer, and a client was told that its refund was not sent. The
// provider was changed, the client's queue tried again under the same Key, and the refund was done to the payment of another customer that
// has the number at the new one. Under a key the same path is the same request (MONEY C.8): it was asked of the books before, and a
// number is of one account (laws III and IV). The kind: each write that was withdrawn and names what no journal of ours has made, a link's
// transaction and a payment of nobody here. What was made here is refused by its own place. Under another key it is a new request, back at
// the provider before the old one goes on, and a create names nothing: it is made where the service stands.
func TestField6_WhatWasNeverSentThereIsNotSentHere(t *testing.T) {
	for name, do := range map[string]func(s *shop, key wire.Key, id int64) error{
		"a refund of a link's transaction": func(s *shop, key wire.Key, id int64) error {
			_, err := s.front.Transactions().Refund(s.t.Context(), key, id, paylinks.RefundRequest{Amount: cents(300)})
			return err
		},
		"a refund of a payment of nobody here": func(s *shop, key wire.Key, _ int64) error {
			_, err := s.pay.Refund(s.t.Context(), key, "7", payments.RefundRequest{Amount: some(300)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{Unstored: []string{gateway.Payments, gateway.Paylinks}}, func(t *testing.T, s *shop) {
				at := func(move func(tx store.Tx, service, place string) error, place string) {
					require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
						return errors.Join(move(tx, gateway.Payments, place), move(tx, gateway.Paylinks, place))
					}))
				}
				theirs := s.paid()
				s.cut()
				require.Equal(t, wire.Unavailable, wire.CodeOf(do(s, "k1", theirs.ID)))
				require.Equal(t, wire.Unavailable, wire.CodeOf(do(s, "k2", theirs.ID)))
				s.stop()
				before := s.backend
				defer func() { require.NoError(t, before.Close()) }()
				s.backend = openBackend(t)
				s.cable.to = wiretest.Direct(s.backend.Handler())
				s.start()
				s.mend()
				at(gateway.Leave, "https://a.example")
				require.Equal(t, theirs.ID, s.paid().ID, "both count alike")
				sent := len(s.cable.writes())
				for range 2 {
					err := do(s, "k1", theirs.ID)
					require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
					require.ErrorContains(t, err, "https://a.example")
				}
				require.Len(t, s.cable.writes(), sent, "nothing was sent")
				_ = do(s, "k3", theirs.ID) // of a payment of nobody the backend has none
				require.Len(t, s.cable.writes(), sent+1, "a new request")
				at(gateway.Leave, "https://b.example")
				at(gateway.Return, "https://a.example")
				_ = do(s, "k2", theirs.ID)
				require.Len(t, s.cable.writes(), sent+2, "it is asked of the same books")
			})
		})
	}
	t.Run("a create", func(t *testing.T) {
		inShop(t, gateway.Options{Unstored: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
			create := func() error {
				_, err := s.pay.Create(t.Context(), "k", moto(payments.ProcessSale, 500))
				return err
			}
			s.cut()
			require.Equal(t, wire.Unavailable, wire.CodeOf(create()))
			require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return gateway.Leave(tx, gateway.Payments, "https://a.example") }))
			s.mend()
			s.pass(0)
			require.NoError(t, create())
		})
	})
}
