package backend_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/schemes/wire/wiretest"
)

// What a payment owes to an endpoint arrives there, with the merchant's number and the registered credentials.
func TestPaymentEventsArrive(t *testing.T) {
	type note struct{ auth, extra, event string }
	var mu sync.Mutex
	var got []note
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		e, bad := webhooks.Parse(body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && bad == nil && e.MerchantNumber == 77 {
			got = append(got, note{r.Header.Get("Authorization"), r.Header.Get("X-Shop"), string(e.Name)})
		}
	}))
	t.Cleanup(hook.Close)
	b := run(t, backend.Config{
		Dir: t.TempDir(), PublicURL: "http://127.0.0.1:1", HookAllow: []string{strings.TrimPrefix(hook.URL, "http://")}, MerchantNumber: 77,
	})
	url, doer := inMemory(t, b)
	client := &payments.Client{BaseURL: url, Doer: doer}
	req := payments.CreateRequest{
		Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale,
		CardDetails:   &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 1},
		Notifications: &payments.Notifications{},
	}
	for _, name := range []webhooks.Name{webhooks.ChargeCreated, webhooks.PaymentCreated} {
		req.Notifications.WebHooks = append(req.Notifications.WebHooks, payments.WebHook{
			EventName: string(name), URL: hook.URL + "/in", Authorization: "Basic abc", Headers: []map[string]string{{"X-Shop": "9"}},
		})
	}
	_, err := client.Create(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	need.Until(t, "two webhooks", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == 2 })
	mu.Lock()
	require.ElementsMatch(t, []note{{"Basic abc", "9", "payment.created"}, {"Basic abc", "9", "payment.charge.created.v2"}}, got, "the names asked for, no others")
	mu.Unlock()

	before, err := b.Books(t.Context())
	require.NoError(t, err)
	for _, bad := range []string{"https://169.254.169.254/", "https://127.0.0.1:1/", "http://shop.example/", "https://localhost/", "https://u:p@shop.example/"} {
		req.Notifications.WebHooks = []payments.WebHook{{EventName: "payment.created", URL: bad}}
		_, err = client.Create(t.Context(), wire.NewKey(), req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), bad)
	}
	after, err := b.Books(t.Context())
	require.NoError(t, err)
	require.Len(t, after, len(before), "a payment nobody can be told about is not made")
	for i, was := range before { // what was there may have settled meanwhile
		is := after[i]
		is.State, is.AccountState, is.Postings = was.State, was.AccountState, was.Postings
		require.Equal(t, was, is)
	}
}

// Who shows no credentials, or is a browser, is refused in the services' own shape, whatever the case of the path.
func TestGuardOfPaymentsAnswersWithProblems(t *testing.T) {
	b, _ := serve(t, t.TempDir(), -1)
	srv := httptest.NewServer(b.Handler())
	defer srv.Close()
	for _, path := range []string{"/api/v1/Payments/", "/API/v1/payments", "/api/v1/Tokens", "/api/v1/tokens/1", "/api/v1/payments/1/Capture", "/api/v1/what"} {
		for header, status := range map[string]int{"": 401, "Origin": 403, "Referer": 403} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader("{}"))
			require.NoError(t, err)
			if header != "" {
				req.Header.Set(header, "https://evil.example")
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, status, resp.StatusCode, path)
			var p struct {
				Type, Title, Detail, Instance string
				Status                        int
			}
			require.NoError(t, json.Unmarshal(body, &p), path)
			require.Equal(t, status, p.Status)
			require.Equal(t, path, p.Instance)
			require.Contains(t, []string{"urn:problem:unauthorized", "urn:problem:forbidden"}, p.Type)
		}
	}
}

// A reply that is lost, or spoilt, on its way over HTTP: the effect is there once, and the same Key brings the answer.
func TestSpoiltRepliesOfPayments(t *testing.T) {
	b, _ := serve(t, t.TempDir(), -1)
	url, doer := inMemory(t, b)
	client := &payments.Client{BaseURL: url, Doer: doer}
	for _, pan := range []string{"4000000000001091", "4000000000001109", "4000000000001117"} {
		out, err := client.Create(t.Context(), wire.NewKey(), payments.CreateRequest{
			Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", CardDetails: &payments.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2090, ExpiryMonth: 1},
		})
		require.NoError(t, err)
		key := wire.NewKey()
		_, err = client.Authorize(t.Context(), key, out.PaymentID, payments.AuthorizeRequest{})
		require.Contains(t, []wire.Code{wire.UnknownOutcome, wire.Internal}, wire.CodeOf(err), "%v", err)
		if pan == "4000000000001109" {
			require.ErrorContains(t, err, "internal error", "a 500 has the service's own body (S0 7)")
		}
		p, err := client.Read(t.Context(), out.PaymentID)
		require.NoError(t, err)
		require.Len(t, p.Authorizations, 1)
		done, err := client.Authorize(t.Context(), key, out.PaymentID, payments.AuthorizeRequest{})
		require.NoError(t, err)
		require.Equal(t, p.Authorizations[0].TransactionRef, done.TransactionRef)
		_, err = client.Capture(t.Context(), wire.NewKey(), out.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err, "it is spoilt once")
	}
}

