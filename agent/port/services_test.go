package port_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/disputes"
	"posagent/schemes/disputes/disputestest"
	"posagent/schemes/methods"
	"posagent/schemes/methods/methodstest"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

const visa = "4111111111111111"

// act lets a customer do something at the backend's pages.
func (x *rig) act(t *testing.T, path string) {
	resp, err := doer{"Bearer posagent-demo-bearer"}.Do(must(http.NewRequestWithContext(t.Context(), http.MethodPost, x.url+path, http.NoBody)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Every contract's own suite, with the local port between its client and the backend: what a service promises, the port keeps.
func TestConformanceThroughThePort(t *testing.T) {
	x := start(t, false)
	d := doer{bearer}
	site := &wiretest.Site{BaseURL: x.addr, Doer: d}
	t.Run("payments", func(t *testing.T) {
		f := backendtest.Payments(x.backend)
		f.Service, f.Wire = &payments.Client{BaseURL: x.addr, Doer: d}, site
		paymentstest.Run(t, f)
	})
	t.Run("tokens", func(t *testing.T) {
		f := backendtest.Tokens(x.backend)
		f.Service, f.Wire = &tokens.Client{BaseURL: x.addr, Doer: d}, site
		tokenstest.Run(t, f)
	})
	t.Run("payment links", func(t *testing.T) {
		c := &paylinks.Client{BaseURL: x.addr, Instance: "shop", Secret: token, Doer: doer{}}
		require.NoError(t, c.Check(t.Context()))
		f := backendtest.Links(x.backend)
		f.Links, f.Transactions = c.Links(), c.Transactions()
		f.Wire = &paylinkstest.Wire{BaseURL: x.addr, Doer: doer{}, Instance: c.Instance, Secret: c.Secret}
		paylinkstest.Run(t, f)
	})
	t.Run("schemes", func(t *testing.T) {
		f := backendtest.Aapay(x.backend)
		f.Service, f.Wire = &aapay.Client{BaseURL: x.addr, Doer: d}, site
		aapaytest.Run(t, f)
	})
	t.Run("methods", func(t *testing.T) {
		methodstest.Run(t, methodstest.Fixture{
			Service: &methods.Client{BaseURL: x.addr, Doer: d}, BaxID: "B1", TerminalID: "T1", NoBaxID: "B2", Wire: site,
		})
	})
	t.Run("disputes", func(t *testing.T) {
		c := &disputes.Client{BaseURL: x.addr, Doer: d, Dir: t.TempDir()}
		f := backendtest.Disputes(x.backend, func(d time.Duration) { x.ahead.Add(int64(d)) })
		f.Service, f.Keys, f.Wire = c, c, site
		disputestest.Run(t, f)
	})
	t.Run("onboarding", func(t *testing.T) {
		c := &onboarding.Client{BaseURL: x.addr, Doer: d}
		_, err := c.Read(t.Context(), 4711)
		require.Equal(t, wire.NotFound, code(t, err))
	})
}

func moto(amount int32) payments.CreateRequest {
	return payments.CreateRequest{
		Type: payments.Moto, Amount: amount, CurrencyCode: "EUR", Processing: payments.ProcessSale,
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2090, ExpiryMonth: 1},
	}
}

// With the backend away, every route answers 503 in its own service's shape and says when to come back.
func TestWithoutBackend(t *testing.T) {
	x := start(t, true)
	payment, err := wire.Encode(moto(500))
	require.NoError(t, err)
	link := "title=a&description=b&referenceId=c&purpose=d&amount=100&currency=EUR"
	for _, c := range []struct{ method, path, kind, body, shape string }{
		{"POST", "/api/v1/Payments/", jsonKind, string(payment), `"type":"urn:problem:unavailable"`},
		{"GET", "/api/v1/payments/7", "", "", `"type":"urn:problem:unavailable"`},
		{"POST", "/api/v1/payments/7/Capture", jsonKind, "{}", `"type":"urn:problem:unavailable"`},
		{"GET", "/api/v1/tokens/7", "", "", `"type":"urn:problem:unavailable"`},
		{"POST", "/api/v1/tokens/7/verify", "", "", `"type":"urn:problem:unavailable"`},
		{"GET", "/api/v1/onboarding/applications/7", "", "", `"type":"urn:problem:unavailable"`},
		{"POST", "/api/v1/disputes", jsonKind, `{"providerTransactionID":"7","providerFraudReasonCode":"F1"}`, `"type":"urn:problem:unavailable"`},
		{"PATCH", "/api/v1/disputes/7", jsonKind, `{"closeDispute":"Y"}`, `"type":"urn:problem:unavailable"`},
		{"GET", "/api/v1/disputes/document/7", "", "", `"type":"urn:problem:unavailable"`},
		{"GET", "/api/v1/disputes/key", "", "", `"type":"urn:problem:unavailable"`},
		{"GET", "/v1.0/Invoice/7/?" + signed("id=7"), "", "", `"status":"error"`},
		{"POST", "/v1.0/Invoice/?instance=shop", formKind, signed(link), `"status":"error"`},
		{"GET", "/ms/aapay/v2/transaction/7/status", "", "", `"componsiteFault"`},
		{"GET", "/ms/naa/terminal/method/list/B1/T1", "", "", `"componsiteFault"`},
	} {
		r := x.ask(c.method, c.path, bearer, c.kind, c.body)
		require.Equal(t, 503, r.status, "%s %s: %s", c.method, c.path, r.body)
		require.Contains(t, r.body, c.shape, c.path)
		require.NotEmpty(t, r.header.Get("Retry-After"), c.path)
		require.NotContains(t, r.body, visa)
	}
	require.Equal(t, 200, x.ask("GET", "/agent/v1/status", bearer, "", "").status, "the terminal shows itself all the same")
}

const (
	jsonKind = "application/json"
	formKind = "application/x-www-form-urlencoded"
)

// signed adds the signature under the local token to a form whose values need no escape.
func signed(form string) string {
	return form + "&instance=shop&ApiSignature=" + url.QueryEscape(sign(form))
}

// A write leaves at most once, with a Key too: who asks decides whether it goes again.
func TestOneWriteOneSend(t *testing.T) {
	x := start(t, false)
	c := &payments.Client{BaseURL: x.addr, Doer: doer{bearer}}
	x.broken.Store(true)
	for i, key := range []wire.Key{"", wire.NewKey()} {
		_, err := c.Create(t.Context(), key, moto(500))
		require.Equal(t, wire.UnknownOutcome, code(t, err))
		require.EqualValues(t, i+1, x.writes.Load())
	}
	link := &paylinks.Client{BaseURL: x.addr, Instance: "shop", Secret: token, Doer: doer{}}
	_, err := link.Links().Create(t.Context(), wire.NewKey(), paylinks.CreateRequest{Title: "a", Description: "b", ReferenceID: "c", Purpose: "d", Amount: 100, Currency: "EUR"})
	require.Equal(t, wire.UnknownOutcome, code(t, err))
	require.EqualValues(t, 3, x.writes.Load())
	x.broken.Store(false)
	key := wire.NewKey()
	one, err := c.Create(t.Context(), key, moto(500))
	require.NoError(t, err)
	two, err := c.Create(t.Context(), key, moto(500))
	require.NoError(t, err)
	require.Equal(t, one.PaymentID, two.PaymentID, "the caller's Key goes along")
	_, err = c.Create(t.Context(), key, moto(501))
	require.Equal(t, wire.KeyReused, code(t, err))
}

// The local token alone opens, in each service's own form; the backend's credentials do not, and nothing bad is sent on.
func TestLocalCredentials(t *testing.T) {
	x := start(t, false)
	body := `{"type":"Moto"}`
	pair := func(s string) string { return "Bearer " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, path := range []string{"/api/v1/payments", "/API/V1/Payments/", "/api/v1/tokens", "/api/v1/onboarding/applications", "/ms/aapay/v2/transaction/payment/initialize",
		"/ms/naa/terminal/method/list/B1/T1", "/agent/v1/status", "/agent/v1/sales", "/agent/v1/sales/x", "/agent/v1/methods", "/agent/v1/operations", "/agent/v1/operations/x",
		"/agent/v1/events", "/agent/v1/what", "/metrics"} {
		method := "GET"
		if strings.Contains(path, "pay") || strings.Contains(path, "Pay") || strings.Contains(path, "tokens") || strings.Contains(path, "onb") {
			method = "POST"
		}
		for _, auth := range []string{"", "Bearer ", "Bearer", "Basic " + token, "Bearer " + strings.ToUpper(token), "Bearer " + token + "x", "Bearer posagent-demo-bearer",
			pair("demo-consumer:demo-consumer-secret"), pair(token), pair("a:b" + token), "Bearer " + strings.Repeat("a", 8000)} {
			r := x.ask(method, path, auth, jsonKind, body)
			require.Equal(t, 401, r.status, "%s %q: %s", path, auth, r.body)
			require.NotContains(t, r.body, token)
		}
		require.NotEqual(t, 401, x.ask("HEAD", path, bearer, "", "").status, path)
		require.NotEqual(t, 401, x.ask("HEAD", path, pair("till:"+token), "", "").status, path)
	}
	for _, query := range []string{"", "instance=shop", "instance=demo&ApiSignature=" + url.QueryEscape(sign("")), "instance=shop&ApiSignature=x", "instance=shop&ApiSignature=" + url.QueryEscape(sign("a=b"))} {
		r := x.ask("GET", "/v1.0/SignatureCheck/?"+query, bearer, "", "")
		require.Contains(t, []int{403, 422}, r.status, query)
		require.Equal(t, "application/json", r.header.Get("Content-Type"))
	}
	require.Zero(t, x.writes.Load())

	const grant = "--b\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials\r\n--b--\r\n"
	for _, path := range []string{"/token", "/oauth2/v2.0/token"} {
		for _, form := range []struct {
			kind, body string
			status     int
			basic      string
		}{
			{formKind, "grant_type=client_credentials&client_id=till&client_secret=" + token, 200, ""},
			{"multipart/form-data; boundary=b", grant, 200, "Basic " + base64.StdEncoding.EncodeToString([]byte("till:"+token))},
			{"multipart/form-data; boundary=b", grant, 401, "Basic " + base64.StdEncoding.EncodeToString([]byte("till:x"))},
			{"multipart/form-data; boundary=b", grant, 400, ""},
			{formKind, "grant_type=client_credentials&client_secret=wrong", 401, ""},
			{formKind, "grant_type=client_credentials", 401, ""},
			{formKind, "grant_type=password&client_secret=" + token, 400, ""},
			{jsonKind, "{}", 400, ""},
		} {
			r := x.ask("POST", path, form.basic, form.kind, form.body)
			require.Equal(t, form.status, r.status, "%s %s", path, form.body)
			require.Equal(t, form.status == 200, strings.Contains(r.body, fmt.Sprintf(`"access_token":%q`, token)))
		}
	}
}
