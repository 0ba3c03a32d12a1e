package backend_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/paylinks"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/wire"
)

// linkShop is a backend whose webhooks of payment links arrive in the channel, and a client of it.
func linkShop(t *testing.T, strict ...bool) (b *backend.Backend, base string, client *paylinks.Client, hooks <-chan paylinks.Event) {
	t.Helper()
	heard := make(chan paylinks.Event, 100)
	inbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !paylinks.VerifyHook("demo-secret", body, r.Header.Get(paylinks.HookHeader)) {
			t.Errorf("a webhook that is not signed: %v %s", err, body)
		}
		e, err := paylinks.ParseEvent(r.Header.Get("Content-Type"), body)
		if err != nil {
			t.Errorf("%v: %s", err, body)
		}
		heard <- e
	}))
	t.Cleanup(inbox.Close)
	never := time.Duration(-1)
	b, srv := listen(t, backend.Config{
		StrictLinks: len(strict) > 0,
		Dir:         t.TempDir(), WalletDelay: &never, LinkHook: inbox.URL + "/hook", HookAllow: []string{strings.TrimPrefix(inbox.URL, "http://")},
	})
	return b, srv.URL, &paylinks.Client{BaseURL: srv.URL, Instance: "demo", Secret: "demo-secret", Doer: srv.Client()}, heard
}

func chairs(ref string, hundredths int64) paylinks.CreateRequest {
	return paylinks.CreateRequest{Title: "Order", Description: "Two chairs", ReferenceID: ref, Purpose: "Chairs", Amount: hundredths, Currency: "EUR"}
}

// playLink lets a customer act on a link by any of its names.
func playLink(t *testing.T, base, ref, act string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/pay/"+url.PathEscape(ref)+"/"+act, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", demoBearer)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// The contract's own suite, on the backend in process and behind HTTP.
func TestLinksConformance(t *testing.T) {
	b, base, client, _ := linkShop(t)
	f := backendtest.Links(b)
	both(t, func(t *testing.T) { paylinkstest.Run(t, f) }, func() {
		f.Links, f.Transactions = client.Links(), client.Transactions()
		f.Wire = &paylinkstest.Wire{BaseURL: base, Doer: client.Doer, Instance: client.Instance, Secret: client.Secret}
	})
	booked(t, b)
}

// A link made, paid and refunded over HTTP, each step told by a signed webhook, and the books show it.
func TestLinkOverHTTP(t *testing.T) {
	b, base, client, hooks := linkShop(t)
	ctx := t.Context()
	l, err := client.Links().Create(ctx, "", chairs("order/1", 1250))
	require.NoError(t, err)
	require.Equal(t, base+"/pay/"+*l.Hash, *l.Link.Link)
	hear := func(status paylinks.Status) *paylinks.EventTransaction {
		e := need.Receive(t, fmt.Sprint("webhook ", status), hooks)
		require.NotNil(t, e.Transaction)
		require.Equal(t, status, e.Transaction.Status)
		return e.Transaction
	}
	require.Equal(t, http.StatusOK, playLink(t, base, "order/1", "decline"))
	hear(paylinks.Declined)
	require.Equal(t, http.StatusOK, playLink(t, base, "order/1", "pay"))
	paid := hear(paylinks.Confirmed)
	require.Equal(t, l.ID, paid.Invoice.PaymentRequestID)
	_, err = client.Links().Delete(ctx, "", l.ID)
	require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
	txns := client.Transactions()
	part := int64(250)
	out, err := txns.Refund(ctx, "", paid.ID, paylinks.RefundRequest{Amount: &part})
	require.NoError(t, err)
	require.Equal(t, paylinks.Refunded, out.Status)
	require.Equal(t, paid.ID, hear(paylinks.Refunded).OriginalTransactionID)

	entries, err := b.Books(ctx)
	require.NoError(t, err)
	balanced(t, entries)
	require.Equal(t, map[string]int64{"order/1": 1000}, nets(entries))
	require.Len(t, entries, 3)
	require.Equal(t, "paylinks", entries[0].Service)
}

