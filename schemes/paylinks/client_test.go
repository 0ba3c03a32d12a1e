package paylinks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/paylinks"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/wiretest"
)

// demo knows one account.
func demo(instance string) (wire.Secret, error) {
	if instance == "demo" {
		return "demo-secret", nil
	}
	return "", nil
}

// direct is a Doer that calls a handler, and keeps what was sent.
type direct struct {
	h    http.Handler
	sent *http.Request
}

func (d *direct) Do(req *http.Request) (*http.Response, error) {
	d.sent = req
	rec := httptest.NewRecorder()
	in := req.Clone(req.Context())
	in.RequestURI = req.URL.RequestURI()
	d.h.ServeHTTP(rec, in)
	return rec.Result(), nil
}

func client(d wire.Doer) *paylinks.Client {
	return &paylinks.Client{BaseURL: wiretest.BaseURL, Instance: "demo", Secret: "demo-secret", Doer: d}
}

// failing and failingTxns are the halves of the service. Every call fails with err, or succeeds with
// nothing where err is nil.
type failing struct{ err error }

type failingTxns struct{ err error }

func (f failing) Create(context.Context, wire.Key, paylinks.CreateRequest) (paylinks.Created, error) {
	return paylinks.Created{}, f.err
}
func (f failing) Read(context.Context, int64) (paylinks.Link, error) { return paylinks.Link{}, f.err }
func (f failing) Delete(context.Context, wire.Key, int64) (paylinks.Deleted, error) {
	return paylinks.Deleted{}, f.err
}
func (f failingTxns) Read(context.Context, int64) (paylinks.Transaction, error) {
	return paylinks.Transaction{}, f.err
}
func (f failingTxns) Charge(context.Context, wire.Key, int64, paylinks.ChargeRequest) (paylinks.Done, error) {
	return paylinks.Done{}, f.err
}
func (f failingTxns) Capture(context.Context, wire.Key, int64) (paylinks.Done, error) {
	return paylinks.Done{}, f.err
}
func (f failingTxns) Refund(context.Context, wire.Key, int64, paylinks.RefundRequest) (paylinks.Done, error) {
	return paylinks.Done{}, f.err
}
func (f failingTxns) Delete(context.Context, wire.Key, int64) (paylinks.Deleted, error) {
	return paylinks.Deleted{}, f.err
}
func (f failingTxns) List(context.Context, paylinks.Filter) ([]paylinks.Transaction, error) {
	return nil, f.err
}

// every calls each method of a client once and gives the errors.
func every(ctx context.Context, c *paylinks.Client, key wire.Key) map[string]error {
	out := map[string]error{}
	links, txns := c.Links(), c.Transactions()
	_, out["create"] = links.Create(ctx, key, good())
	_, out["read"] = links.Read(ctx, 1)
	_, out["delete"] = links.Delete(ctx, key, 1)
	_, out["txn"] = txns.Read(ctx, 1)
	_, out["charge"] = txns.Charge(ctx, key, 1, paylinks.ChargeRequest{})
	_, out["capture"] = txns.Capture(ctx, key, 1)
	_, out["refund"] = txns.Refund(ctx, key, 1, paylinks.RefundRequest{})
	_, out["cancel"] = txns.Delete(ctx, key, 1)
	_, out["list"] = txns.List(ctx, paylinks.Filter{})
	return out
}

func good() paylinks.CreateRequest {
	return paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 100, Currency: "EUR"}
}

func TestTheLogGetsWhatNobodySees(t *testing.T) {
	// An error without a code is Internal and keeps its words to itself; the log gets them.
	var log bytes.Buffer
	err := errors.New("dsn=hunter2")
	c := client(&direct{h: paylinks.Handler(failing{err}, failingTxns{err}, paylinks.HandlerOptions{Secret: demo, Log: slog.New(slog.NewTextHandler(&log, nil))})})
	for name, err := range every(t.Context(), c, "k") {
		require.Equal(t, wire.Internal, wire.CodeOf(err), name)
		require.NotContains(t, err.Error(), "hunter2")
	}
	require.Contains(t, log.String(), "hunter2")
	require.NotContains(t, log.String(), "demo-secret")
}

