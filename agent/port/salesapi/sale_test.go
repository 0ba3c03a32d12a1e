package salesapi_test

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/ready"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// A sale is durable and has its place at once, shows its code while a customer may scan it, and ends
// with the outcome and the receipts.
func TestASaleOverHTTP(t *testing.T) {
	x := open(t, byHand, 0)
	r := x.ask("alpha", "POST", "/agent/v1/sales", "order-1", `{"amount":1250,"currency":"EUR","type":"payment","reference":"4711"}`)
	require.Equal(t, 202, r.status, r.body)
	begun := r.sale(t)
	require.Equal(t, "/agent/v1/sales/"+begun.ID, r.header.Get("Location"))
	require.Equal(t, []any{"posagent.sale/1", "order-1", "running", "", "payment", int64(1250), "EUR", "http/alpha"},
		[]any{begun.Schema, begun.Key, begun.State, begun.Outcome, begun.Type, begun.Amount, begun.Currency, begun.Sale.Line})
	began := time.Now()
	shown := x.until("alpha", begun.ID, func(v sale) bool { return v.QR != nil })
	require.NotEmpty(t, shown.QR.Payload)
	require.Positive(t, shown.QR.Seconds)
	left := time.Duration(shown.QR.Seconds) * time.Second
	require.WithinRange(t, shown.QR.Until, began.Add(left).Truncate(time.Second), time.Now().Add(left+time.Second))
	picture := x.ask("alpha", "GET", shown.QR.PNG, "", "")
	require.Equal(t, []any{200, "image/png"}, []any{picture.status, picture.header.Get("Content-Type")})
	_, err := png.Decode(bytes.NewReader([]byte(picture.body)))
	require.NoError(t, err)
	picture = x.ask("alpha", "GET", shown.QR.SVG, "", "")
	require.Equal(t, []any{200, "image/svg+xml"}, []any{picture.status, picture.header.Get("Content-Type")})
	require.Contains(t, picture.body, "<svg")
	require.Equal(t, 404, x.ask("beta", "GET", shown.QR.PNG, "", "").status, "another client's code")

	x.pays(begun.ID)
	v := x.until("alpha", begun.ID, func(v sale) bool { return v.State == "ended" })
	require.Equal(t, []any{"approved", "ok", 1, "SWISH_E_COM", "Swish", false}, []any{v.Outcome, v.Code, v.Receipt, v.Method, v.Label, v.Settling})
	require.NotEmpty(t, v.Transaction)
	require.Nil(t, v.QR)
	require.Equal(t, 404, x.ask("alpha", "GET", shown.QR.PNG, "", "").status, "it is shown no more")
	for _, text := range []string{"Corner shop", "12.50 EUR", "Approved", "0001"} {
		require.Contains(t, v.Receipts.Customer.Text+strings.ToLower(v.Receipts.Customer.Text), text)
	}
	require.NotEqual(t, v.Receipts.Customer.Text, v.Receipts.Merchant.Text)
	require.True(t, bytes.HasPrefix(v.Receipts.Customer.ESCPOS, []byte("\x1b@")), "the command that initializes a printer")
	require.Contains(t, string(v.Receipts.Customer.ESCPOS), "Corner shop")
	x.reaches(begun.ID, "CONFIRMED")

	again := x.ask("alpha", "GET", "/agent/v1/sales?key=order-1&language=de", "", "")
	require.Equal(t, 200, again.status, again.body)
	require.Equal(t, begun.ID, again.sale(t).ID)
	require.Contains(t, again.sale(t).Receipts.Customer.Text, "Corner shop")
	require.NotEqual(t, v.Receipts.Customer.Text, again.sale(t).Receipts.Customer.Text, "in the other language")
}

// A request that waits gets the outcome, whatever it is.
func TestWaitingForTheOutcome(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	r := x.sell("alpha", "k1", "1250")
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, "approved", r.sale(t).Outcome)
	x.reaches(r.sale(t).ID, "CONFIRMED")
	r = x.sell("alpha", "k2", "90003")
	require.Equal(t, 200, r.status, r.body)
	v := r.sale(t)
	require.Equal(t, []any{"declined", "rejected", 0}, []any{v.Outcome, v.Code, v.Receipt})
	began := time.Now()
	r = x.ask("alpha", "POST", "/agent/v1/sales?wait=1", "k3", `{"amount":90008}`)
	require.Equal(t, 202, r.status, "it waits no longer than it was told")
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	for _, wait := range []string{"61s", "-1s", "x", "1s&wait=2s", "100000h"} {
		require.Equal(t, 400, x.ask("alpha", "POST", "/agent/v1/sales?wait="+wait, "k4", `{"amount":1}`).status, wait)
	}
}