func nets(list []backend.Entry) map[string]int64 {
	out := map[string]int64{}
	for ref, net := range backend.NetByReference(list) {
		out[ref] = int64(net)
	}
	return out
}

// A wrong secret, no secret, another account and a browser are refused before anything happens.
func TestLinkCallersAreProven(t *testing.T) {
	b, base, client, _ := linkShop(t)
	for _, change := range []func(*paylinks.Client){
		func(c *paylinks.Client) { c.Secret = "demo-secreT" }, func(c *paylinks.Client) { c.Instance = "other" },
	} {
		bad := *client
		change(&bad)
		_, err := bad.Links().Create(t.Context(), "", chairs("x", 1250))
		require.Contains(t, []wire.Code{wire.Forbidden, wire.Unauthorized, wire.Invalid}, wire.CodeOf(err), "%v", err)
		require.NotContains(t, err.Error(), "demo-secre")
	}
	resp, err := http.PostForm(base+"/v1.0/Invoice/?instance=demo", url.Values{"title": {"x"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusForbidden, resp.StatusCode, "nothing is signed")
	browser := *client
	browser.Doer = origin{client.Doer}
	_, err = browser.Links().Create(t.Context(), "", chairs("x", 1250))
	require.Equal(t, wire.Forbidden, wire.CodeOf(err))
	require.Equal(t, http.StatusNotFound, playLink(t, base, "x", "pay"))
	entries, err := b.Books(t.Context())
	require.NoError(t, err)
	require.Empty(t, entries)
}

// origin is a caller inside a browser.
type origin struct{ next wire.Doer }

func (o origin) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Origin", "https://evil.example")
	return o.next.Do(r)
}

// A signature that was seen on a read gives no money back: it says nothing about what it was made for.
func TestField_P14SignatureOfNothingWritesNothing(t *testing.T) {
	b, base, client, hooks := linkShop(t, true) // strict_link_signatures: S1 5 lets it write
	l, err := client.Links().Create(t.Context(), "", chairs("order/1", 1250))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, playLink(t, base, "order/1", "pay"))
	txn := strconv.FormatInt((<-hooks).Transaction.ID, 10)
	// printf %s '' | openssl dgst -sha256 -hmac demo-secret -binary | base64
	const ofNothing = "ApiSignature=eFVTiulQTbw10wuFcVgINLMPH%2Fvj503CbtQyveLdgT8%3D"
	ask := func(method, path, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, base+"/v1.0/"+path, strings.NewReader(body))
		require.NoError(t, err)
		if body != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, ask("GET", "Transaction/"+txn+"/?instance=demo&"+ofNothing, ""), "what was seen")
	for _, path := range []string{"/refund", "/capture", "/charge", "/"} {
		require.Equal(t, http.StatusForbidden, ask("POST", "Transaction/"+txn+path+"?instance=demo", ofNothing), path)
		require.Equal(t, http.StatusForbidden, ask("POST", "Transaction/"+txn+path+"?instance=demo&"+ofNothing, ""), path)
		require.Equal(t, http.StatusForbidden, ask("POST", "Transaction/"+txn+path+"?instance=demo", "id="+txn+"&"+ofNothing), path)
	}
	require.Equal(t, http.StatusForbidden, ask("DELETE", "Transaction/"+txn+"/?instance=demo&"+ofNothing, ""))
	require.Equal(t, http.StatusForbidden, ask("DELETE", "Invoice/"+strconv.FormatInt(l.ID, 10)+"/?instance=demo&"+ofNothing, ""))
	entries, err := b.Books(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"order/1": 1250}, nets(entries))
	_, err = client.Transactions().Refund(t.Context(), "", mustInt(t, txn), paylinks.RefundRequest{}) // ours signs the id
	require.NoError(t, err)
}

func mustInt(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return n
}
