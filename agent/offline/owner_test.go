package offline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/offline"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// A link by which the register sold, and its transaction, are not taken back past the checkout; any other is.
func TestField_P1TheRegistersLinkIsNotTakenBack(t *testing.T) {
	sold := int64(0)
	opts := offline.Options{Sold: func(_ store.Reader, link int64) (string, error) {
		if link == sold {
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