// A running sale is aborted: asked twice it is the same answer, and after an approval it is too late.
func TestAbort(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	id := x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":90008}`).sale(t).ID
	at := "/agent/v1/sales/" + id + "/abort"
	require.Equal(t, 404, x.ask("beta", "POST", at, "", "").status, "another client's sale")
	require.Contains(t, []int{200, 202}, x.ask("alpha", "POST", at, "", "").status)
	v := x.until("alpha", id, func(v sale) bool { return v.State == "ended" })
	require.Equal(t, "aborted", v.Outcome)
	r := x.ask("alpha", "POST", at, "", "")
	require.Equal(t, []any{200, "aborted"}, []any{r.status, r.sale(t).Outcome})
	id = x.sell("alpha", "k2", "1250").sale(t).ID
	r = x.ask("alpha", "POST", "/agent/v1/sales/"+id+"/abort", "", "")
	require.Equal(t, []any{422, "too-late"}, []any{r.status, r.problem(t)})
}

// Money goes back by the sale's id, within what is left of it; the rest is refused.
func TestRefundAndReverse(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	id := x.sell("alpha", "k1", "1250").sale(t).ID
	x.reaches(id, "CONFIRMED")
	at := "/agent/v1/sales/" + id
	require.Equal(t, 400, x.ask("alpha", "POST", at+"/refund", "", `{"amount":500}`).status, "without a key")
	require.Equal(t, 404, x.ask("beta", "POST", at+"/refund", "b1", `{"amount":500}`).status, "another client's sale")
	require.Equal(t, 404, x.ask("beta", "POST", "/agent/v1/sales", "b2", `{"type":"refund","amount":500,"original":"R1"}`).status)
	require.Equal(t, 404, x.ask("beta", "POST", "/agent/v1/sales", "b3", `{"type":"reversal","receipt":1}`).status)
	r := x.ask("alpha", "POST", at+"/refund?wait=60s", "r1", `{"amount":500}`)
	require.Equal(t, 200, r.status, r.body)
	v := r.sale(t)
	require.Equal(t, []any{"refund", "approved", int64(500)}, []any{v.Type, v.Outcome, v.Amount})
	r = x.ask("alpha", "POST", at+"/refund?wait=60s", "r2", `{"amount":751}`)
	require.Equal(t, []any{422, "amount-wrong"}, []any{r.status, r.problem(t)})
	r = x.ask("alpha", "POST", at+"/reverse", "r3", "")
	require.Equal(t, []any{422, "not-reversible"}, []any{r.status, r.problem(t)}, "refunded in part")
	again := x.ask("alpha", "POST", at+"/refund?wait=60s", "r1", `{"amount":500}`)
	require.Equal(t, v.ID, again.sale(t).ID, "the same key is the same refund")
	other := x.ask("alpha", "POST", at+"/refund?wait=60s", "r4", `{"amount":500}`)
	require.Equal(t, 200, other.status, other.body)
	require.NotEqual(t, v.ID, other.sale(t).ID, "another key is another refund")
	id = x.sell("alpha", "k2", "700").sale(t).ID
	x.reaches(id, "CONFIRMED")
	r = x.ask("alpha", "POST", "/agent/v1/sales/"+id+"/reverse?wait=60s", "v1", "")
	require.Equal(t, []any{200, "approved", "reversal"}, []any{r.status, r.sale(t).Outcome, r.sale(t).Type}, r.body)
	r = x.ask("alpha", "POST", "/agent/v1/sales/"+id+"/reverse", "v2", "")
	require.Equal(t, []any{422, "already-reversed"}, []any{r.status, r.problem(t)})
}

