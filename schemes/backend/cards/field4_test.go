package cards

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// A fee belongs to the attempt whose page showed it: once that attempt has failed, nobody has agreed to it, and what the merchant reserves
// then takes none. Kind: an attempt that the bank refused, a question that was not passed, a card that is not taken after either.
func TestField4_AFailedAttemptsFee(t *testing.T) {
	for name, fail := range map[string]func(b *bank, id string){
		"refused": func(b *bank, id string) {
			require.Error(b.t, b.Pay(b.t.Context(), id, *plastic(b.t, "hard-decline")))
		},
		"not proven": func(b *bank, id string) {
			s, err := b.pay(b.t.Context(), id, given{Card: plastic(b.t, "challenge")}, nil)
			require.NoError(b.t, err)
			_, err = b.answer(b.t.Context(), id, s.attempt, false, nil)
			require.NoError(b.t, err)
		},
		"refused, then another card": func(b *bank, id string) {
			require.Error(b.t, b.Pay(b.t.Context(), id, *plastic(b.t, "no-funds")))
			require.Error(b.t, b.Pay(b.t.Context(), id, *plastic(b.t, "diners")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBank(t)
			req := hosted(payments.ProcessAuthorize)
			req.PayPageConfiguration = &payments.PayPageConfiguration{PaymentMethodActionInfoList: []payments.MethodAction{{PaymentMethod: "Visa", Fee: 900, Action: "Allow"}}}
			id := b.make(req)
			fail(b, id)
			require.Equal(t, Fresh, b.state(id))
			_, err := b.Authorize(t.Context(), wire.NewKey(), id, payments.AuthorizeRequest{})
			require.NoError(t, err)
			_, err = b.Capture(t.Context(), wire.NewKey(), id, payments.CaptureRequest{})
			require.NoError(t, err)
			require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error {
				l, err := ledger(r, id)
				require.Equal(t, books.Ledger{Amount: 10_000, Committed: 10_000}, l)
				return err
			}))
			b.balanced(id)
		})
	}
}
