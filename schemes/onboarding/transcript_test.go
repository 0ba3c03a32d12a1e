package onboarding_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"posagent/schemes/wire/wiretest"
)

// call is what a transcript asks of a Service.
type call struct {
	Op          string                  `json:"op"`
	Key         wire.Key                `json:"key"`
	ID          int64                   `json:"id"`
	Application *onboarding.Application `json:"application"`
}

// result is what it comes to.
type result struct {
	State *onboarding.State `json:"state"`
	wiretest.Failure
}

func (c call) on(ctx context.Context, svc onboarding.Service) (st onboarding.State, err error) {
	switch c.Op {
	case "create":
		return svc.Create(ctx, c.Key, *c.Application)
	case "update":
		return svc.Update(ctx, c.Key, c.ID, *c.Application)
	case "submit":
		return svc.Submit(ctx, c.Key, c.ID)
	}
	return svc.Read(ctx, c.ID)
}

func TestClientAlone(t *testing.T) {
	for _, dir := range []string{"testdata/both", "testdata/client"} {
		for _, tr := range wiretest.Load(t, dir) {
			t.Run(tr.Name, func(t *testing.T) {
				var c call
				var want result
				tr.Call(t, &c)
				tr.Result(t, &want)
				srv := tr.Server(t)
				got, err := c.on(t.Context(), &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: srv})
				require.Equal(t, 1, srv.Hits, "each call is sent once")
				if want.Code == "" {
					require.NoError(t, err)
					require.Equal(t, *want.State, got)
					return
				}
				want.Check(t, err)
				require.NotContains(t, err.Error(), "shh-1")
			})
		}
	}
}

// scripted is a Service that expects one call and gives one result.
type scripted struct {
	t    *testing.T
	want call
	give result
	hits int
}

func (s *scripted) answer(got call) (onboarding.State, error) {
	s.hits++
	require.Equal(s.t, s.want, got)
	if s.give.Code != "" {
		return onboarding.State{}, s.give.Err()
	}
	return *s.give.State, nil
}

func (s *scripted) Create(_ context.Context, key wire.Key, app onboarding.Application) (onboarding.State, error) {
	return s.answer(call{Op: "create", Key: key, Application: &app})
}

func (s *scripted) Read(_ context.Context, id int64) (onboarding.State, error) {
	return s.answer(call{Op: "read", ID: id})
}

func (s *scripted) Update(_ context.Context, key wire.Key, id int64, app onboarding.Application) (onboarding.State, error) {
	return s.answer(call{Op: "update", Key: key, ID: id, Application: &app})
}

func (s *scripted) Submit(_ context.Context, key wire.Key, id int64) (onboarding.State, error) {
	return s.answer(call{Op: "submit", Key: key, ID: id})
}

func TestHandlerAlone(t *testing.T) {
	for _, tr := range wiretest.Load(t, "testdata/both") {
		t.Run(tr.Name, func(t *testing.T) {
			svc := &scripted{t: t}
			tr.Call(t, &svc.want)
			tr.Result(t, &svc.give)
			tr.Serve(t, onboarding.Handler(svc, onboarding.HandlerOptions{}))
			require.Equal(t, 1, svc.hits)
		})
	}
}

func calls() []call {
	app := onboardingtest.Fixture{HookURL: "https://receiver.example/"}.Application()
	return []call{{Op: "create", Key: "k", Application: &app}, {Op: "update", ID: 1001, Application: &app}, {Op: "submit", ID: 1001}, {Op: "read", ID: 1001}}
}

// failing is a Service that always fails.
type failing struct{ err error }

func (f failing) Create(context.Context, wire.Key, onboarding.Application) (onboarding.State, error) {
	return onboarding.State{}, f.err
}

func (f failing) Read(context.Context, int64) (onboarding.State, error) {
	return onboarding.State{}, f.err
}

func (f failing) Update(context.Context, wire.Key, int64, onboarding.Application) (onboarding.State, error) {
	return onboarding.State{}, f.err
}

func (f failing) Submit(context.Context, wire.Key, int64) (onboarding.State, error) {
	return onboarding.State{}, f.err
}

func TestCodesAndReasonsSurviveTheWire(t *testing.T) {
	all := onboarding.Problems()
	for _, code := range wire.Codes() {
		all = append(all, wire.Problem{Code: code})
	}
	for _, p := range all {
		for _, c := range calls() {
			svc := failing{&wire.Error{Code: p.Code, Reason: p.Reason, Msg: "because"}}
			_, err := c.on(t.Context(), &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(onboarding.Handler(svc, onboarding.HandlerOptions{}))})
			require.Equal(t, p.Code, wire.CodeOf(err), "%s %v", c.Op, err)
			require.Equal(t, p.Reason, wire.ReasonOf(err), "%s %v", c.Op, err)
		}
	}
	for _, c := range calls() {
		client := &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(onboarding.Handler(failing{errors.New("dsn=secret")}, onboarding.HandlerOptions{}))}
		_, err := c.on(t.Context(), client)
		require.Equal(t, wire.Internal, wire.CodeOf(err))
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestWhatWasProvablyNotSent(t *testing.T) {
	for _, c := range calls() {
		_, err := c.on(t.Context(), &onboarding.Client{BaseURL: "http://a b", Doer: http.DefaultClient})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.on(ctx, &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(nil)})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		if c.ID != 0 {
			c.ID = -1
			_, err = c.on(t.Context(), &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(nil)})
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		}
	}
}

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
	text, err = onboarding.Encode(app)
	require.NoError(t, err)
	require.Contains(t, string(text), "canary-authorization")
	again, err := onboarding.Decode("test", text)
	require.NoError(t, err)
	require.Equal(t, app, again)
}

func TestCardNumbersInNamesAreMasked(t *testing.T) {
	app, err := onboarding.Decode("test", []byte(`{"reference":"4111111111111111","merchant":{"registrationNumber":"40000000000002","companyName":"Shop 4111 1111-1111 1111","address":{"city":"4111111111111111"}}}`))
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
		app, err := onboarding.Decode("fuzz", data)
		if err != nil {
			require.NotEmpty(t, wire.CodeOf(err))
			return
		}
		if err := onboarding.Validate("fuzz", app); err != nil {
			require.Equal(t, wire.Invalid, wire.CodeOf(err))
		}
		text, err := onboarding.Encode(app)
		require.NoError(t, err)
		again, err := onboarding.Decode("fuzz", text)
		require.NoError(t, err)
		text2, err := onboarding.Encode(again)
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
	client := &onboarding.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(onboarding.Handler(failing{wire.Errorf(wire.Internal, "", "asked")}, onboarding.HandlerOptions{}))}
	for _, c := range onboardingtest.Broken() {
		app := onboardingtest.Fixture{HookURL: "https://receiver.example/"}.Application()
		c.Break(&app)
		_, err := client.Create(t.Context(), "", app)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
		_, err = client.Update(t.Context(), "", 1001, app)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.Name, err)
	}
}