// One key is one sale, however many ask for it at once, and whenever.
func TestSameKeyAtOnce(t *testing.T) {
	x := open(t, 200*time.Millisecond, 0)
	var mu sync.Mutex
	ids := map[string]int{}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			r := x.sell("alpha", "k1", "1250")
			mu.Lock()
			defer mu.Unlock()
			ids[r.sale(t).ID+" "+r.sale(t).Outcome]++
		})
	}
	all.Wait()
	require.Len(t, ids, 1)
	require.Equal(t, 1, x.sales())
	v := x.sell("alpha", "k1", "1250").sale(t)
	require.Equal(t, 30, ids[v.ID+" approved"], ids)
	books, err := x.backend.Books(t.Context())
	require.NoError(t, err)
	require.Len(t, books, 1)
}

// Another request under a used key is refused and begins nothing.
func TestOtherBodyUnderAKey(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	v := x.sell("alpha", "k1", "1250").sale(t)
	x.reaches(v.ID, "CONFIRMED")
	for _, body := range []string{`{"amount":1251}`, `{"type":"refund","amount":1250,"receipt":1}`} {
		r := x.ask("alpha", "POST", "/agent/v1/sales", "k1", body)
		require.Equal(t, []any{422, "key-reused"}, []any{r.status, r.problem(t)}, body)
	}
	require.Equal(t, 1, x.sales())
}

// What was never asked for is said to be so; another client's key is such a one.
func TestKeyNeverSeen(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	v := x.sell("alpha", "k1", "1250").sale(t)
	for who, path := range map[string]string{"alpha": "?key=k2", "beta": "?key=k1", "main": "?key=k1"} {
		r := x.ask(who, "GET", "/agent/v1/sales"+path, "", "")
		require.Equal(t, []any{404, "not-found"}, []any{r.status, r.problem(t)}, who)
		require.Contains(t, r.body, "nothing was done under it, and nothing will be done")
	}
	require.Equal(t, 404, x.ask("beta", "GET", "/agent/v1/sales/"+v.ID, "", "").status)
	require.NotContains(t, x.ask("beta", "GET", "/agent/v1/sales", "", "").body, v.ID)
	require.Equal(t, 200, x.ask("eyes", "GET", "/agent/v1/sales/"+v.ID, "", "").status, "all is the sight of everything")
	require.Contains(t, x.ask("main", "GET", "/agent/v1/sales", "", "").body, v.ID)
	for _, path := range []string{"", "/" + v.ID, "?key=k1"} {
		require.Equal(t, 403, x.ask("deaf", "GET", "/agent/v1/sales"+path, "", "").status, path)
	}
	require.Equal(t, 403, x.ask("deaf", "POST", "/agent/v1/sales", "d1", `{"amount":1250}`).status)
	b := x.sell("beta", "k1", "800").sale(t)
	require.NotEqual(t, v.ID, b.ID, "keys are each client's own")
	require.Equal(t, 2, x.sales())
}

// While one sale runs another is refused, with nothing begun.
func TestBusy(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	id := x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":90008}`).sale(t).ID
	r := x.ask("beta", "POST", "/agent/v1/sales", "k1", `{"amount":1250}`)
	require.Equal(t, []any{409, "busy"}, []any{r.status, r.problem(t)})
	require.NotEmpty(t, r.header.Get("Retry-After"))
	require.Equal(t, 404, x.ask("beta", "GET", "/agent/v1/sales?key=k1", "", "").status)
	require.Contains(t, x.ask("main", "GET", "/agent/v1/sales?state=running", "", "").body, id)
	require.NotContains(t, x.ask("main", "GET", "/agent/v1/sales?state=ended", "", "").body, id)
	require.Equal(t, 1, x.sales())
}

// The list is in pages, and filters are checked.
func TestList(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	var ids []string
	for _, key := range []string{"a", "b", "c"} {
		ids = append(ids, x.sell("alpha", key, "100").sale(t).ID)
	}
	var page struct {
		Sales  []struct{ ID string }
		Cursor int64
	}
	r := x.ask("alpha", "GET", "/agent/v1/sales?limit=2", "", "")
	unmarshal(t, r.body, &page)
	require.Equal(t, []string{ids[2], ids[1]}, []string{page.Sales[0].ID, page.Sales[1].ID})
	r = x.ask("alpha", "GET", "/agent/v1/sales?limit=2&cursor="+number(page.Cursor), "", "")
	unmarshal(t, r.body, &page)
	require.Len(t, page.Sales, 1)
	require.Equal(t, ids[0], page.Sales[0].ID)
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	require.NotContains(t, x.ask("alpha", "GET", "/agent/v1/sales?since="+future, "", "").body, ids[0])
	for _, q := range []string{"limit=0", "limit=201", "limit=1&limit=2", "cursor=-1", "cursor=x", "state=odd", "since=yesterday", "key=", "key=a&key=b"} {
		require.Equal(t, 400, x.ask("alpha", "GET", "/agent/v1/sales?"+q, "", "").status, q)
	}
}

