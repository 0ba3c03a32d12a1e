package payments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/books"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
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

// An arrangement that is over takes no money, also for a payment that was made with it before: a merchant could make payments on its last
// day and reserve them for ever. Kind: each way to pay with an arrangement's token (recurring, on file, merchant-initiated); the payment in
// which the arrangement was made is its customer's own.
func TestField4_AnArrangementThatIsOver(t *testing.T) {
	const day = 24 * time.Hour
	b := newBank(t) // 2027-01-15
	ctx := t.Context()
	tok := b.recurring(t, tokens.RecurringRequest{RecurringType: tokens.CardOnFile, RecurringExpiryDate: "2027-01-20"})
	with := func(d payments.PaymentMethodDetails) string {
		d.Token = tok
		req := withToken(d)
		req.Processing = payments.ProcessNone
		return b.make(req)
	}
	made := map[string]string{
		"recurring": with(payments.PaymentMethodDetails{Type: payments.WithToken, IsRecurring: true, RecurringType: payments.CardOnFile}),
		"on file":   with(payments.PaymentMethodDetails{Type: payments.WithToken}),
		"merchant":  with(payments.PaymentMethodDetails{Type: payments.MerchantInitiated, MerchantInitiatedTransactionType: "NoShow"}),
	}
	good := with(payments.PaymentMethodDetails{Type: payments.WithToken})
	req := moto(t, "visa", payments.ProcessNone)
	req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.InitialToken, ExpiryDate: "2027-01-20"}
	first := b.make(req)
	b.Pass(5 * day)
	_, err := b.Authorize(ctx, "", good, payments.AuthorizeRequest{})
	require.NoError(t, err, "its last day")
	b.Pass(day)
	b.told()
	for name, id := range made {
		_, err := b.Authorize(ctx, "", id, payments.AuthorizeRequest{})
		refusedFor(t, err, payments.ExpiredSubscription)
		require.Equal(t, []string{"reservation.failed"}, b.told(), name)
		require.Equal(t, [3]int32{}, b.sums(id), name)
	}
	_, err = b.Capture(ctx, "", good, payments.CaptureRequest{})
	require.NoError(t, err, "what is held was agreed")
	_, err = b.Authorize(ctx, "", first, payments.AuthorizeRequest{})
	require.NoError(t, err)
}
