package agent_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/upstream"
	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// ask is a call of a service over the one HTTP client.
type ask struct {
	name  string
	write bool
	do    func(ctx context.Context) error
}

// asks are calls of every service the terminal reaches.
func asks(t *testing.T, base string) []ask {
	over := func(auth upstream.Auth) wire.Doer {
		c, err := upstream.New(upstream.Config{Base: base, Auth: auth, Timeout: need.Limit() / 100, RetryWait: time.Millisecond})
		require.NoError(t, err)
		t.Cleanup(c.CloseIdle)
		return c.Once()
	}
	bearer := over(upstream.Auth{Bearer: "hush-credential"})
	pay, tok := &payments.Client{BaseURL: base, Doer: bearer}, &tokens.Client{BaseURL: base, Doer: bearer}
	board, cases := &onboarding.Client{BaseURL: base, Doer: bearer}, &disputes.Client{BaseURL: base, Doer: bearer, Dir: t.TempDir()}
	build := &hosted.Client{BaseURL: base, APIKey: "hush-key", Doer: over(upstream.Auth{})}
	links := &paylinks.Client{BaseURL: base, Instance: "shop", Secret: "hush-secret", Doer: over(upstream.Auth{})}
	card := wire.NewPAN("4111111111111111")
	one := int32(1)
	return []ask{
		{"payments create", true, func(ctx context.Context) error {
			_, err := pay.Create(ctx, wire.NewKey(), payments.CreateRequest{Type: payments.Moto, Amount: 1, CurrencyCode: "EUR", Processing: payments.ProcessSale,
				CardDetails: &payments.CardDetails{PAN: card, ExpiryYear: 2099, ExpiryMonth: 12}})
			return err
		}},
		{"payments capture", true, func(ctx context.Context) error {
			_, err := pay.Capture(ctx, wire.NewKey(), "7", payments.CaptureRequest{Amount: &one})
			return err
		}},
		{"payments read", false, func(ctx context.Context) error { _, err := pay.Read(ctx, "7"); return err }},
		{"tokens create", true, func(ctx context.Context) error {
			_, err := tok.Create(ctx, wire.NewKey(), tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: card, ExpiryYear: 2099, ExpiryMonth: 12}, TokenSecret: "hush", ReturnURL: "https://shop.example/"})
			return err
		}},
		{"tokens verify", true, func(ctx context.Context) error { _, err := tok.Verify(ctx, wire.NewKey(), "7"); return err }},
		{"tokens read", false, func(ctx context.Context) error { _, err := tok.Token(ctx, "7"); return err }},
		{"onboarding submit", true, func(ctx context.Context) error { _, err := board.Submit(ctx, wire.NewKey(), 7); return err }},
		{"onboarding read", false, func(ctx context.Context) error { _, err := board.Read(ctx, 7); return err }},
		{"disputes key", false, func(ctx context.Context) error { _, err := cases.PublicKey(ctx); return err }},
		{"disputes document", false, func(ctx context.Context) error { _, err := cases.Document(ctx, "7", 0); return err }},
		{"hosted cancel", true, func(ctx context.Context) error {
			_, err := build.Sessions().Cancel(ctx, wire.NewKey(), "s7")
			return err
		}},
		{"hosted order", false, func(ctx context.Context) error { _, err := build.Orders().Order(ctx, "7"); return err }},
		{"links create", true, func(ctx context.Context) error {
			_, err := links.Links().Create(ctx, wire.NewKey(), paylinks.CreateRequest{Title: "a", Description: "b", ReferenceID: "c", Purpose: "d", Amount: 1, Currency: "EUR"})
			return err
		}},
		{"links delete", true, func(ctx context.Context) error { _, err := links.Links().Delete(ctx, wire.NewKey(), 7); return err }},
		{"links read", false, func(ctx context.Context) error { _, err := links.Links().Read(ctx, 7); return err }},
		{"links refund", true, func(ctx context.Context) error {
			_, err := links.Transactions().Refund(ctx, wire.NewKey(), 7, paylinks.RefundRequest{})
			return err
		}},
		{"methods list", false, func(ctx context.Context) error {
			_, err := (&methods.Client{BaseURL: base, Doer: bearer}).List(ctx, methods.Query{BaxID: "B1", TerminalID: "T1"})
			return err
		}},
		{"schemes status", false, func(ctx context.Context) error {
			_, err := (&aapay.Client{BaseURL: base, Doer: bearer}).Status(ctx, "7", "M")
			return err
		}},
	}
}