// A request that breaks a rule begins nothing.
func TestHostileRequests(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for _, body := range []string{
		``, `{`, `[]`, `null`, `{"amount":1250} x`, `{"amount":1250,"amount":1}`, `{"amount":1250,"Amount":1}`, `{"amount":null}`, `{"amount":"1250"}`, `{"amount":12.5}`,
		`{"amount":1e3}`, `{"amount":0}`, `{"amount":-1}`, `{"amount":9223372036854775808}`, `{"type":"void","amount":1}`, `{"type":"refund","amount":1}`,
		`{"type":"refund","amount":1,"receipt":1,"original":"R1"}`, `{"type":"reversal"}`, `{"type":"reversal","receipt":10000}`, `{"amount":1,"original":"R1"}`,
		`{"amount":1,"unheard":"maybe"}`, `{"amount":1,"reference":"` + strings.Repeat("x", 65) + `"}`, `{"amount":1,"reference":"a\u0000b"}`, `{"amount":1,"order":[{}]}`,
		`{"amount":1,"order":[{"name":"a","quantity":3000000000,"gross":1}]}`, deep, "\xef\xbb\xbf{\"amount\":1}", `{"amount":1,"reference":"` + "\xff" + `"}`,
	} {
		r := x.ask("alpha", "POST", "/agent/v1/sales", "k1", body)
		require.Contains(t, []int{400, 413}, r.status, "%s: %s", body, r.body)
		r.problem(t)
	}
	r := x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1,"reference":"`+strings.Repeat("x", 300<<10)+`"}`)
	require.Equal(t, 413, r.status)
	for _, key := range []string{"", strings.Repeat("k", 65), "a b", "ä"} {
		require.Equal(t, 400, x.ask("alpha", "POST", "/agent/v1/sales", key, `{"amount":1}`).status, key)
	}
	req := x.request("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1}`)
	req.Header["Idempotency-Key"] = []string{"a", "b"}
	require.Equal(t, 400, x.send(req).status)
	req = x.request("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1}`)
	req.Header.Set("Content-Type", "text/plain")
	require.Equal(t, 400, x.send(req).status)
	for _, h := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
		req := x.request("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1}`)
		req.Header.Set(h, "http://"+x.addr)
		require.Equal(t, 403, x.send(req).status, h)
	}
	r = x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1250,"currency":"SEK"}`)
	require.Equal(t, []any{422, "wrong-currency"}, []any{r.status, r.problem(t)})
	r = x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1250,"order":[{"name":"Tea","quantity":1,"gross":1249}]}`)
	require.Equal(t, []any{422, "amount-wrong"}, []any{r.status, r.problem(t)})
	r = x.ask("stranger", "POST", "/agent/v1/sales", "k1", `{"amount":1250}`)
	require.Equal(t, 401, r.status)
	require.Zero(t, x.sales())
	require.Equal(t, http.StatusOK, x.ask("alpha", "POST", "/agent/v1/sales?wait=60s", "k1", `{"amount":1250,"order":[{"name":"Tea","quantity":1,"gross":1250}]}`).status)
}

// A terminal without a register line is whole where a local program may sell, and sells.
func TestATerminalThatSellsOverHTTPAlone(t *testing.T) {
	x := open(t, 30*time.Millisecond, 0)
	for _, tc := range []struct{ lines, sellers, probe int }{{0, 0, 503}, {1, 0, 200}, {0, 1, 200}} {
		x.stop()
		x.probe, x.ways = tc.probe, agent.Ways{Sellers: tc.sellers, Lines: func() (int, []ready.Trouble) { return tc.lines, nil }}
		x.start()
		if tc.probe == 503 {
			require.Contains(t, x.ask("main", "GET", "/readyz", "", "").body, "no register line is set, and no local program may sell: set [ecr] serial or tcp")
		}
	}
	r := x.ask("alpha", "POST", "/agent/v1/sales?wait=60s", "order-1", `{"amount":1250,"currency":"EUR"}`)
	require.Equal(t, []any{200, "approved"}, []any{r.status, r.sale(t).Outcome}, r.body)
}

