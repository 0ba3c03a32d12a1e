package port_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/agent/port"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi/openapitest"
	"posagent/store"
)

// document reads the OpenAPI document.
func (x *rig) document(t *testing.T) (paths map[string]map[string]struct {
	Security  []map[string][]string
	Responses map[string]struct{ Content map[string]any }
}, read *openapitest.Document) {
	r := x.ask("GET", "/openapi.json", "", "", "")
	require.Equal(t, 200, r.status)
	read = openapitest.Read(t, []byte(r.body))
	doc := struct{ Paths any }{&paths}
	require.NoError(t, json.Unmarshal([]byte(r.body), &doc), r.body)
	return paths, read
}

// own is what the port serves beside the services' routes, written out.
const own = `
GET /
GET /agent/v1/end-of-day
GET /agent/v1/events
GET /agent/v1/methods
GET /agent/v1/operations
GET /agent/v1/operations/{key}
GET /agent/v1/sales
GET /agent/v1/sales/{id}
GET /agent/v1/sales/{id}/qr.png
GET /agent/v1/sales/{id}/qr.svg
GET /agent/v1/status
GET /metrics
GET /readyz
POST /agent/v1/end-of-day
POST /agent/v1/sales
POST /agent/v1/sales/{id}/abort
POST /agent/v1/sales/{id}/refund
POST /agent/v1/sales/{id}/reverse
POST /hooks/notifications
POST /hooks/webhooks
`

// The document names each route that is served, and each of its examples fits its schema.
func TestField_P7DocumentIsWhole(t *testing.T) {
	_, doc := start(t, false).document(t)
	doc.Serves(t, own)
	require.Greater(t, doc.Examples, 300)
}

// What the port answers is what the document says: the schemas are those of real answers.
func TestField_P7AnswersFitTheDocument(t *testing.T) {
	x := start(t, false)
	_, doc := x.document(t)
	body := `{"type":"ProviderHostedEcom","amount":1250,"currencyCode":"EUR","redirectUrls":{"returnUrl":"https://shop.example/thanks"}}`
	made := x.ask("POST", "/api/v1/payments", bearer, jsonKind, body)
	require.Equal(t, 201, made.status, made.body)
	var payment struct{ PaymentID string }
	require.NoError(t, json.Unmarshal([]byte(made.body), &payment))
	doc.Fits(t, "POST", "/api/v1/payments", made.status, made.body)
	for path, route := range map[string]string{
		"/api/v1/payments/" + payment.PaymentID: "/api/v1/payments/{paymentId}", "/api/v1/payments/none": "/api/v1/payments/{paymentId}",
		"/agent/v1/status": "/agent/v1/status", "/agent/v1/methods": "/agent/v1/methods", "/agent/v1/operations": "/agent/v1/operations",
		"/agent/v1/sales": "/agent/v1/sales", "/agent/v1/sales/none": "/agent/v1/sales/{id}", "/api/v1/disputes/key": "/api/v1/disputes/key",
		"/ms/naa/terminal/method/list/B1/T1":        "/ms/naa/terminal/method/list/{baxId}/{terminalId}",
		"/ms/aapay/v2/transaction/none/status":      "/ms/aapay/v2/transaction/{id}/status",
		"/v1.0/Transaction/?" + signed("")[1:]:      "/v1.0/Transaction",
		"/v1.0/SignatureCheck/?" + signed("")[1:]:   "/v1.0/SignatureCheck",
		"/api/v1/onboarding/applications/123456789": "/api/v1/onboarding/applications/{onboardingId}",
	} {
		r := x.ask("GET", path, bearer, "", "")
		doc.Fits(t, "GET", route, r.status, r.body)
	}
	r := x.ask("GET", "/api/v1/payments/"+payment.PaymentID, "", "", "")
	doc.Fits(t, "GET", "/api/v1/payments/{paymentId}", r.status, r.body)
}

