package backend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/onboarding"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// alone opens a backend that nothing runs and no listener serves.
func alone(t *testing.T) *backend.Backend {
	t.Helper()
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), PublicURL: "http://127.0.0.1:1", Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func ofPayments(b *backend.Backend) paymentstest.Fixture {
	return paymentstest.Fixture{
		Service: b.Payments(), Approved: "4111111111111111", Declined: "4000000000000002",
		Pay: func(t *testing.T, id string) {
			require.NoError(t, b.PayHosted(t.Context(), id, payments.CardDetails{PAN: wire.NewPAN("5555555555554444"), ExpiryYear: 2099, ExpiryMonth: 1}))
		},
	}
}

func ofTokens(b *backend.Backend) tokenstest.Fixture {
	card := func(pan string) tokens.CardDetails {
		return tokens.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2099, ExpiryMonth: 12, ValidationCode: "123"}
	}
	return tokenstest.Fixture{Service: b.Tokens(), Card: card("4111111111111111"), Declined: card("4000000000000002"), Past: "2020-02-29"}
}

func ofOnboarding(b *backend.Backend) onboardingtest.Fixture {
	return onboardingtest.Fixture{Service: b.Onboarding(), Sandbox: b.Onboarding().Sandbox}
}

func ofHosted(b *backend.Backend) hostedtest.Fixture {
	return hostedtest.Fixture{
		Sessions: b.Hosted(), Orders: b.Hosted().Orders(), Approved: "4111111111111111", Declined: "4000000000000002", Asks: "4000002760003184",
		Fill: func(t *testing.T, id, pan string) {
			require.NoError(t, b.Hosted().Fill(t.Context(), id, wire.NewPAN(pan), 2099, 12))
		},
		Answer: func(t *testing.T, id string, pass bool) { require.NoError(t, b.Hosted().Answer(t.Context(), id, pass)) },
	}
}

// A suite is worth something only if it fails on a service that is wrong.

func TestPaymentsSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, paymentsBugs(), func(t *testing.T, wrong func(payments.Service) payments.Service) {
		f := ofPayments(alone(t))
		f.Service = wrong(f.Service)
		paymentstest.Run(t, f)
	})
}

func TestHostedSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, hostedBugs(), func(t *testing.T, wrong func(shopping) shopping) {
		f := ofHosted(alone(t))
		s := wrong(shopping{f.Sessions, f.Orders})
		f.Sessions, f.Orders = s.sessions, s.orders
		hostedtest.Run(t, f)
	})
}

func TestTokensSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, tokensBugs(), func(t *testing.T, wrong func(tokens.Service) tokens.Service) {
		f := ofTokens(alone(t))
		f.Service = wrong(f.Service)
		tokenstest.Run(t, f)
	})
}

func TestOnboardingSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, onboardingBugs(), func(t *testing.T, wrong func(onboarding.Service) onboarding.Service) {
		f := ofOnboarding(alone(t))
		f.Service = wrong(f.Service)
		onboardingtest.Run(t, f)
	})
}