func TestCheck(t *testing.T) {
	d := &direct{h: paylinks.Handler(nil, nil, paylinks.HandlerOptions{Secret: demo})}
	require.NoError(t, client(d).Check(t.Context()))
	require.Equal(t, "/v1.0/SignatureCheck/?instance=demo&ApiSignature=eFVTiulQTbw10wuFcVgINLMPH%2Fvj503CbtQyveLdgT8%3D", d.sent.URL.RequestURI())
	c := client(d)
	c.Secret = "wrong"
	require.Equal(t, wire.Forbidden, wire.CodeOf(c.Check(t.Context())))
	c.Instance, c.Secret = "other", "demo-secret"
	require.Equal(t, wire.Forbidden, wire.CodeOf(c.Check(t.Context())))
	for _, none := range []paylinks.HandlerOptions{{}, {Secret: func(string) (wire.Secret, error) { return "", nil }}} {
		c := client(&direct{h: paylinks.Handler(nil, nil, none)})
		for _, secret := range []wire.Secret{"demo-secret", "x"} {
			c.Secret = secret
			require.Equal(t, wire.Forbidden, wire.CodeOf(c.Check(t.Context())), "no secret, no way in")
		}
		for _, proof := range []string{"&ApiSignature=" + url.QueryEscape(paylinks.Sign("", nil)), ""} {
			req := httptest.NewRequest(http.MethodGet, "/v1.0/SignatureCheck/?instance=demo"+proof, nil)
			if proof == "" {
				req.Header.Set(paylinks.APIKeyHeader, "")
			}
			rec := httptest.NewRecorder()
			paylinks.Handler(nil, nil, none).ServeHTTP(rec, req)
			require.Equal(t, http.StatusForbidden, rec.Code, "a signature under no secret is none")
		}
	}
	broken := paylinks.HandlerOptions{Secret: func(string) (wire.Secret, error) { return "", errors.New("disk") }}
	require.Equal(t, wire.Internal, wire.CodeOf(client(&direct{h: paylinks.Handler(nil, nil, broken)}).Check(t.Context())))
}

// never is a line that nothing but a read may be sent on; strict lets nothing through at all.
type never struct {
	t      *testing.T
	strict bool
}

func (n never) Do(req *http.Request) (*http.Response, error) {
	require.True(n.t, req.Method == http.MethodGet && !n.strict, "something was sent")
	return nil, errors.New("sent")
}

func TestNothingWrongIsSent(t *testing.T) {
	c := client(never{t: t})
	for _, b := range paylinkstest.Broken() {
		req := good()
		b.Break(&req)
		_, err := c.Links().Create(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), b.Name)
	}
	for name, err := range every(t.Context(), c, "a b") {
		if name != "read" && name != "txn" && name != "list" {
			require.Equal(t, wire.Invalid, wire.CodeOf(err), name)
		}
	}
	for _, id := range []int64{0, -1, 1 << 31} {
		_, err := c.Links().Read(t.Context(), id)
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		_, err = c.Transactions().Refund(t.Context(), "", id, paylinks.RefundRequest{})
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
	}
	for _, c := range []*paylinks.Client{{Instance: "demo"}, {Secret: "x"}, {BaseURL: "http://a b", Instance: "demo", Secret: "x"}} {
		c.Doer = never{t, true}
		for name, err := range every(t.Context(), c, "") {
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), name)
		}
	}
}

// seen is a Links that looks at what a create brings.
type seen struct {
	failing
	look func(paylinks.CreateRequest)
}

func (s seen) Create(_ context.Context, _ wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	s.look(req)
	return paylinks.Created{Link: paylinks.Link{ID: 5}}, nil
}