// Every route of the document is served, under the proof it names, and no other method of its path is.
func TestDocumentIsWhatIsServed(t *testing.T) {
	x := start(t, false)
	hole := regexp.MustCompile(`\{[^}]*\}`)
	paths, _ := x.document(t)
	n := 0
	for pattern, ops := range paths {
		path := hole.ReplaceAllString(pattern, "7")
		link := strings.HasPrefix(path, "/v1.0/")
		proof := ""
		if link {
			path += "?" + strings.TrimPrefix(signed(""), "&")
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			op, named := ops[strings.ToLower(method)]
			auth := bearer
			if strings.HasPrefix(pattern, "/hooks/") {
				auth = "Bearer hook"
			}
			if strings.HasPrefix(pattern, "/api/v1/api/") {
				auth = "Key " + token
			}
			if pattern == "/agent/v1/events" && method == "GET" {
				auth = "" // a stream does not end: that it wants the token is enough here, TestEvents reads it
			}
			r := x.ask(method, path, auth, jsonKind, "")
			served := r.status != 405 && r.status != 501 && !strings.Contains(r.body, "no-route") && !strings.Contains(r.body, "no_route") && !strings.Contains(r.body, "NO_ROUTE") && !strings.Contains(r.body, "404 page")
			require.Equal(t, named, served, "%s %s: %d %s", method, pattern, r.status, r.body)
			if !named {
				continue
			}
			n++
			for _, s := range op.Security {
				for proof = range s {
				}
			}
			if proof != "" {
				if link {
					path = hole.ReplaceAllString(pattern, "7") + "?instance=shop"
				}
				bare := x.ask(method, path, "", jsonKind, "{}")
				require.Contains(t, []int{401, 403}, bare.status, "%s %s without proof: %s", method, pattern, bare.body)
				kind, _, _ := strings.Cut(bare.header.Get("Content-Type"), ";")
				require.Contains(t, op.Responses["default"].Content, kind, "%s %s: the shape of its errors", method, pattern)
			}
			stored := method == "POST" && (strings.HasPrefix(pattern, "/api/v1/payments") || strings.HasPrefix(pattern, "/api/v1/tokens")) ||
				method != "GET" && (strings.HasPrefix(pattern, "/v1.0/Invoice") || strings.HasPrefix(pattern, "/v1.0/Transaction"))
			if _, named := op.Responses["202"]; !strings.Contains(pattern, "initialize") && !strings.Contains(pattern, "/sales") {
				require.Equal(t, stored, named, "%s %s: stored for later", method, pattern)
			}
		}
	}
	require.Equal(t, len(openapitest.Routes())+len(strings.Fields(own))/2, n, "routes")
	for _, path := range []string{"/x", "/agent/v1/", "/agent/v1/what", "/api/v1/what", "/api/v1/paymentsx", "/v2.0/Invoice/", "/debug/pprof/", "/agent/v2/status", "/hooks/", "/hooks/webhooks/x"} {
		require.Equal(t, 404, x.ask("GET", path, bearer, "", "").status, path)
	}
}

// What the command line prints is what the port shows; nothing is shown that was asked for wrongly.
func TestHouse(t *testing.T) {
	x := start(t, false)
	var keys []wire.Key
	for i := range 3 {
		keys = append(keys, wire.NewKey())
		require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
			return x.outbox.Accept(tx, outbox.New{Key: keys[i], Kind: "test", Aggregate: "a" + strconv.Itoa(i), Payload: []byte("card-canary"), Note: "undo", AmountMin: 1250, Currency: "EUR"})
		}))
	}
	for path, schema := range map[string]string{
		"/agent/v1/status": "posagent.status/1", "/agent/v1/sales": "posagent.sales/1", "/agent/v1/sales?limit=200": "posagent.sales/1",
		"/agent/v1/methods": "posagent.methods/1", "/agent/v1/operations": "posagent.operations/1", "/agent/v1/operations/" + string(keys[1]): "posagent.operation/1",
		"/agent/v1/operations?state=pending&open=true&kind=test&after=1&limit=1": "posagent.operations/1",
	} {
		r := x.ask("GET", path, bearer, "", "")
		require.Equal(t, 200, r.status, path)
		require.Contains(t, r.body, `"schema":"`+schema+`"`, path)
		require.NotContains(t, r.body, "card-canary")
		require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	}
	require.Contains(t, x.ask("GET", "/agent/v1/operations?after=1&limit=1", bearer, "", "").body, string(keys[1]))
	require.NotContains(t, x.ask("GET", "/agent/v1/operations?after=1&limit=1", bearer, "", "").body, string(keys[2]))
	require.Contains(t, x.ask("GET", "/agent/v1/status", bearer, "", "").body, `"count":3,"sum":3750`)
	for path, status := range map[string]int{
		"/agent/v1/sales/none": 404, "/agent/v1/operations/none": 404, "/agent/v1/sales?limit=0": 400, "/agent/v1/sales?limit=201": 400,
		"/agent/v1/sales?limit=1&limit=2": 400, "/agent/v1/operations?after=-1": 400, "/agent/v1/operations?state=LOST": 400, "/agent/v1/operations?open=yes": 400,
	} {
		r := x.ask("GET", path, bearer, "", "")
		require.Equal(t, status, r.status, path)
		require.Contains(t, r.body, `"type":"urn:problem:`, path)
	}
	r := x.ask("GET", "/metrics", bearer, "", "")
	require.Equal(t, 200, r.status)
	for line := range strings.SplitSeq(strings.TrimSpace(r.body), "\n") {
		require.Regexp(t, `^(# TYPE posagent_\w+ (gauge|counter)|posagent_\w+(\{service="\w+"\})? -?\d+)$`, line)
	}
	require.Contains(t, r.body, "\nposagent_operations_open 3\n")
	require.Contains(t, r.body, `posagent_upstream_healthy{service="payments"} 1`)
}

