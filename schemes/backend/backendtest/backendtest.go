package backendtest

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/backend"
	"posagent/schemes/disputes"
	"posagent/schemes/disputes/disputestest"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/money"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/paylinks"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Test cards of the backend.
const (
	Visa     = "4111111111111111" // every bank approves it
	Declined = "4000000000000002"
	Asks     = "4000002760003184" // its owner is asked
)

// Open opens a backend that nothing runs and no listener serves. A customer acts when the test says so.
func Open(t *testing.T) *backend.Backend {
	t.Helper()
	never := -time.Second
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), WalletDelay: &never, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// Act lets a customer act at a path of the backend's own, as "/wallet/<reference>/pay".
func Act(t *testing.T, b *backend.Backend, path string) {
	t.Helper()
	resp, body := wiretest.Raw(t, wiretest.Direct(b.Handler()), http.MethodPost, "http://localhost"+path, "", "",
		"Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
}

// Aapay is the fixture of the wallets.
func Aapay(b *backend.Backend) aapaytest.Fixture {
	play := func(what string) func(*testing.T, string) {
		return func(t *testing.T, ref string) { Act(t, b, "/wallet/"+ref+"/"+what) }
	}
	return aapaytest.Fixture{
		Service: b.Aapay(), MerchantID: "M1", Method: "SWISH_E_COM", Approve: 1250, Reject: 90001, Pay: play("pay"), Cancel: play("decline"),
	}
}

// Payments is the fixture of the payments.
func Payments(b *backend.Backend) paymentstest.Fixture {
	return paymentstest.Fixture{
		Service: b.Payments(), Approved: Visa, Declined: Declined,
		Pay: func(t *testing.T, id string) {
			require.NoError(t, b.PayHosted(t.Context(), id, payments.CardDetails{PAN: wire.NewPAN("5555555555554444"), ExpiryYear: 2099, ExpiryMonth: 1}))
		},
	}
}

// Tokens is the fixture of the tokens.
func Tokens(b *backend.Backend) tokenstest.Fixture {
	card := func(pan string) tokens.CardDetails {
		return tokens.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2099, ExpiryMonth: 12, ValidationCode: "123"}
	}
	return tokenstest.Fixture{Service: b.Tokens(), Card: card(Visa), Declined: card(Declined), Past: "2020-02-29"}
}

// Onboarding is the fixture of the onboarding desk.
func Onboarding(b *backend.Backend) onboardingtest.Fixture {
	return onboardingtest.Fixture{Service: b.Onboarding(), Sandbox: b.Onboarding().Sandbox}
}

// Hosted is the fixture of hosted build.
func Hosted(b *backend.Backend) hostedtest.Fixture {
	return hostedtest.Fixture{
		Sessions: b.Hosted(), Orders: b.Hosted().Orders(), Approved: Visa, Declined: Declined, Asks: Asks,
		Fill: func(t *testing.T, id, pan string) {
			require.NoError(t, b.Hosted().Fill(t.Context(), id, wire.NewPAN(pan), 2099, 12))
		},
		Answer: func(t *testing.T, id string, pass bool) { require.NoError(t, b.Hosted().Answer(t.Context(), id, pass)) },
	}
}

// Links is the fixture of the payment links.
func Links(b *backend.Backend) paylinkstest.Fixture {
	return paylinkstest.Fixture{
		Links: b.Links(), Transactions: b.Transactions(), Amount: 1250,
		Pay: func(t *testing.T, l paylinks.Link) { Act(t, b, "/pay/"+url.PathEscape(*l.Hash)+"/pay") },
	}
}

// Disputes is the fixture of the dispute desk; pass lets time pass at the backend.
func Disputes(b *backend.Backend, pass func(time.Duration)) disputestest.Fixture {
	return disputestest.Fixture{
		Service: b.Disputes(), Keys: b.Disputes(), Buy: Buyer(b, Visa),
		Refund: func(t *testing.T, p disputestest.Purchase) {
			_, err := b.Payments().Refund(t.Context(), wire.NewKey(), p.ID, payments.RefundRequest{Amount: new(int32(p.Amount))})
			require.NoError(t, err)
		},
		Answer: func(*testing.T) { pass(2 * time.Second) },
	}
}

// Buyer makes purchases with a card.
func Buyer(b *backend.Backend, pan string) func(*testing.T, money.Minor) disputestest.Purchase {
	return func(t *testing.T, amount money.Minor) disputestest.Purchase {
		t.Helper()
		date := time.Now().UTC().Format(disputes.DateLayout)
		out, err := b.Payments().Create(t.Context(), wire.NewKey(), payments.CreateRequest{
			Type: payments.Moto, Amount: int32(amount), CurrencyCode: "EUR", Processing: payments.ProcessSale,
			CardDetails: &payments.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2090, ExpiryMonth: 1},
		})
		require.NoError(t, err)
		return disputestest.Purchase{ID: out.PaymentID, PAN: wire.NewPAN(pan), Amount: amount, Currency: "EUR", Date: date}
	}
}
