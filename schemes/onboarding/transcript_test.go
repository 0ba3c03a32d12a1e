package onboarding_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/onboarding"
	"posagent/schemes/onboarding/onboardingtest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/wiretest"
)

func transcripts() wiretest.Service {
	return wiretest.Service{
		API: onboarding.API(), Reasons: onboarding.Problems(), Secrets: []string{"shh-1"},
		Client: func(base string, d wire.Doer) []rest.Bound {
			return onboarding.Table().Bind(&onboarding.Client{BaseURL: base, Doer: d})
		},
	}
}

func TestClientAlone(t *testing.T) { transcripts().ClientAlone(t) }

func TestHandlerAlone(t *testing.T) { transcripts().HandlerAlone(t) }

func TestCodesAndReasonsSurviveTheWire(t *testing.T) { transcripts().CodesSurvive(t, nil) }

func TestWhatWasProvablyNotSent(t *testing.T) { transcripts().NeverSent(t) }

// Without a sandbox nobody but the signer and the review moves an application.
func TestNoSandboxNoTriggers(t *testing.T) {
	h := onboarding.Handler(nil, onboarding.HandlerOptions{})
	for _, word := range []string{"sign", "fail", "approve", "reject"} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, onboarding.Prefix+"/1001/"+word, http.NoBody))
		require.Equal(t, http.StatusNotFound, rec.Code)
		require.Contains(t, rec.Body.String(), "no-route")
	}
}

func TestTheSecretOfAWebhookLeavesByEncodeOnly(t *testing.T) {
	app := onboardingtest.Fixture{HookURL: "https://receiver.example/"}.Application()
	text, err := json.Marshal(app)
	require.NoError(t, err)
	require.NotContains(t, string(text), "canary")
	text, err = wire.Encode(app)
	require.NoError(t, err)
	require.Contains(t, string(text), "canary-authorization")
	again, err := wire.Parse[onboarding.Application]("test", text)
	require.NoError(t, err)
	require.Equal(t, app, again)
}

func TestCardNumbersInNamesAreMasked(t *testing.T) {
	app, err := wire.Parse[onboarding.Application]("test", []byte(`{"reference":"4111111111111111","merchant":{"registrationNumber":"40000000000002","companyName":"Shop 4111 1111-1111 1111","address":{"city":"4111111111111111"}}}`))
	require.NoError(t, err)
	require.Equal(t, onboarding.Application{Reference: "4111111111111111", Merchant: &onboarding.Merchant{
		RegistrationNumber: "40000000000002", CompanyName: "Shop 4111 11**-**** 1111", Address: &onboarding.Address{City: "411111******1111"},
	}}, app)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"reference":"r","merchant":{"registrationNumber":"1","companyName":"c","contactFirstName":"a","contactLastName":"b","address":{"address1":"a","address2":"b","city":"c","postalCode":"d","countryCode":"SE"},"email":"a@b","phone":"1"},"notifications":{"webHooks":[{"eventName":"onboarding.approved","url":"https://a.example/","authorization":"x","headers":[{"a":"b"}]}]}}`))
	f.Add([]byte(`{"merchant":null,"notifications":{"webHooks":[null]}}`))
	f.Add([]byte(`{"notifications":{"webHooks":[{"eventName":"","url":""}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		app, err := wire.Parse[onboarding.Application]("fuzz", data)
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		if err := check.Request("fuzz", app); err != nil {
			require.Equal(t, wire.Invalid, wire.CodeOf(err))
		}
		wiretest.Stable(t, app, wire.Encode, wiretest.Parse[onboarding.Application])
	})
}

// A service behind Handler is never asked about a request that breaks a stateless rule.
func TestHandlerChecksBeforeItAsks(t *testing.T) {
	client := &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(onboarding.Handler(nil, onboarding.HandlerOptions{}))}
	for _, c := range onboardingtest.Broken() {
		app := onboardingtest.Fixture{HookURL: "https://receiver.example/"}.Application()
		c.Break(&app)
		_, err := client.Create(t.Context(), "", app)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
		_, err = client.Update(t.Context(), "", 1001, app)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
	}
}
