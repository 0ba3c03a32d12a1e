package backend_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/wire/rest/openapi/openapitest"
	"posagent/schemes/wire/wiretest"
)

// own is what the backend serves beside its pages and the services' routes, written out.
const own = `
GET /backend/v1/hooks
GET /backend/v1/hooks/dead
POST /api/v1/onboarding/applications/{onboardingId}/approve
POST /api/v1/onboarding/applications/{onboardingId}/fail
POST /api/v1/onboarding/applications/{onboardingId}/reject
POST /api/v1/onboarding/applications/{onboardingId}/sign
POST /backend/v1/hooks/replay
POST /backend/v1/hooks/resume
`

// The backend serves its document, which names each route that is served, and no other method of its path.
func TestField_P7BackendServesItsDocument(t *testing.T) {
	never := time.Duration(-1)
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), Synchronous: "OFF", WalletDelay: &never, PublicURL: "http://127.0.0.1:8490"})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	server := httptest.NewServer(b.Handler())
	defer server.Close()
	ask := func(method, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
		req.Header.Set("X-API-KEY", "demo-api-key")
		if strings.HasPrefix(path, "/v1.0/") {
			req.Header.Set("X-API-KEY", "demo-secret")
		}
		resp, text := wiretest.Send(t, http.DefaultTransport.RoundTrip, req)
		return resp.StatusCode, text
	}
	status, text := ask("GET", "/openapi.json")
	require.Equal(t, 200, status)
	doc := openapitest.Read(t, []byte(text))
	doc.Serves(t, own)
	named := map[string]bool{}
	for _, route := range doc.Routes {
		named[route] = true
	}
	hole := regexp.MustCompile(`\{[^}]*\}`)
	for _, route := range doc.Routes {
		_, pattern, _ := strings.Cut(route, " ")
		path := hole.ReplaceAllString(pattern, "7")
		if strings.HasPrefix(path, "/v1.0/") {
			path += "?instance=demo"
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			status, body := ask(method, path)
			lower := strings.ToLower(body)
			is := status != 405 && status != 501 && !strings.Contains(lower, "no-route") && !strings.Contains(lower, "no_route") && !strings.Contains(lower, "404 page")
			require.Equal(t, named[method+" "+pattern], is, "%s %s: %d %s", method, pattern, status, body)
		}
	}
	for path, route := range map[string]string{
		"/api/v1/payments/none": "/api/v1/payments/{paymentId}", "/api/v1/disputes/key": "/api/v1/disputes/key", "/backend/v1/hooks": "/backend/v1/hooks",
		"/v1.0/Transaction?instance=demo": "/v1.0/Transaction", "/v1.0/SignatureCheck?instance=demo": "/v1.0/SignatureCheck",
		"/ms/naa/terminal/method/list/B1/T1": "/ms/naa/terminal/method/list/{baxId}/{terminalId}",
	} {
		status, body := ask("GET", path)
		doc.Fits(t, "GET", route, status, body)
	}
}

// What the backend really answers is what its document says: a card payment without a token, a link, its refusals.
func TestRealAnswersFitTheDocument(t *testing.T) {
	never := time.Duration(-1)
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), Synchronous: "OFF", WalletDelay: &never, PublicURL: "http://127.0.0.1:8490"})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	server := httptest.NewServer(b.Handler())
	defer server.Close()
	ask := func(method, path, kind, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
		req.Header.Set("X-API-KEY", "demo-api-key")
		req.Header.Set("CorrelationId", "0123abcd-4567-89ef-0123-456789abcdef")
		if strings.HasPrefix(path, "/v1.0/") {
			req.Header.Set("X-API-KEY", "demo-secret")
		}
		resp, text := wiretest.Send(t, http.DefaultTransport.RoundTrip, req)
		return resp.StatusCode, text
	}
	const json, form = "application/json", "application/x-www-form-urlencoded"
	_, text := ask("GET", "/openapi.json", json, "")
	doc := openapitest.Read(t, []byte(text))
	fits := func(want int, method, path, route, kind, body string) string {
		t.Helper()
		status, answer := ask(method, path, kind, body)
		require.Equal(t, want, status, answer)
		doc.Fits(t, method, route, status, answer)
		return answer
	}
	id := regexp.MustCompile(`"(?:paymentId|id)":"?([0-9a-f]+)`)
	card := `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Authorize","cardDetails":{"pan":"4111111111111111","expiryYear":2090,"expiryMonth":1}}`
	made := id.FindStringSubmatch(fits(201, "POST", "/api/v1/payments", "/api/v1/payments", json, card))
	require.Len(t, made, 2)
	read := fits(200, "GET", "/api/v1/payments/"+made[1], "/api/v1/payments/{paymentId}", json, "")
	require.Contains(t, read, `"token":null`)
	over := fits(422, "POST", "/api/v1/payments/"+made[1]+"/Capture", "/api/v1/payments/{paymentId}/Capture", json, `{"amount":1251}`)
	require.Contains(t, over, "1250 is left")
	fits(200, "POST", "/api/v1/payments/"+made[1]+"/Capture", "/api/v1/payments/{paymentId}/Capture", json, `{}`)
	hook := strings.Replace(card, `"amount"`, `"notifications":{"webHooks":[{"eventName":"payment.lost","url":"https://shop.example/h","authorization":"shop-hook-1"}]},"amount"`, 1)
	require.Contains(t, fits(400, "POST", "/api/v1/payments", "/api/v1/payments", json, hook), "payment.charge.created.v2")

	link := id.FindStringSubmatch(fits(200, "POST", "/v1.0/Invoice/?instance=demo", "/v1.0/Invoice", form,
		"title=Chair&description=A+chair&referenceId=r1&purpose=Chair&amount=1250&currency=EUR"))
	require.Len(t, link, 2)
	fits(200, "GET", "/v1.0/Invoice/"+link[1]+"/?instance=demo", "/v1.0/Invoice/{id}", form, "")
	require.Contains(t, fits(422, "POST", "/v1.0/Invoice/", "/v1.0/Invoice", form, "title=Chair"), "instance: missing")

	fits(401, "POST", "/token", "/token", form, "grant_type=client_credentials&client_id=x&client_secret=wrong")
	for path, want := range map[string][]string{
		"PaymentsCreateRequest.type":       {"Moto", "ProviderHostedEcom", "MerchantHostedEcom"},
		"PaymentsCreateRequest.processing": {"None", "Verify", "Authorize", "Sale"},
	} {
		name := strings.Split(path, ".")
		require.JSONEq(t, `["`+strings.Join(want, `","`)+`"]`, doc.Part(t, "components", "schemas", name[0], "properties", name[1], "enum"))
	}
}