// The cards that spoil replies spoil a tokenization's first verification too, a 500 in its own shape (S0 7).
func TestSpoiltRepliesOfTokens(t *testing.T) {
	b, _ := serve(t, t.TempDir(), -1)
	url, doer := inMemory(t, b)
	client := &tokens.Client{BaseURL: url, Doer: doer}
	for pan, want := range map[string]wire.Code{"4000000000001091": wire.UnknownOutcome, "4000000000001109": wire.Internal, "4000000000001117": wire.UnknownOutcome} {
		out, err := client.Create(t.Context(), "", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2090, ExpiryMonth: 1}})
		require.NoError(t, err)
		_, err = client.Verify(t.Context(), "", out.TokenizationID)
		require.Equal(t, want, wire.CodeOf(err), "%v", err)
		var fault *tokens.Fault
		require.Equal(t, want == wire.Internal, errors.As(err, &fault))
		_, err = client.Verify(t.Context(), "", out.TokenizationID)
		require.NoError(t, err, "once")
	}
}

// An operation without a body is one with {}, as clients without anything to say send it.
func TestField_B6EmptyBodyIsAnEmptyObject(t *testing.T) {
	b, base, _ := desk(t, t.TempDir())
	post := func(path, contentType string, body io.Reader) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/v1/payments"+path, body)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
		if contentType != "" {
			req.Header.Set("Content-Type", contentType)
		}
		resp, text := wiretest.Send(t, http.DefaultClient.Do, req)
		return resp.StatusCode, text
	}
	reserved := func() string {
		out, err := b.Payments().Create(t.Context(), wire.NewKey(), payments.CreateRequest{
			Type: payments.Moto, Amount: 1250, CurrencyCode: "EUR", Processing: payments.ProcessAuthorize,
			CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 1},
		})
		require.NoError(t, err)
		return "/" + out.PaymentID
	}
	for _, contentType := range []string{"", "application/json"} {
		id := reserved()
		status, text := post(id+"/Capture", contentType, nil)
		require.Equal(t, http.StatusOK, status, text)
		status, text = post(id+"/Refund", contentType, strings.NewReader("{}"))
		if contentType != "" {
			require.Equal(t, http.StatusOK, status, text)
		}
		status, text = post(reserved()+"/Cancel", contentType, io.MultiReader()) // of unknown length
		require.Equal(t, contentType != "", status == http.StatusOK, text)
		status, text = post(reserved()+"/Cancel", contentType, nil)
		require.Equal(t, http.StatusOK, status, text)
		out, err := b.Payments().Create(t.Context(), wire.NewKey(), payments.CreateRequest{Type: payments.ProviderHosted, Amount: 1250, CurrencyCode: "EUR", Processing: payments.ProcessAuthorize})
		require.NoError(t, err)
		status, text = post("/"+out.PaymentID+"/Authorize", contentType, nil)
		require.NotEqual(t, http.StatusBadRequest, status, text) // whether it can be authorized is the bank's word
		status, _ = post("", contentType, nil)
		require.Equal(t, http.StatusBadRequest, status, "a create has to say something")
	}
}

// Every service refuses to send a customer on in clear, and names the field.
func TestField_B9NoServiceReturnsInClear(t *testing.T) {
	const plain, local = "http://shop.example/back", "http://127.0.0.1:8080/back"
	build := hostedtest.Good()
	for name, ask := range map[string]func(address string) error{
		"redirectUrls.returnUrl": func(s string) error {
			return check.Request("op", payments.CreateRequest{Type: payments.ProviderHosted, Amount: 1, CurrencyCode: "EUR", RedirectURLs: &payments.RedirectURLs{ReturnURL: s}})
		},
		"returnUrl": func(s string) error { return check.Request("tokens.create", tokens.CreateRequest{ReturnURL: s}) },
		"successRedirectUrl": func(s string) error {
			return paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 1, Currency: "EUR", SuccessRedirectURL: s}.Validate()
		},
		"failedRedirectUrl": func(s string) error {
			return paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 1, Currency: "EUR", FailedRedirectURL: s}.Validate()
		},
		"paymentSession.resultUrl": func(s string) error {
			build.PaymentSession.ResultURL = s
			defer func() { build = hostedtest.Good() }()
			return build.Validate()
		},
		"paymentSession.cancelUrl": func(s string) error {
			build.PaymentSession.CancelURL = s
			defer func() { build = hostedtest.Good() }()
			return build.Validate()
		},
	} {
		err := ask(plain)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), name)
		require.ErrorContains(t, err, name+": want an https address")
		require.NotContains(t, err.Error(), "shop.example")
		require.NoError(t, ask(local), name)
	}
}
