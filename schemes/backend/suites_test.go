package backend_test

import (
	"testing"

	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/onboarding"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire/wiretest"
)

// A suite is worth something only if it fails on a service that is wrong.

func TestPaymentsSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, paymentsBugs(), func(t *testing.T, wrong func(payments.Service) payments.Service) {
		f := backendtest.Payments(backendtest.Open(t))
		f.Service = wrong(f.Service)
		paymentstest.Run(t, f)
	})
}

func TestHostedSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, hostedBugs(), func(t *testing.T, wrong func(shopping) shopping) {
		f := backendtest.Hosted(backendtest.Open(t))
		s := wrong(shopping{f.Sessions, f.Orders})
		f.Sessions, f.Orders = s.sessions, s.orders
		hostedtest.Run(t, f)
	})
}

func TestTokensSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, tokensBugs(), func(t *testing.T, wrong func(tokens.Service) tokens.Service) {
		f := backendtest.Tokens(backendtest.Open(t))
		f.Service = wrong(f.Service)
		tokenstest.Run(t, f)
	})
}

func TestOnboardingSuiteFindsBugs(t *testing.T) {
	wiretest.FindsBugs(t, onboardingBugs(), func(t *testing.T, wrong func(onboarding.Service) onboarding.Service) {
		f := backendtest.Onboarding(backendtest.Open(t))
		f.Service = wrong(f.Service)
		onboardingtest.Run(t, f)
	})
}
