package gateway_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// What was made at the provider before is refused by its local id, which is for ever, and says where it was made. The id that the
// provider gave it names another customer's thing at the new one: it is not the client's. A repeat of what was asked then has the answer
// of then, and where the service comes back all of it is known again. The kind: payments, stored cards, links, and a link's transactions.
func TestField2_M41AThingOfTheProviderBeforeIsRefused(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		const before = "https://a.example"
		alpha := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true})
		at := func(do func(tx store.Tx, service, place string) error) {
			require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
				for _, service := range []string{gateway.Payments, gateway.Tokens, gateway.Paylinks} {
					if err := do(tx, service, before); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		links, txns := s.front.Links(), s.front.Transactions()
		link, err := links.Create(alpha, "l1", order())
		require.NoError(t, err)
		s.customer(link.ID)
		txn := s.txn(link.ReferenceID).ID
		_, err = txns.Read(alpha, txn)
		require.NoError(t, err)
		payment, err := s.pay.Create(alpha, "p1", moto(payments.ProcessSale, 500))
		require.NoError(t, err)
		card := tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}}
		token, err := s.tok.Create(alpha, "t1", card)
		require.NoError(t, err)
		secret, err := s.tok.Token(alpha, token.TokenizationID)
		require.NoError(t, err)
		local := func(kind string) (id string) {
			for _, op := range s.ops() {
				if op.Kind == kind {
					id = op.Aggregate[len(op.Aggregate)-len("L")-36:]
				}
			}
			return id
		}
		number := func(id string) int64 {
			n, err := strconv.ParseInt(id, 10, 64)
			require.NoError(t, err)
			return n
		}
		made := int64(0) // the link's local number
		require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) error {
			id := ""
			err := r.QueryRow(`SELECT local FROM offline_things WHERE about = 'link'`).Scan(&id)
			made = number(id)
			return err
		}))
		calls := map[string]func(ctx context.Context, payment, token string, link int64) error{
			"payment read": func(ctx context.Context, id, _ string, _ int64) error { _, err := s.pay.Read(ctx, id); return err },
			"payment refund": func(ctx context.Context, id, _ string, _ int64) error {
				_, err := s.pay.Refund(ctx, "", id, payments.RefundRequest{Amount: some(100)})
				return err
			},
			"token read": func(ctx context.Context, _, id string, _ int64) error { _, err := s.tok.Token(ctx, id); return err },
			"token verify": func(ctx context.Context, _, id string, _ int64) error {
				_, err := s.tok.Verify(ctx, "", id)
				return err
			},
			"link read": func(ctx context.Context, _, _ string, id int64) error { _, err := links.Read(ctx, id); return err },
			"link delete": func(ctx context.Context, _, _ string, id int64) error {
				_, err := links.Delete(ctx, "", id)
				return err
			},
		}
		foreign := map[string]func() error{
			"transaction read":   func() error { _, err := txns.Read(alpha, txn); return err },
			"transaction refund": func() error { _, err := txns.Refund(alpha, "", txn, paylinks.RefundRequest{}); return err },
			"payment with the token": func() error {
				_, err := s.pay.Create(alpha, "", payments.CreateRequest{
					Type: payments.Moto, Amount: 5, CurrencyCode: "EUR", Processing: payments.ProcessSale,
					PaymentMethodDetails: &payments.PaymentMethodDetails{Type: payments.WithToken, Token: secret.Token},
				})
				return err
			},
		}

		at(gateway.Leave)
		sent := len(s.cable.writes())
		for name, call := range calls {
			err := call(alpha, local(gateway.KindPaymentCreate), local(gateway.KindTokenCreate), made)
			require.Equal(t, wire.Conflict, wire.CodeOf(err), "%s: %v", name, err)
			require.ErrorContains(t, err, before, name)
			err = call(alpha, payment.PaymentID, token.TokenizationID, link.ID)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", name, err)
		}
		for name, call := range foreign {
			err := call()
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", name, err)
		}
		require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) error {
			_, found, err := gateway.OwnerOf(r, "payment", payment.PaymentID)
			require.False(t, found, "what arrives about it is another's")
			return err
		}))
		again, err := s.pay.Create(alpha, "p1", moto(payments.ProcessSale, 500))
		require.NoError(t, err)
		require.Equal(t, payment.PaymentID, again.PaymentID)
		require.Len(t, s.cable.writes(), sent, "nothing was sent")

		at(gateway.Return)
		for name, call := range foreign {
			require.NoError(t, call(), name)
		}
		for _, name := range []string{"payment read", "payment refund", "token read", "link read"} {
			require.NoError(t, calls[name](alpha, payment.PaymentID, token.TokenizationID, link.ID), name)
		}
	})
}
