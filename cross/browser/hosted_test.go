package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// platform is a web shop with payment pages of its own: it builds sessions, shows their fields in frames and finalizes.
type platform struct {
	b      *backend
	site   *httptest.Server
	origin string         // merchantUrl; "" = the site's own
	orders atomic.Int64   // built so far
	last   atomic.Value   // session id of the last build
	posted bytes.Buffer   // everything the site was ever sent
	config map[string]any // replaces fields of the payment session
}

// field is one of the build's answer.
type field struct{ ID, Src string }

func newPlatform(t *testing.T, b *backend) *platform {
	t.Helper()
	p := &platform{b: b}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.checkout)
	mux.HandleFunc("GET /finalize", func(w http.ResponseWriter, r *http.Request) {
		var reply struct {
			State, URL string
			Operation  struct{ OperationResult string }
		}
		p.hosted("POST", "/build/finalize_payment", map[string]any{"sessionId": r.URL.Query().Get("sid")}, &reply)
		if reply.URL != "" {
			http.Redirect(w, r, reply.URL, http.StatusFound)
			return
		}
		fmt.Fprintf(w, "%s %s", reply.State, reply.Operation.OperationResult)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "shop says %s", r.URL.Path) })
	p.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body) // of a browser's request: short
		p.posted.WriteString(r.URL.String() + " " + string(data) + "\n")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.site.Close)
	return p
}

// hosted calls the service as the shop's server does.
func (p *platform) hosted(method, path string, body, reply any) int {
	data, err := json.Marshal(body)
	require.NoError(p.b.t, err)
	req, err := http.NewRequestWithContext(p.b.t.Context(), method, p.b.url+"/api/v1/api"+path, bytes.NewReader(data))
	require.NoError(p.b.t, err)
	req.Header.Set("X-API-KEY", "demo-api-key")
	req.Header.Set("Correlation-Id", "0123abcd-4567-89ef-0123-456789abcdef")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(p.b.t, err)
	defer resp.Body.Close()
	require.NoError(p.b.t, json.NewDecoder(resp.Body).Decode(reply))
	return resp.StatusCode
}

func (p *platform) build() (sid string, fields []field) {
	var reply struct {
		SessionID string
		Fields    []field
	}
	origin := p.origin
	if origin == "" {
		origin = p.site.URL
	}
	session := map[string]any{"actionType": "PAY", "amount": "5000", "paymentService": "CARDS", "resultUrl": p.site.URL + "/result", "cancelUrl": p.site.URL + "/cancel"}
	for k, v := range p.config {
		session[k] = v
	}
	require.Equal(p.b.t, 200, p.hosted("POST", "/orders/build", map[string]any{
		"merchantUrl": origin, "order": map[string]any{"orderId": fmt.Sprintf("o%d", p.orders.Add(1)), "amount": 5000, "currency": "EUR"}, "paymentSession": session,
	}, &reply))
	p.last.Store(reply.SessionID)
	return reply.SessionID, reply.Fields
}

