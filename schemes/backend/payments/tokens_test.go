package payments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/store"
)

// token stores a test card and gives its token.
func (b *bank) token(t *testing.T, name string, secret wire.Secret) wire.Secret {
	t.Helper()
	c := plastic(t, name)
	out, err := b.Tokens().Create(t.Context(), wire.NewKey(), tokens.CreateRequest{TokenSecret: secret,
		CardDetails: &tokens.CardDetails{PAN: c.PAN, ExpiryYear: c.ExpiryYear, ExpiryMonth: c.ExpiryMonth, ValidationCode: c.ValidationCode}})
	require.NoError(t, err)
	reply, err := b.Tokens().Token(t.Context(), out.TokenizationID)
	require.NoError(t, err)
	return reply.Token
}

func (b *bank) recurring(t *testing.T, req tokens.RecurringRequest) wire.Secret {
	t.Helper()
	out, err := b.Tokens().CreateRecurring(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	_, err = b.Tokens().Token(t.Context(), out.TokenizationID)
	require.Equal(t, tokens.CardMissing, wire.ReasonOf(err))
	_, err = b.Tokens().Verify(t.Context(), "", out.TokenizationID)
	require.NoError(t, err)
	reply, err := b.Tokens().Token(t.Context(), out.TokenizationID)
	require.NoError(t, err)
	return reply.Token
}

func withToken(d payments.PaymentMethodDetails) payments.CreateRequest {
	req := hosted("")
	req.PaymentMethodDetails = &d
	return req
}

func TestPayingWithATokenOnce(t *testing.T) {
	b := newBank(t)
	ctx, tok := t.Context(), b.token(t, "visa", "the secret")
	req := withToken(payments.PaymentMethodDetails{Type: payments.WithToken, Token: tok, TokenSecret: "the secret"})
	out, err := b.Create(ctx, "", req)
	require.NoError(t, err)
	require.Equal(t, [3]int32{}, b.sums(out.PaymentID), "absent processing is None")
	_, err = b.Authorize(ctx, "", out.PaymentID, payments.AuthorizeRequest{})
	require.NoError(t, err)
	p, err := b.Read(ctx, out.PaymentID)
	require.NoError(t, err)
	require.Equal(t, tok, p.PaymentDetails.CardDetails.Token)
	for _, secret := range []wire.Secret{"", "the secre", "The secret", "the secret "} {
		req.PaymentMethodDetails.TokenSecret = secret
		_, err = b.Create(ctx, "", req)
		refusedFor(t, err, payments.InvalidToken)
	}
	req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.WithToken, Token: "nobody's", TokenSecret: "the secret"}
	_, err = b.Create(ctx, "", req)
	refusedFor(t, err, payments.InvalidToken)
	b.Pass(5 * 365 * 24 * time.Hour)
	req.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.WithToken, Token: tok, TokenSecret: "the secret"}
	_, err = b.Create(ctx, "", req)
	refusedFor(t, err, payments.CardExpired)
}