// Nothing that a captive portal, a proxy or a broken server answers is taken for a service's own word: a write that left is open,
// a read says that nothing is known, and no credential goes anywhere else.
func TestHostileReplies(t *testing.T) {
	decoy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("followed to %s", r.URL) }))
	t.Cleanup(decoy.Close)
	html := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html><body>Welcome to Free WiFi</body></html>")
		}
	}
	body := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, text)
				_ = conn.Close()
			}
		}
	}
	to := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, decoy.URL+r.URL.Path, status) }
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 8<<20))
	require.NoError(t, z.Close())
	for _, reply := range []struct {
		what string
		how  http.HandlerFunc
	}{
		{"D69 a captive page", html(200)},
		{"D69 a captive page that calls itself JSON", body(200, "<html>log in</html>")},
		{"D69 a captive page, created", html(201)},
		{"D69 a captive page, 404", html(404)},
		{"D69 a captive page, 409", html(409)},
		{"D69 a captive page, 400", html(400)},
		{"D69 a captive page, 511", html(511)},
		{"D70 empty 200", body(200, "")},
		{"D70 empty 201", body(201, "")},
		{"D70 204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }},
		{"D70 truncated", body(200, `{"status":"success","paymentId":"7","data":[{"id":7`)},
		{"D70 truncated 201", body(201, `{"status":"success","paymentId":"7","tokenizationId":"7","data":[{"id":7`)},
		{"D70 null", body(200, "null")},
		{"D70 another value", body(200, "7")},
		{"D70 wrong types", body(200, `{"status":7,"paymentId":{},"tokenizationId":[],"token":7,"data":"x","id":"x","state":[],"valid":"yes","key":7,"inputStream":7,"methods":7}`)},
		{"D70 duplicate keys", body(200, `{"paymentId":"7","paymentId":"8","status":"success","status":"success","data":[],"data":[]}`)},
		{"D70 not UTF-8", body(200, "{\"paymentId\":\"\xff\xfe\"}")},
		{"D70 two documents", body(200, `{"paymentId":"7"}{"paymentId":"8"}`)},
		{"D70 shorter than it says", raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}")},
		{"D70 closed", raw("")},
		{"D70 101", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")},
		{"D70 compressed, never asked for", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}},
		{"D70 500 with a page", html(500)},
		{"D70 502 with a page", html(502)},
		{"D76 302", to(302)},
		{"D76 307", to(307)},
		{"D76 308", to(308)},
		{"D77 a header of 1 MB", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("A", 1<<20)) }},
		{"D77 1xx without end", raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 5000))},
	} {
		t.Run(reply.what, func(t *testing.T) {
			var came atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				came.Add(1)
				reply.how(w, r)
			}))
			t.Cleanup(server.Close)
			for i := range asks(t, server.URL) {
				c := asks(t, server.URL)[i] // with a circuit of its own
				came.Store(0)
				err := c.do(t.Context())
				require.Error(t, err, c.name)
				require.Positive(t, came.Load(), "%s: %v", c.name, err)
				want := wire.Unavailable
				if c.write {
					want = wire.UnknownOutcome
					require.EqualValues(t, 1, came.Load(), "%s: sent once", c.name)
				}
				require.Equal(t, want, wire.CodeOf(err), "%s: %v", c.name, err)
				require.NotContains(t, fmt.Sprintf("%+v", err), "hush", c.name)
			}
		})
	}
}

// A good reply is good whatever its Date says and however many cookies come with it; none goes back, and no clock is set by it.
func TestOddButGoodReplies(t *testing.T) {
	began := time.Now()
	for _, date := range []string{"Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 31 Dec 2099 23:59:59 GMT", "yesterday; drop table"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Cookie") != "" {
				t.Errorf("a cookie came back to %s", r.URL.Path)
			}
			w.Header().Set("Date", date)
			for i := range 300 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=v; Path=/", i))
			}
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasPrefix(r.URL.Path, methods.Prefix):
				_, _ = io.WriteString(w, `[{"priority":1,"paymentProviderId":1,"name":"A","meanDelay":10,"label":"A","trigger":["QR"],"transactionTypes":["PAYMENT"]}]`)
			default:
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, `{"type":"urn:problem:not-found","title":"Not found","status":404,"detail":"none"}`)
			}
		}))
		t.Cleanup(server.Close)
		c, err := upstream.New(upstream.Config{Base: server.URL, Auth: upstream.Auth{Bearer: "b"}})
		require.NoError(t, err)
		for range 2 {
			list, err := (&methods.Client{BaseURL: server.URL, Doer: c}).List(t.Context(), methods.Query{BaxID: "B1", TerminalID: "T1"})
			require.NoError(t, err, date)
			require.Len(t, list, 1)
			_, err = (&payments.Client{BaseURL: server.URL, Doer: c}).Read(t.Context(), "7")
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", date, err)
		}
		require.True(t, c.Healthy())
		require.WithinRange(t, c.Stats().LastOK, began, time.Now())
		c.CloseIdle()
	}
}
