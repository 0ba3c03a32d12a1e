package onboarding_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
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
	h := onboarding.Handler(&onboardingtest.Fake{}, onboarding.HandlerOptions{})
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
		text, err := wire.Encode(app)
		require.NoError(t, err)
		again, err := wire.Parse[onboarding.Application]("fuzz", text)
		require.NoError(t, err)
		text2, err := wire.Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(text2))
	})
}

// broken is a service with one fault.
type broken struct {
	*onboardingtest.Fake
	fault string
}

var faults = [...]string{"forgets keys", "edits for ever", "submits twice", "takes everything", "keeps nothing", "loses the reason"}

func (b broken) Create(ctx context.Context, key wire.Key, app onboarding.Application) (onboarding.State, error) {
	switch {
	case b.fault == "forgets keys" && len(key) == 36:
		key = ""
	case b.fault == "takes everything":
		app = onboarding.Application{}
	}
	return b.Fake.Create(ctx, key, app)
}

func (b broken) Update(ctx context.Context, key wire.Key, id int64, app onboarding.Application) (onboarding.State, error) {
	st, err := b.Fake.Update(ctx, key, id, app)
	switch {
	case b.fault == "edits for ever" && wire.CodeOf(err) == wire.Conflict:
		return b.Read(ctx, id)
	case b.fault == "keeps nothing":
		st.Reference = ""
	}
	return st, err
}

func (b broken) Submit(ctx context.Context, key wire.Key, id int64) (onboarding.State, error) {
	st, err := b.Fake.Submit(ctx, key, id)
	if b.fault == "submits twice" && wire.CodeOf(err) == wire.Conflict {
		return b.Read(ctx, id)
	}
	return st, err
}

func (b broken) Read(ctx context.Context, id int64) (onboarding.State, error) {
	st, err := b.Fake.Read(ctx, id)
	if b.fault == "loses the reason" {
		st.Reason = ""
	}
	return st, err
}

// TestOneService runs the suite on the service that the environment names: without one, on the good fake.
func TestOneService(t *testing.T) {
	svc := broken{&onboardingtest.Fake{}, os.Getenv("ONBOARDING_FAULT")}
	onboardingtest.Run(t, onboardingtest.Fixture{Service: svc, Sandbox: svc.Sandbox})
}

// The suite is worth something only if it fails on a service that is wrong.
func TestTheSuiteCatchesEachFault(t *testing.T) {
	for _, fault := range faults {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneService$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "ONBOARDING_FAULT="+fault)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, fault)
		require.True(t, strings.Contains(string(out), "--- FAIL: TestOneService"), "%s: %s", fault, out)
	}
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