// More connections than there are slots: idle ones make room, so that a new caller is served.
func TestConnectionsHaveALimit(t *testing.T) {
	x := start(t, false)
	host := strings.TrimPrefix(x.addr, "http://")
	for range 150 {
		conn, err := net.Dial("tcp", host)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = conn.Write([]byte("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(need.Deadline()))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		require.NoError(t, resp.Body.Close())
	}
	require.Regexp(t, `posagent_port_connections (6[0-4]|[1-5]?\d)\n`, x.ask("GET", "/metrics", bearer, "", "").body)
}

// The port is for this machine.
func TestOtherMachinesAreRefused(t *testing.T) {
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	defer ln.Close()
	ok := func() error { return nil }
	require.ErrorContains(t, port.New(port.Options{Listener: ln, Live: ok, Ready: ok}).Run(context.Background()), "not this machine only")
}

// What no route is for is answered as JSON, for clients and strangers, with what the path takes where it is another method.
func TestField_P10UnknownRoutesAnswerJSON(t *testing.T) {
	x := start(t, false)
	for _, c := range []struct {
		method, path, allow string
		status              int
	}{
		{"GET", "/none", "", 404}, {"POST", "/", "GET", 405}, {"GET", "/hooks/webhooks/x", "", 404}, {"GET", "/favicon.ico", "", 404},
		{"GET", "/v2.0/Invoice/", "", 404}, {"POST", "/livez", "GET, HEAD", 405}, {"GET", "/token", "POST", 405}, {"GET", "/api/v1/what", "", 404},
	} {
		for _, auth := range []string{"", bearer} {
			r := x.ask(c.method, c.path, auth, "", "")
			require.Equal(t, c.status, r.status, c.path)
			require.Contains(t, r.header.Get("Content-Type"), "application/problem+json", c.path)
			require.Contains(t, r.body, `"type":"urn:problem:no-route"`, c.path)
			require.Equal(t, c.allow, r.header.Get("Allow"), c.path)
		}
	}
}

// A refused token is told so in plain words, without a hint at what was wrong with it.
func TestField_P10AWrongTokenIsToldSo(t *testing.T) {
	x := start(t, false)
	for auth, want := range map[string]string{"": "a token is needed", "Bearer wrong": "this is no token of this terminal", "Basic x": "this is no token of this terminal"} {
		for _, path := range []string{"/api/v1/payments/7", "/agent/v1/status", "/metrics"} {
			r := x.ask("GET", path, auth, "", "")
			require.Equal(t, 401, r.status)
			require.Contains(t, r.body, want, path)
			require.Contains(t, r.body, "port.token", path)
		}
	}
}

// A place in the stream that is ahead of everything is another journal's: a reader is told so, instead of being given all again.
func TestField_P10FutureLastEventID(t *testing.T) {
	x := start(t, false)
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, x.addr+"/agent/v1/events", http.NoBody))
	req.Header.Set("Authorization", bearer)
	for _, id := range []string{"1", "0-1", "9-9"} {
		req.Header.Set("Last-Event-ID", id)
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 409, resp.StatusCode, id)
	}
}

// A request with a length and chunks at once is one whose end nobody knows: the connection does not go on behind it.
func TestField_P12LengthAndChunksEndTheConnection(t *testing.T) {
	x := start(t, false)
	host := strings.TrimPrefix(x.addr, "http://")
	conn, err := net.Dial("tcp", host)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("POST /api/v1/payments HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: " + bearer + "\r\nContent-Type: application/json\r\n" +
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(need.Deadline()))
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	require.Equal(t, 400, resp.StatusCode)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	_, err = in.ReadByte()
	require.ErrorIs(t, err, io.EOF, "what follows is not taken for a request")
}

// A client that reaches its own things only sees no alert of another's: neither its key, nor its id, amount and reason.
func TestField_P1AlertsOfOthersAreNotShown(t *testing.T) {
	x := start(t, false)
	h := &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now}
	require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
		op := outbox.Op{New: outbox.New{Key: "beta-operation", Kind: "payments.create", Owner: "beta", AmountMin: 700, Currency: "EUR"}, State: outbox.Failed, Reason: "declined"}
		return x.outbox.Alert(tx, op, "Lbeta", "merchant")
	}))
	v, err := h.Status(wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Words: []string{"read"}, Own: true}))
	require.NoError(t, err)
	require.Equal(t, []view.Alert{}, v.Alerts)
	require.Empty(t, v.Attention)
	v, err = h.Status(wire.WithCaller(t.Context(), wire.Caller{Name: "eyes", Words: []string{"read", "all"}}))
	require.NoError(t, err)
	require.Len(t, v.Alerts, 1)
}