func TestTermsOfATokens(t *testing.T) {
	const day = 24 * time.Hour
	b := newBank(t)
	ctx := t.Context()
	sub := b.recurring(t, tokens.RecurringRequest{RecurringType: tokens.Subscription, Amount: 10_000, CurrencyCode: "EUR", RecurringExpiryDate: "2027-03-01", RecurringFrequency: 30})
	file := b.recurring(t, tokens.RecurringRequest{RecurringType: tokens.CardOnFile})
	plain := b.token(t, "visa", "")
	pay := func(req payments.CreateRequest) error {
		_, err := b.Create(ctx, "", req)
		return err
	}
	rec := func(tok wire.Secret, typ string) payments.CreateRequest {
		return withToken(payments.PaymentMethodDetails{Type: payments.WithToken, Token: tok, IsRecurring: true, RecurringType: typ})
	}
	b.told()
	require.NoError(t, pay(rec(sub, payments.Subscription)))
	require.Equal(t, []string{"created", "reservation.created", "reservation.created.v2", "charge.created.v2"}, b.told(), "the charge of S0 6")
	refusedFor(t, pay(rec(sub, payments.Subscription)), payments.ExpiredSubscription) // too early
	require.Equal(t, []string{"created", "reservation.failed"}, b.told())
	b.Pass(30*day - time.Millisecond)
	refusedFor(t, pay(rec(sub, "")), payments.ExpiredSubscription)
	b.Pass(time.Millisecond)
	require.NoError(t, pay(rec(sub, "")))
	refusedFor(t, pay(rec(sub, payments.CardOnFile)), payments.InvalidSubscription)
	refusedFor(t, pay(rec(plain, "")), payments.InvalidSubscription)
	refusedFor(t, pay(rec(plain, payments.Subscription)), payments.InvalidSubscription)
	require.NoError(t, pay(rec(plain, payments.CardOnFile)), "a stored card is one on file")
	refusedFor(t, pay(withToken(payments.PaymentMethodDetails{Type: payments.WithToken, Token: sub})), payments.InvalidSubscription)
	refusedFor(t, pay(withToken(payments.PaymentMethodDetails{Type: payments.MerchantInitiated, Token: sub})), payments.InvalidSubscription)
	b.Pass(30 * day) // 2027-03-16
	refusedFor(t, pay(rec(sub, "")), payments.ExpiredSubscription)

	req := rec(file, payments.CardOnFile)
	require.NoError(t, pay(req))
	require.NoError(t, pay(req), "no frequency was agreed")
	for _, typ := range []string{"UnscheduledCardOnFile", "DelayedCharge", "NoShow"} {
		out, err := b.Create(ctx, "", withToken(payments.PaymentMethodDetails{Type: payments.MerchantInitiated, Token: file, MerchantInitiatedTransactionType: typ}))
		require.NoError(t, err)
		require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(out.PaymentID))
	}
	limited := b.recurring(t, tokens.RecurringRequest{Amount: 9_999, CurrencyCode: "EUR"})
	refusedFor(t, pay(rec(limited, "")), payments.InvalidSubscription)
	other := rec(limited, "")
	other.Amount, other.Basket, other.CurrencyCode = 100, nil, "SEK"
	refusedFor(t, pay(other), payments.InvalidSubscription)

	cardless, err := b.Tokens().CreateRecurring(ctx, "", tokens.RecurringRequest{})
	require.NoError(t, err)
	_, err = b.Tokens().Token(ctx, cardless.TokenizationID)
	require.Equal(t, tokens.CardMissing, wire.ReasonOf(err))
	_, err = b.Tokens().CreateRecurring(ctx, "", tokens.RecurringRequest{RecurringExpiryDate: "2027-03-15"})
	require.Equal(t, tokens.ArrangementExpired, wire.ReasonOf(err))
}

// A first payment can make the token of those that follow.
func TestInitialTokenization(t *testing.T) {
	b := newBank(t)
	ctx := t.Context()
	details := payments.PaymentMethodDetails{Type: payments.InitialToken, ExpiryDate: "2028-01-01", IntervalDays: 7}
	for _, req := range []payments.CreateRequest{hosted(payments.ProcessSale), moto(t, "visa", payments.ProcessSale)} {
		req.PaymentMethodDetails = &details
		id := b.make(req)
		if req.Type != payments.Moto {
			_, err := b.pay(ctx, id, given{Card: plastic(t, "visa")}, nil)
			require.NoError(t, err)
		}
		p, err := b.Read(ctx, id)
		require.NoError(t, err)
		tok := p.PaymentDetails.CardDetails.Token
		require.NotEmpty(t, tok)
		next := withToken(payments.PaymentMethodDetails{Type: payments.WithToken, Token: tok, IsRecurring: true, RecurringType: payments.Subscription})
		_, err = b.Create(ctx, "", next)
		refusedFor(t, err, payments.ExpiredSubscription)
		b.Pass(7 * 24 * time.Hour)
		out, err := b.Create(ctx, "", next)
		require.NoError(t, err)
		require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(out.PaymentID))

		// nobody said what the token is for: it serves every use, recurring ones on its terms
		other := *next.PaymentMethodDetails
		other.RecurringType, next.PaymentMethodDetails = payments.CardOnFile, &other
		_, err = b.Create(ctx, "", next)
		refusedFor(t, err, payments.ExpiredSubscription)
		b.Pass(7 * 24 * time.Hour)
		_, err = b.Create(ctx, "", next)
		require.NoError(t, err)
		for _, d := range []payments.PaymentMethodDetails{{Type: payments.WithToken, Token: tok}, {Type: payments.MerchantInitiated, Token: tok}} {
			_, err = b.Create(ctx, "", withToken(d))
			require.NoError(t, err)
		}
	}
}

func TestARefusedRequestLeavesNothing(t *testing.T) {
	b := newBank(t)
	f := tokenstest.Fixture{Card: tokens.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 12}}
	for _, c := range tokenstest.Broken() {
		req := f.Request()
		c.Break(&req)
		_, err := b.Tokens().Create(t.Context(), wire.NewKey(), req)
		require.Error(t, err)
	}
	for _, table := range []string{"cards_token", "once_answer"} {
		n := -1
		require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error { return r.QueryRow(`SELECT COUNT(*) FROM ` + table).Scan(&n) }))
		require.Zero(t, n, table)
	}
}