// A terminal that the operator has not confirmed begins no sale, over HTTP neither: another box may still have its journal. What was
// sold before is answered.
func TestAnUnconfirmedTerminalBeginsNothing(t *testing.T) {
	x := open(t, 30*time.Millisecond, 0)
	body := `{"amount":1250,"currency":"EUR"}`
	sold := x.ask("alpha", "POST", "/agent/v1/sales?wait=60s", "order-1", body)
	require.Equal(t, []any{200, "approved"}, []any{sold.status, sold.sale(t).Outcome}, sold.body)
	id := sold.sale(t).ID
	x.reaches(id, "CONFIRMED")
	x.stop()
	x.probe, x.ways = 503, agent.Ways{Barred: func() *ready.Trouble {
		return &ready.Trouble{Cause: ready.NotConfirmed, Where: "https://fleet.example", Detail: "the bundle is good until Monday"}
	}}
	x.start()
	for path, text := range map[string]string{"/agent/v1/sales": body, "/agent/v1/sales/" + id + "/refund": `{"amount":100}`, "/agent/v1/sales/" + id + "/reverse": `{}`} {
		r := x.ask("alpha", "POST", path, "key-"+strings.ReplaceAll(path, "/", "-"), text)
		require.Equal(t, 503, r.status, "%s: %s", path, r.body)
		require.Contains(t, r.body, "the operator has not confirmed this terminal yet", path)
	}
	again := x.ask("alpha", "POST", "/agent/v1/sales?wait=60s", "order-1", body)
	require.Equal(t, []any{200, "approved", id}, []any{again.status, again.sale(t).Outcome, again.sale(t).ID}, again.body)
	x.agree(1, 1250)
	x.stop()
	x.probe, x.ways = 0, agent.Ways{}
	x.start()
	r := x.ask("alpha", "POST", "/agent/v1/sales?wait=60s", "order-2", body)
	require.Equal(t, []any{200, "approved"}, []any{r.status, r.sale(t).Outcome}, r.body)
}

// TestField2_M12WhatForbidsSalesTakesEffectAtOnce: a terminal that was revoked went on selling, READY, while any sale was open. The
// kind: revoked, superseded, its bundle overdue (one cause, ready.Replaced); a new sale, refund and reversal; a write that would be
// stored; the open sale, which goes to its end; a request that is known, which is answered.
func TestField2_M12WhatForbidsSalesTakesEffectAtOnce(t *testing.T) {
	x := open(t, 30*time.Millisecond, 0)
	var bar atomic.Pointer[ready.Trouble]
	x.stop()
	x.ways = agent.Ways{Barred: bar.Load}
	x.start()
	body := `{"amount":1250,"currency":"EUR"}`
	sold := x.ask("alpha", "POST", "/agent/v1/sales?wait=30s", "order-1", body)
	require.Equal(t, []any{200, "approved"}, []any{sold.status, sold.sale(t).Outcome}, sold.body)
	id := sold.sale(t).ID
	x.reaches(id, "CONFIRMED")
	open := x.ask("alpha", "POST", "/agent/v1/sales", "order-2", `{"amount":90006,"currency":"EUR"}`) // the customer takes four fifths of the stale age
	require.Equal(t, 202, open.status, open.body)

	bar.Store(&ready.Trouble{Cause: ready.Replaced, Detail: "the enrolment of this device was revoked: stolen"})
	require.Equal(t, 503, x.ask("main", "GET", "/readyz", "", "").status)
	for path, text := range map[string]string{"/agent/v1/sales": body, "/agent/v1/sales/" + id + "/refund": `{"amount":100}`, "/agent/v1/sales/" + id + "/reverse": `{}`} {
		r := x.ask("alpha", "POST", path, "key-"+strings.ReplaceAll(path, "/", "-"), text)
		require.Equal(t, 503, r.status, "%s: %s", path, r.body)
		require.Contains(t, r.body, "this box is not the terminal any more", path)
	}
	again := x.ask("alpha", "POST", "/agent/v1/sales?wait=30s", "order-1", body)
	require.Equal(t, []any{200, "approved", id}, []any{again.status, again.sale(t).Outcome, again.sale(t).ID}, again.body)
	require.Contains(t, []int{200, 202}, x.ask("alpha", "POST", "/agent/v1/sales/"+open.sale(t).ID+"/abort", "", "").status, "what is open is driven to its end")
	x.reaches(open.sale(t).ID, "DONE")
	books, err := x.backend.Books(t.Context())
	require.NoError(t, err)
	net := money.Minor(0)
	for _, b := range books {
		for _, p := range b.Postings {
			if p.Account == "merchant" {
				net += p.Amount
			}
		}
	}
	require.Equal(t, money.Minor(1250), net, "the first sale alone has moved money: %+v", books)
}

