package payments

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/money"
	"posagent/store"
)

// A number of the acquirer's kind finds the payment it was given to, never one whose merchant chose that text as his own
// reference or number.
func TestField2_S11_AcquirersNumberIsNoMerchantsReference(t *testing.T) {
	b := newBank(t)
	find := func(ref string) (out []money.Minor) {
		require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error {
			list, err := b.Purchases(r, Search{Reference: ref})
			for _, p := range list {
				out = append(out, p.Amount)
			}
			return err
		}))
		return out
	}
	first := b.make(moto(t, "visa", "Sale"))
	var number string
	require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error {
		list, err := b.Purchases(r, Search{ID: first})
		require.Len(t, list, 1)
		number = list[0].Reference
		return err
	}))
	other := moto(t, "visa", "Sale")
	other.Amount, other.PaymentNumber = 900, number
	b.make(other)
	require.Equal(t, []money.Minor{10_000}, find(number))
}
