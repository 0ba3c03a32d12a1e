package onboarding_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"posagent/schemes/onboarding"
	"posagent/schemes/onboarding/onboardingtest"
)

func TestConformance(t *testing.T) {
	t.Run("in process", func(t *testing.T) {
		fake := &onboardingtest.Fake{}
		onboardingtest.Run(t, onboardingtest.Fixture{Service: fake, Sandbox: fake.Sandbox})
	})
	t.Run("over http", func(t *testing.T) {
		fake := &onboardingtest.Fake{}
		srv := httptest.NewServer(onboarding.Handler(fake, onboarding.HandlerOptions{Sandbox: fake.Sandbox}))
		t.Cleanup(srv.Close)
		onboardingtest.Run(t, onboardingtest.Fixture{
			Service: &onboarding.Client{BaseURL: srv.URL, Doer: srv.Client()}, Sandbox: fake.Sandbox,
			Wire: &onboardingtest.Wire{BaseURL: srv.URL, Doer: http.DefaultClient},
		})
	})
}
