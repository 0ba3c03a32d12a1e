package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// A link by which the register sold, and its transaction, are not taken back past the checkout; any other is.
func TestField_P1TheRegistersLinkIsNotTakenBack(t *testing.T) {
	sold := int64(0)
	opts := gateway.Options{Sold: func(_ store.Reader, link gateway.SoldLink) (string, error) {
		if link.ID == sold {
			return "receipt 7 of batch 1", nil
		}
		return "", nil
	}}
	inShop(t, opts, func(t *testing.T, s *shop) {
		make := func(ref string) int64 {
			l, err := s.backend.Links().Create(t.Context(), wire.NewKey(), paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: ref, Purpose: "Order", Amount: 1250, Currency: "EUR"})
			require.NoError(t, err)
			return l.ID
		}
		sold = make("register")
		other := make("office")
		_, err := s.front.Links().Delete(t.Context(), wire.NewKey(), sold)
		require.ErrorIs(t, err, &wire.Error{Code: wire.Conflict})
		require.ErrorContains(t, err, "receipt 7")
		s.customer(sold)
		s.customer(other)
		s.pass(time.Second)
		for ref, taken := range map[string]bool{"register": false, "office": true} {
			id := s.txn(ref).ID
			_, err := s.front.Transactions().Refund(t.Context(), wire.NewKey(), id, paylinks.RefundRequest{})
			require.Equal(t, taken, err == nil, "%s: %v", ref, err)
			if !taken {
				require.ErrorContains(t, err, "receipt 7")
				_, err = s.front.Transactions().Delete(t.Context(), wire.NewKey(), id)
				require.ErrorContains(t, err, "receipt 7")
			}
		}
	})
}

// TestField3_C6AClientHearsNothingOfTheRegistersSale: a transaction of the register's link is missing for a client that reaches its own
// things only, whatever it asks, as a scheme's transaction and the link itself are; the terminal's own token hears the receipt.
func TestField3_C6AClientHearsNothingOfTheRegistersSale(t *testing.T) {
	opts := gateway.Options{Sold: func(store.Reader, gateway.SoldLink) (string, error) { return "receipt 7 of batch 1", nil }}
	inShop(t, opts, func(t *testing.T, s *shop) {
		l, err := s.backend.Links().Create(t.Context(), wire.NewKey(), paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: "register", Purpose: "Order", Amount: 1250, Currency: "EUR"})
		require.NoError(t, err)
		s.customer(l.ID)
		s.pass(time.Second)
		id := s.txn("register").ID
		alpha := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true})
		for what, do := range map[string]func(ctx context.Context) error{
			"read": func(ctx context.Context) error { _, err := s.front.Transactions().Read(ctx, id); return err },
			"refund": func(ctx context.Context) error {
				_, err := s.front.Transactions().Refund(ctx, wire.NewKey(), id, paylinks.RefundRequest{})
				return err
			},
			"charge": func(ctx context.Context) error {
				_, err := s.front.Transactions().Charge(ctx, wire.NewKey(), id, paylinks.ChargeRequest{})
				return err
			},
			"capture": func(ctx context.Context) error {
				_, err := s.front.Transactions().Capture(ctx, wire.NewKey(), id)
				return err
			},
			"cancel": func(ctx context.Context) error {
				_, err := s.front.Transactions().Delete(ctx, wire.NewKey(), id)
				return err
			},
			"drop": func(ctx context.Context) error {
				_, err := s.front.Links().Delete(ctx, wire.NewKey(), l.ID)
				return err
			},
			"link": func(ctx context.Context) error { _, err := s.front.Links().Read(ctx, l.ID); return err },
		} {
			err := do(alpha)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", what, err)
			require.NotContains(t, err.Error(), "receipt", what)
			if err := do(t.Context()); what != "read" && what != "link" {
				require.ErrorContains(t, err, "receipt 7", what)
			}
		}
	})
}

// TestField2_M28ALinkIsKnownHoweverItsServiceTellsIt: a service need not say a link's number with a
// transaction. The link's hash, and the reference that the terminal gave it, name the register's sale
// too.
func TestField2_M28ALinkIsKnownHoweverItsServiceTellsIt(t *testing.T) {
	for name, tells := range map[string]func(txn *paylinks.Transaction){
		"the number": func(*paylinks.Transaction) {},
		"the hash": func(txn *paylinks.Transaction) {
			txn.Invoice.PaymentRequestID, txn.Invoice.PaymentLink, txn.ReferenceID = 0, &paylinks.PageLink{Hash: "h1"}, ""
		},
		"the reference":             func(txn *paylinks.Transaction) { txn.Invoice.PaymentRequestID, txn.Invoice.PaymentLink = 0, nil },
		"the reference, no invoice": func(txn *paylinks.Transaction) { txn.Invoice = nil },
	} {
		t.Run(name, func(t *testing.T) {
			link := int64(0)
			opts := gateway.Options{Sold: func(_ store.Reader, by gateway.SoldLink) (string, error) {
				if by.ID == link || by.ID == 0 && (by.Hash == "h1" || by.Hash == "" && by.Reference == "register") {
					return "receipt 7 of batch 1", nil
				}
				return "", nil
			}}
			service := &telling{tells: tells}
			opts.Transactions = service
			inShop(t, opts, func(t *testing.T, s *shop) {
				service.Transactions = s.backend.Transactions()
				l, err := s.backend.Links().Create(t.Context(), wire.NewKey(), paylinks.CreateRequest{Title: "Order", Description: "Thank you", ReferenceID: "register", Purpose: "Order", Amount: 1250, Currency: "EUR"})
				require.NoError(t, err)
				link = l.ID
				s.customer(link)
				s.pass(time.Second)
				_, err = s.front.Transactions().Refund(t.Context(), wire.NewKey(), s.txn("register").ID, paylinks.RefundRequest{})
				require.ErrorContains(t, err, "receipt 7")
			})
		})
	}
}

// telling tells of transactions as one service does.
type telling struct {
	paylinks.Transactions
	tells func(*paylinks.Transaction)
}

// Read implements paylinks.Transactions.
func (s *telling) Read(ctx context.Context, id int64) (paylinks.Transaction, error) {
	txn, err := s.Transactions.Read(ctx, id)
	if err == nil {
		s.tells(&txn)
	}
	return txn, err
}
