package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/gateway"
	"posagent/agent/port"
	"posagent/agent/upstream"
	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// TestPaymentWithoutABackend: the cable is cut, a payment and its capture are taken with 202, the cable is mended, and both are
// there once, under either id.
func TestPaymentWithoutABackend(t *testing.T) {
	const token = "local-token-0123456789"
	never := -time.Second
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), Synchronous: "OFF", WalletDelay: &never, PublicURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	server := httptest.NewServer(b.Handler())
	t.Cleanup(server.Close)
	var cut atomic.Bool
	client, err := upstream.New(upstream.Config{
		Base: server.URL, Auth: upstream.Auth{Bearer: backend.DemoCredentials().Bearer}, Timeout: need.Limit(),
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if cut.Load() {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("cut")}
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
	})
	require.NoError(t, err)

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	db := storetest.Open(t, agent.Schema()...)
	front := gateway.NewFront(gateway.Options{DB: db, Payments: &payments.Client{BaseURL: server.URL, Doer: client.Once()}, Within: time.Second})
	ready, born := make(chan struct{}), time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	a := agent.New(agent.Options{
		DB: db, Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Port: ln, Front: front,
		Local: agent.Local{Token: token, Services: []port.Service{port.Payments(front.Payments(), "")}, Within: 5 * time.Second},
		Probe: func(ctx context.Context, _ string) error { return client.Probe(ctx) },
		Now:   time.Now, Boot: func() time.Duration { return time.Since(born) }, BootID: "boot", Up: func() { close(ready) }, Log: slog.New(slog.DiscardHandler),
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-ready

	ask := func(method, path, body string, status int) (http.Header, map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+ln.Addr().String()+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		if method == http.MethodPost {
			req.Header.Set("Content-Type", "application/json")
			key := strings.ToLower(strings.ReplaceAll(path[len(path)-8:], "/", "-")) // the same for both spellings of a route
			if strings.HasSuffix(path, "/Capture") {
				key = "ayments-" // the create's
			}
			req.Header.Set(wire.KeyHeader, key)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, status, resp.StatusCode, "%s", data)
		var m map[string]any
		require.NoError(t, json.Unmarshal(data, &m))
		return resp.Header, m
	}
	const create = `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Authorize","cardDetails":{"pan":"4111111111111111","expiryYear":2090,"expiryMonth":1}}`
	ask("POST", "/api/v1/payments", create, 201)
	ask("GET", "/api/v1/payments/4711", "", 404)
	cut.Store(true)
	client.CloseIdle()
	_, made := ask("POST", "/api/v1/Payments", create, 201)
	require.Nil(t, made["operation"], "the same key is the same payment")

	const more = `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Authorize","paymentNumber":"2","cardDetails":{"pan":"4111111111111111","expiryYear":2090,"expiryMonth":1}}`
	header, stored := ask("POST", "/api/v1/payments/", more, 202)
	local, ok := stored["paymentId"].(string)
	require.True(t, ok)
	page, ok := stored["payPageUrl"].(string) // TestField_P3: a customer's browser opens it, without a token
	require.True(t, ok)
	require.Equal(t, "http://"+ln.Addr().String()+"/pay/"+local, page)
	browser := func(method string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, page, nil)
		require.NoError(t, err)
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		req.Header.Set("Referer", "http://shop.example/")
		return answered(t, req)
	}
	status, text := browser(http.MethodGet)
	require.Equal(t, 200, status, text)
	require.Contains(t, text, "The shop is offline")
	status, _ = browser(http.MethodPost)
	require.Equal(t, 403, status, "a page reads, and nothing else")
	op, ok := stored["operation"].(map[string]any)
	require.True(t, ok)
	key, ok := op["key"].(string)
	require.True(t, ok)
	require.Equal(t, "L"+key, local)
	require.Equal(t, "pending", op["status"])
	require.Contains(t, op["note"], "risk")
	require.Equal(t, "/agent/v1/operations/"+key, header.Get("Location"))
	_, shown := ask("GET", header.Get("Location"), "", 200)
	require.NotEmpty(t, shown["operation"])
	_, read := ask("GET", "/api/v1/payments/"+local, "", 200)
	require.NotNil(t, read["operation"])
	header, captured := ask("POST", "/api/v1/payments/"+local+"/Capture", `{}`, 202)
	require.Equal(t, local, captured["paymentId"])

	// One key on two routes names two operations: a look-up answers with both, and never with one of them for the other.
	capture := strings.TrimPrefix(header.Get("Location"), "/agent/v1/operations/")
	_, both := ask("GET", "/agent/v1/operations/ayments-", "", 422)
	require.Equal(t, "urn:problem:conflict", both["type"])
	require.Contains(t, both["detail"], wire.MaskPANs("payments.create "+key+", payments.capture "+capture), "a Key may look like a card number")
	_, all := ask("GET", "/agent/v1/operations?key=ayments-", "", 200)
	list, ok := all["operations"].([]any)
	require.True(t, ok)
	require.Len(t, list, 2)
	for n, want := range []string{key, capture} {
		one, ok := list[n].(map[string]any)
		require.True(t, ok)
		require.Equal(t, want, one["key"])
	}
	_, none := ask("GET", "/agent/v1/operations?key=nobodys", "", 200)
	require.Equal(t, []any{}, none["operations"])

	cut.Store(false)
	need.Until(t, "the stored payment is sent", func() bool {
		_, v := ask("GET", header.Get("Location"), "", 200)
		one, ok := v["operation"].(map[string]any)
		return ok && one["state"] == "DONE"
	})
	_, settled := ask("POST", "/api/v1/payments/", more, 201)
	id, ok := settled["paymentId"].(string)
	require.True(t, ok)
	require.NotEqual(t, local, id)
	for _, name := range []string{local, id} {
		_, p := ask("GET", "/api/v1/payments/"+name, "", 200)
		require.Equal(t, name, p["paymentId"], "the id asked is the id answered")
		require.Nil(t, p["operation"])
		sums, ok := p["summary"].(map[string]any)
		require.True(t, ok)
		require.EqualValues(t, 1250, sums["capturedAmount"])
	}
	entries, err := b.Books(t.Context())
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Reference] = true
	}
	require.Len(t, names, 2, "two payments, each made once")

	_, doc := ask("GET", "/openapi.json", "", 200)
	paths, err := json.Marshal(doc["paths"])
	require.NoError(t, err)
	require.Contains(t, string(paths), `"description":"stored, not yet answered by the backend; Location names the operation"`)
	cancel()
	require.NoError(t, <-ended)
}