// TestField2_M50TheKeyIsLookedForFirst: a reversal that was done was refused as of a closed batch, or not found, when its client asked
// again under its key after the day's end. Kind: what an end of day changes in the judgement of a reversal and a refund, by the sale's id
// and by its receipt; an original that another client's sale names by now; a key that was used for another sale.
func TestField2_M50TheKeyIsLookedForFirst(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	sold := func(key string) string {
		id := x.sell("alpha", key, "1250").sale(t).ID
		x.reaches(id, "CONFIRMED")
		return id
	}
	first, second, third := sold("k1"), sold("k2"), sold("k3")
	asked := []struct{ at, key, body string }{
		{"/agent/v1/sales/" + first + "/reverse?wait=60s", "v1", ""},
		{"/agent/v1/sales?wait=60s", "v2", `{"type":"reversal","receipt":2}`},
		{"/agent/v1/sales/" + third + "/refund?wait=60s", "v3", `{"amount":500}`},
	}
	was := map[string]string{}
	for _, a := range asked {
		r := x.ask("alpha", "POST", a.at, a.key, a.body)
		require.Equal(t, 200, r.status, r.body)
		was[a.key] = r.sale(t).ID
	}
	require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
		_, _, err := journal.New(journal.Options{DB: x.db}).CloseBatch(tx)
		return err
	}))
	again := func() {
		for _, a := range asked {
			r := x.ask("alpha", "POST", a.at, a.key, a.body)
			require.Equal(t, 200, r.status, "%s: %s", a.at, r.body)
			v := r.sale(t)
			require.Equal(t, []any{was[a.key], "approved"}, []any{v.ID, v.Outcome})
		}
	}
	again()
	for range 2 { // the receipts of the open batch are another client's
		x.reaches(x.sell("beta", string(wire.NewKey()), "1250").sale(t).ID, "CONFIRMED")
	}
	again()
	r := x.ask("alpha", "POST", "/agent/v1/sales/"+second+"/reverse", "v4", "")
	require.Equal(t, []any{422, "not-reversible"}, []any{r.status, r.problem(t)}, "what is new is judged")
	require.Equal(t, 422, x.ask("alpha", "POST", "/agent/v1/sales", "v5", `{"type":"reversal","receipt":2}`).status, "its day is closed")
	r = x.ask("alpha", "POST", "/agent/v1/sales", "v2", `{"type":"reversal","receipt":1}`)
	require.Equal(t, []any{422, "key-reused"}, []any{r.status, r.problem(t)})
	r = x.ask("alpha", "POST", "/agent/v1/sales/"+second+"/reverse", "v1", "")
	require.NotEqual(t, 200, r.status, "the key named another sale")
}

// A name that the terminal's own interface does not have is refused, wherever it stands: who mistypes currency does not sell in another.
func TestField2_U3UnknownNamesAreRefused(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	for body, names := range map[string]string{
		`{"amount":500,"curency":"USD"}`:                                           "curency: unknown: known are amount, currency, type,",
		`{"amount":500,"order":[{"name":"Tea","quantity":1,"gross":500,"vat":1}]}`: "order[0].vat: unknown: known are itemNo, name,",
	} {
		r := x.ask("alpha", "POST", "/agent/v1/sales", "k1", body)
		require.Equal(t, 400, r.status, r.body)
		require.Contains(t, r.body, names)
	}
	require.Zero(t, x.sales())
	id := x.sell("alpha", "k1", "1250").sale(t).ID
	x.reaches(id, "CONFIRMED")
	for _, back := range []string{"refund", "reverse"} {
		r := x.ask("alpha", "POST", "/agent/v1/sales/"+id+"/"+back, "b1", `{"amount":500,"receipt":1}`)
		require.Equal(t, 400, r.status, r.body)
		require.Contains(t, r.body, "receipt: unknown: known are amount, reference, unheard")
	}
	require.Equal(t, 1, x.sales())
}