// checkout is the shop's own page: a frame for each field, and its own button.
func (p *platform) checkout(w http.ResponseWriter, _ *http.Request) {
	sid, fields := p.build()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><title>Shop</title><body>
		<script>window.heard = []; addEventListener("message", e => heard.push({origin: e.origin, data: e.data}));</script>
		<p id="state">waiting</p><div id="frames">`)
	for _, f := range fields {
		fmt.Fprintf(w, `<iframe id="%s" src="%s" width="420" height="160"></iframe>`, f.ID, f.Src)
	}
	fmt.Fprintf(w, `</div><button onclick="location='/finalize?sid=%s'">Buy</button>
		<script src="%s/monetaweb/resources/hfsdk.js"></script>
		<script>new Build({onBuildFlowStateChange(e, state) {
			document.getElementById("state").textContent = state;
			if (e.fieldSet) for (const f of e.fieldSet.fields) { const i = document.createElement("iframe"); i.id = f.id; i.src = f.src; i.width = 420; i.height = 160; frames.append(i); }
			if (e.url) location = e.url;
		}});
		const frames = document.getElementById("frames");</script>`, sid, p.b.url)
}

// heard counts the messages of a kind that the shop's page got.
func heard(event string) string {
	return fmt.Sprintf(`window.heard && heard.filter(m => m.data.event === %q).length`, event)
}

// fillFrames types a card into the frames as a customer does, by the keyboard alone.
func (p *tab) fillFrames(card string) {
	p.t.Helper()
	p.until(heard("FIELD_LOADED") + " === 5")
	for _, text := range []string{card, "12/30", "123", "Anna Rossi", "anna@shop.example"} {
		p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent(text))
	}
}

func TestHostedFieldsPay(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	shop := newPlatform(t, b)
	p.open(shop.site.URL)
	p.fillFrames(goodCard)
	p.until(`document.getElementById("state").textContent === "READY_FOR_PAYMENT"`)
	p.screen("hosted-fields")
	var all string
	p.do(chromedp.Evaluate(`JSON.stringify(heard)`, &all))
	for _, secret := range []string{strings.ReplaceAll(goodCard, " ", ""), `"123"`, "Anna", "token"} {
		require.NotContains(t, all, secret, "the page hears what became of a field, not what stands in it")
	}
	p.until(`heard.every(m => m.origin === "` + b.url + `")`)
	require.Zero(t, b.moves(), "not before the shop finalizes")
	p.press("Buy")
	p.says("PAYMENT_COMPLETE EXECUTED")
	require.EqualValues(t, 5000, b.merchantNet())
	require.NotContains(t, shop.posted.String(), strings.ReplaceAll(goodCard, " ", ""))
}

func TestHostedFieldsMendAndDecline(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	shop := newPlatform(t, b)
	p.open(shop.site.URL)
	p.fillFrames("4111111111111112")
	p.until(heard("BUILD_ERROR") + " > 0")
	p.until(heard("BUILD_SUCCESS") + " >= 4")
	p.until(`document.getElementById("state").textContent === "waiting"`)
	p.open(shop.site.URL)
	p.fillFrames(badCard)
	p.until(`document.getElementById("state").textContent === "READY_FOR_PAYMENT"`)
	p.press("Buy")
	p.says("PAYMENT_COMPLETE DECLINED")
	require.Zero(t, b.moves())
}

// The customer chooses the card among the methods, is asked by the bank, and comes back to the shop.
func TestHostedFieldsChallenge(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	shop := newPlatform(t, b)
	for _, c := range []struct {
		press, ends string
		net         int64
	}{{"Cancel", "shop says /cancel", 0}, {"No, stop", "shop says /result", 0}, {"Yes, it is me", "shop says /result", 5000}} {
		p.open(shop.site.URL)
		p.fillFrames(asks)
		p.until(`document.getElementById("state").textContent === "READY_FOR_PAYMENT"`)
		p.press("Buy")
		p.says("Your bank asks: is it you who pays?")
		p.screen("hosted-challenge")
		p.sound("")
		p.press(c.press)
		p.says(c.ends)
		require.Equal(t, c.net, b.merchantNet(), c.press)
	}
}

func TestHostedFieldsChoice(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	shop := newPlatform(t, b)
	shop.config = map[string]any{"paymentService": ""}
	p.open(shop.site.URL)
	p.until(`document.querySelectorAll("iframe").length === 4`)
	p.until(`[...document.querySelectorAll("iframe")].length === 4 && performance.getEntriesByType("resource").filter(r => r.initiatorType === "iframe").length >= 4`)
	p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r")) // past the card, to PayPal
	p.says("PAYPAL")
	p.press("Pay")
	p.says("shop says /result")
	require.EqualValues(t, 5000, b.merchantNet())
}

// A session that is cancelled takes nothing more: the open field says so.
func TestHostedFieldsOfACancelledSession(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	shop := newPlatform(t, b)
	p.open(shop.site.URL)
	p.until(heard("FIELD_LOADED") + " === 5")
	var reply map[string]any
	sid := shop.last.Load()
	require.Equal(t, 200, shop.hosted("POST", "/build/cancel", map[string]any{"sessionId": sid}, &reply))
	p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent(goodCard), chromedp.KeyEvent("\t"))
	p.until(`heard.some(m => m.data.event === "BUILD_ERROR" && m.data.errorCode === "HF0003")`)
	require.Equal(t, 400, shop.hosted("POST", "/build/finalize_payment", map[string]any{"sessionId": sid}, &reply))
	require.Zero(t, b.moves())
}

// A session that is over while the customer looks at its fields takes nothing: the page hears so of what is typed then, and of
// a field that is opened then; nothing is paid.
func TestHostedFieldsOfAnExpiredSession(t *testing.T) {
	b, p := startBackend(t, "[backend]\nsession_life = \"20s\"\n"), newTab(t)
	shop := newPlatform(t, b)
	p.open(shop.site.URL)
	p.fillFrames(goodCard)
	p.until(`document.getElementById("state").textContent === "READY_FOR_PAYMENT"`)
	var reply map[string]any
	sid := shop.last.Load().(string)
	p.until(`!heard.some(m => m.data.errorCode === "HF0003")`) // not before its time
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience()); shop.hosted("GET", "/build/state?sessionId="+sid, nil, &reply) == http.StatusOK; <-tick.C {
		require.True(t, time.Now().Before(deadline), "never expires")
	}
	p.do(chromedp.KeyEvent("x"), chromedp.KeyEvent("\t")) // in the last field, the e-mail
	p.until(`heard.some(m => m.data.event === "BUILD_ERROR" && m.data.id === "CARDHOLDER_EMAIL" && m.data.errorCode === "HF0003" && m.origin === "` + b.url + `")`)
	p.do(chromedp.Evaluate(`{ const f = document.getElementById("CARD_NUMBER"); f.src = f.src; }`, nil)) // the customer loads it anew
	p.until(`heard.some(m => m.data.event === "BUILD_ERROR" && m.data.id === "CARD_NUMBER" && m.data.errorCode === "HF0003")`)
	p.screen("hosted-expired")
	require.Equal(t, 400, shop.hosted("POST", "/build/finalize_payment", map[string]any{"sessionId": sid}, &reply))
	p.press("Buy")
	require.Zero(t, b.moves())
}

// A page of another origin cannot show a field: the browser refuses the frame, and nobody hears anything.
func TestHostedFieldAtTheWrongOrigin(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	shop := newPlatform(t, b)
	thief := newPlatform(t, b)
	thief.origin = shop.site.URL // its page shows fields that were built for the shop
	p.open(thief.site.URL)
	p.until(`document.querySelectorAll("iframe").length === 5`)
	for range 5 {
		p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("4111111111111111"))
	}
	p.screen("hosted-wrong-origin")
	p.open(shop.site.URL) // as long as it takes the fields of the right one to load
	p.until(heard("FIELD_LOADED") + " === 5")
	second := newTab(t)
	second.open(thief.site.URL)
	second.until(`document.readyState === "complete"`) // every frame has loaded, or was refused
	second.until(`heard.length === 0`)
	var reply struct{ State string }
	require.Equal(t, 200, thief.hosted("GET", "/build/state?sessionId="+thief.last.Load().(string), nil, &reply))
	require.Equal(t, "CARD_DATA_COLLECTION", reply.State)
}
