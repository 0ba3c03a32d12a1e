package gateway_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// A client repeats a write that it was told is done, and its service stands at another provider by then: it has the answer of then, and
// the new provider, where the id may be another customer's, is not asked. Under a key of its own the same write is a new one. The kind:
// each write that names a thing (by the id that the provider gave it), or pays with one; the terminal's own token and a client that
// reaches its own things only; a thing that came with another (a link's transaction, a token).
func TestField5_ARepeatHasItsAnswerWhereverItsServiceStands(t *testing.T) {
	for name, caller := range map[string]wire.Caller{"the terminal's token": {}, "a client of its own": {Name: "alpha", Own: true}} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				ctx := wire.WithCaller(t.Context(), caller)
				links, txns := s.front.Links(), s.front.Transactions()
				create := func(key wire.Key, req payments.CreateRequest) string {
					made, err := s.pay.Create(ctx, key, req)
					require.NoError(t, err)
					return made.PaymentID
				}
				taken, reserved := create("p1", moto(payments.ProcessSale, 500)), create("p2", moto(payments.ProcessAuthorize, 600))
				cancelled, verified := create("p3", moto(payments.ProcessAuthorize, 700)), create("p4", moto(payments.ProcessVerify, 800))
				card, err := s.tok.Create(ctx, "t1", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
				require.NoError(t, err)
				secret, err := s.tok.Token(ctx, card.TokenizationID)
				require.NoError(t, err)
				link, err := links.Create(ctx, "l1", order())
				require.NoError(t, err)
				s.customer(link.ID)
				unpaid := order()
				unpaid.ReferenceID = "unpaid"
				other, err := links.Create(ctx, "l2", unpaid)
				require.NoError(t, err)
				txn := s.txn(link.ReferenceID).ID
				_, err = links.Read(ctx, link.ID)
				require.NoError(t, err)

				kind := map[string]func(key wire.Key) (any, error){
					"payments.refund": func(key wire.Key) (any, error) {
						return s.pay.Refund(ctx, key, taken, payments.RefundRequest{Amount: some(100)})
					},
					"payments.capture": func(key wire.Key) (any, error) {
						return s.pay.Capture(ctx, key, reserved, payments.CaptureRequest{})
					},
					"payments.cancel": func(key wire.Key) (any, error) {
						return s.pay.Cancel(ctx, key, cancelled, payments.CancelRequest{})
					},
					"payments.authorize": func(key wire.Key) (any, error) {
						return s.pay.Authorize(ctx, key, verified, payments.AuthorizeRequest{})
					},
					"payments.create-by-token": func(key wire.Key) (any, error) {
						return s.pay.Create(ctx, key, payments.CreateRequest{
							Type: payments.Moto, Amount: 5, CurrencyCode: "EUR", Processing: payments.ProcessSale,
							PaymentMethodDetails: &payments.PaymentMethodDetails{Type: payments.WithToken, Token: secret.Token},
						})
					},
					"tokens.verify":                func(key wire.Key) (any, error) { return s.tok.Verify(ctx, key, card.TokenizationID) },
					"paylinks.delete":              func(key wire.Key) (any, error) { return links.Delete(ctx, key, other.ID) },
					"paylinks.refund-of-a-payment": func(key wire.Key) (any, error) { return txns.Refund(ctx, key, txn, paylinks.RefundRequest{}) },
				}
				told := map[string]any{}
				for what, do := range kind {
					answer, err := do(wire.Key("k-" + what))
					require.NoError(t, err, what)
					told[what] = answer
				}

				require.NoError(t, s.db.Write(context.Background(), func(tx store.Tx) error {
					for _, service := range []string{gateway.Payments, gateway.Tokens, gateway.Paylinks} {
						if err := gateway.Leave(tx, service, "https://a.example"); err != nil {
							return err
						}
					}
					return nil
				}))
				sent := len(s.cable.writes())
				for what, do := range kind {
					answer, err := do(wire.Key("k-" + what))
					require.NoError(t, err, what)
					require.Equal(t, told[what], answer, what)
				}
				require.Len(t, s.cable.writes(), sent, "nothing was sent")
				if caller.Own { // what it did not make at the new provider it does not reach there
					for what, do := range kind {
						_, err := do(wire.Key("new-" + what))
						require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", what, err)
					}
					require.Len(t, s.cable.writes(), sent, "nothing was sent")
				}
			})
		})
	}
}