func TestAttachmentsTravel(t *testing.T) {
	files := map[string]string{"terms.pdf": strings.Repeat("%PDF", 50_000), "empty.txt": ""}
	got := map[string]string{}
	var kept []paylinks.Attachment
	svc := seen{look: func(req paylinks.CreateRequest) {
		for _, a := range req.Attachments {
			r, err := a.Open()
			require.NoError(t, err)
			data, err := io.ReadAll(r)
			require.NoError(t, err)
			require.EqualValues(t, len(data), a.Size)
			got[a.Name] = string(data)
		}
		kept = req.Attachments
	}}
	req := good()
	for name, text := range files {
		req.Attachments = append(req.Attachments, paylinks.Attachment{Name: name, ContentType: "application/pdf", Size: int64(len(text)),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
	}
	d := &direct{h: paylinks.Handler(svc, failingTxns{}, paylinks.HandlerOptions{Secret: demo, Dir: t.TempDir()})}
	made, err := client(d).Links().Create(t.Context(), wire.NewKey(), req)
	require.NoError(t, err)
	require.EqualValues(t, 5, made.ID)
	require.Equal(t, files, got)
	require.Positive(t, d.sent.ContentLength)
	require.NotNil(t, d.sent.GetBody, "a transport may have to send it again")
	for _, a := range kept {
		if a.Size > 0 {
			r, err := a.Open()
			require.NoError(t, err)
			_, err = io.ReadAll(r)
			require.Error(t, err, "an attachment lives as long as its call")
		}
	}
}

func TestCreateRequestsComeBack(t *testing.T) {
	text := rapid.StringMatching(`[a-zA-Z0-9 äöü€~!'()*+&=%\[\]#/-]{0,40}`)
	some := rapid.StringMatching(`[a-zA-Z0-9äöü€~!'()*+&=%\[\]#/-][a-zA-Z0-9 äöü€~!'()*+&=%\[\]#/-]{0,39}`)
	rapid.Check(t, func(r *rapid.T) {
		want := paylinks.CreateRequest{Title: some.Draw(r, "title"), Description: some.Draw(r, "description"), ReferenceID: some.Draw(r, "reference"), Purpose: some.Draw(r, "purpose"),
			Amount: rapid.Int64Range(1, 1<<31-1).Draw(r, "amount"), Currency: "EUR", VatRate: rapid.SampledFrom([]paylinks.Percent{"", "0", "7.7", "100", "0.00000001"}).Draw(r, "vat"),
			PSP: rapid.SliceOfN(rapid.Int64Range(1, 99), 1, 3).Draw(r, "psp"), PM: rapid.SliceOfN(text, 1, 3).Draw(r, "pm"), SKU: text.Draw(r, "sku"), HideFields: rapid.Bool().Draw(r, "hide"),
			Reservation: rapid.Bool().Draw(r, "reservation"), Name: text.Draw(r, "name"), ProviderOrderID: text.Draw(r, "order"), ButtonText: text.Draw(r, "button"),
			Fields: map[string]paylinks.Contact{
				"email":          {Mandatory: rapid.Bool().Draw(r, "mandatory"), DefaultValue: text.Draw(r, "default")},
				"custom_field_3": {Active: new(bool), Names: &paylinks.Names{De: text.Draw(r, "de"), It: text.Draw(r, "it")}},
			}}
		if len(want.PSP) > 1 {
			want.ProviderOrderID = ""
		}
		var got paylinks.CreateRequest
		svc := seen{look: func(req paylinks.CreateRequest) { got = req }}
		_, err := client(&direct{h: paylinks.Handler(svc, failingTxns{}, paylinks.HandlerOptions{Secret: demo})}).Links().Create(context.Background(), "", want)
		require.NoError(r, err)
		require.Equal(r, want, got)
	})
}

// TestNoErrorRepeatsARequest: nothing of what was sent stands in the text of any refusal.
func TestNoErrorRepeatsARequest(t *testing.T) {
	const mark = "4111111111111111"
	rapid.Check(t, func(r *rapid.T) {
		names := append(paylinks.FieldNames(), "amount", "currency", "vatRate", "psp", "psp[0]", "pm[0]", "fields[email][mandatory]", "expirationDate", "successRedirectUrl",
			"subscriptionState", "subscriptionInterval", "preAuthorization", "title[x]", "fields", mark, "x["+mark, "psp["+mark+"]", "id", "instance", "attachments")
		f := pairs("title", mark+"\n", "description", "d", "referenceId", "r", "purpose", "p", "amount", "100", "currency", "EUR")
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(r, "names") {
			f = append(f, bracket.Pair{Name: name, Value: mark})
		}
		body := append(f, bracket.Pair{Name: "ApiSignature", Value: paylinks.Sign("demo-secret", f)}).Encode()
		if rapid.Bool().Draw(r, "cut") {
			body = body[:rapid.IntRange(0, len(body)).Draw(r, "at")]
		}
		req := httptest.NewRequest(http.MethodPost, "/v1.0/Invoice/?instance=demo", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		paylinks.Handler(failing{}, failingTxns{}, paylinks.HandlerOptions{Secret: demo}).ServeHTTP(rec, req)
		require.Contains(r, []int{400, 403}, rec.Code, rec.Body.String())
		require.NotContains(r, rec.Body.String(), mark)
	})
}

// A name or a reference of a link is one line, as it is for a payment, a token and a transaction.
func TestField_B7TextsOfOneLineAreThoseOfTheOtherServices(t *testing.T) {
	for field, set := range map[string]func(*paylinks.CreateRequest, string){
		"title":           func(r *paylinks.CreateRequest, s string) { r.Title = s },
		"referenceId":     func(r *paylinks.CreateRequest, s string) { r.ReferenceID = s },
		"sku":             func(r *paylinks.CreateRequest, s string) { r.SKU = s },
		"name":            func(r *paylinks.CreateRequest, s string) { r.Name = s },
		"providerOrderId": func(r *paylinks.CreateRequest, s string) { r.ProviderOrderID = s },
		"buttonText":      func(r *paylinks.CreateRequest, s string) { r.ButtonText = s },
		"pm":              func(r *paylinks.CreateRequest, s string) { r.PM = []string{s} },
	} {
		for _, ok := range []string{"a b", "ü", strings.Repeat("x", 255)} {
			req := good()
			set(&req, ok)
			require.NoError(t, req.Validate(), "%s %q", field, ok)
		}
		for _, bad := range []string{"a\nb", "a\x00", "a\u2028b", "a\u2029b", "\xff", strings.Repeat("x", 256)} {
			req := good()
			set(&req, bad)
			require.EqualError(t, req.Validate(), "paylinks.create: invalid: "+field+": longer than 255 bytes, or control characters")
		}
	}
}

func TestParsePeriod(t *testing.T) {
	for text, want := range map[string]paylinks.Period{"P1M": {Months: 1}, "P1Y": {Years: 1}, "P1Y2M3W4D": {Years: 1, Months: 2, Days: 25}, "P999D": {Days: 999}, "P2W": {Days: 14}} {
		got, ok := paylinks.ParsePeriod(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"", "P", "1M", "P0M", "P01M", "PM", "P1", "P1M1Y", "P1M1M", "PT1H", "P1H", "P-1M", "P+1M", "P1000D", "p1m", "P1M ", "P１M"} {
		_, ok := paylinks.ParsePeriod(bad)
		require.False(t, ok, bad)
	}
}

func TestEvents(t *testing.T) {
	const text = `{"transaction":{"id":7,"uuid":"u-7","amount":1250,"referenceId":"ref-1","time":"2026-11-21 10:00:00","status":"partially-refunded","lang":null,"psp":"Test","pspId":36,"mode":"TEST",
		"metadata":[],"instance":{"name":"demo","uuid":"i"},"invoice":{"number":null,"products":[],"currency":"CHF","test":1,"paymentLink":null,"discount":null},"payment":{"brand":"visa","wallet":null},"contact":null,"subscription":null,"more":{}}}`
	e, err := paylinks.ParseEvent("application/json", []byte(text))
	require.NoError(t, err)
	require.Equal(t, "transaction/u-7/partially-refunded", e.ID())
	require.EqualValues(t, 1250, e.Transaction.Amount)
	require.True(t, bool(e.Transaction.Invoice.Test))
	form := pairs("transaction[id]", "7", "transaction[uuid]", "u-7", "transaction[amount]", "1250", "transaction[status]", "partially-refunded", "transaction[refundable]", "1",
		"transaction[instance][name]", "demo", "transaction[instance][uuid]", "i", "transaction[invoice][currency]", "CHF", "transaction[invoice][test]", "1", "transaction[invoice][shippingAmount]", "",
		"transaction[invoice][products][0][name]", "Order", "transaction[referenceId]", "12", "transaction[payment][brand]", "visa").Encode()
	f, err := paylinks.ParseEvent("application/x-www-form-urlencoded; charset=utf-8", []byte(form))
	require.NoError(t, err)
	require.Equal(t, e.ID(), f.ID())
	require.Equal(t, e.Transaction.Amount, f.Transaction.Amount)
	require.Equal(t, "12", f.Transaction.ReferenceID)
	require.True(t, f.Transaction.Refundable)
	sub, err := paylinks.ParseEvent("application/json", []byte(`{"subscription":{"id":3,"status":"active","nextPayDate":"2026-12-21"}}`))
	require.NoError(t, err)
	require.Equal(t, "subscription/3/active/2026-12-21", sub.ID())
	for _, bad := range []string{"", "{}", "[]", "null", `{"transaction":null}`, `{"transaction":{"id":1}}`, `{"transaction":{"id":1,"uuid":"u","status":"x","status":"y"}}`} {
		_, err := paylinks.ParseEvent("application/json", []byte(bad))
		require.Equal(t, wire.Invalid, wire.CodeOf(err), bad)
	}
	for _, bad := range []string{"%", "transaction=1&transaction[id]=2", "a=1"} {
		_, err := paylinks.ParseEvent("application/x-www-form-urlencoded", []byte(bad))
		require.Equal(t, wire.Invalid, wire.CodeOf(err), bad)
	}
	data, err := json.Marshal(e)
	require.NoError(t, err)
	again, err := paylinks.ParseEvent("application/json", data)
	require.NoError(t, err)
	require.Equal(t, e.Transaction.Invoice.Currency, again.Transaction.Invoice.Currency)
}

func FuzzRequest(f *testing.F) {
	f.Add("POST", "Invoice/0/", "title=a%20b&description=d&referenceId=r&purpose=p&amount=100&currency=EUR&psp[0]=1&fields[email][mandatory]=1")
	f.Add("GET", "Transaction/?limit=1", "")
	f.Add("DELETE", "Invoice/1/", "id=1")
	f.Add("POST", "Transaction/1/refund", "amount=1&amount[x]=2")
	h := paylinks.Handler(failing{}, failingTxns{}, paylinks.HandlerOptions{Secret: demo})
	f.Fuzz(func(t *testing.T, method, path, body string) {
		req, err := http.NewRequest(method, "http://gateway.example/v1.0/"+path, strings.NewReader(body))
		if err != nil {
			return
		}
		req.Header.Set(paylinks.APIKeyHeader, "demo-secret")
		q := req.URL.RawQuery
		req.URL.RawQuery = strings.Trim("instance=demo&"+q, "&")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		var e struct{ Status string }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &e))
		require.Equal(t, map[bool]string{true: "success", false: "error"}[rec.Code < 300], e.Status)
		require.Less(t, rec.Code, 500, fmt.Sprint(method, " ", path))
	})
}

func FuzzLink(f *testing.F) {
	f.Add([]byte(`{"id":1,"hash":null,"link":"l","invoices":[{"transactions":[{}]}],"preAuthorization":1,"fields":[],"psp":[1],"vatRate":"7.7","subscriptionPeriodMinAmount":"5"}`))
	f.Add([]byte(`{"id":1,"psp":false,"fields":{"email":{"active":1}},"reservation":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var l paylinks.Link
		if wire.Decode(data, &l) != nil {
			return
		}
		wiretest.Stable(t, l, json.Marshal, wire.Decode)
	})
}
