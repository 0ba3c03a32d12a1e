package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// checkout makes a hosted payment over 100.00 EUR that is charged when it is paid, and gives its page. Fields replace
// those of the request.
func (b *backend) checkout(fields map[string]any) string {
	b.t.Helper()
	body := map[string]any{
		"type": "ProviderHostedEcom", "amount": 10000, "currencyCode": "EUR", "processing": "Sale", "paymentNumber": "A1", "checkoutText": "Two chairs",
		"basket": []any{map[string]any{"itemNumber": "C1", "title": "Chair", "quantity": 2, "unitPrice": 5000}},
	}
	for k, v := range fields {
		body[k] = v
	}
	var reply struct{ PayPageURL string }
	b.call("POST", "/api/v1/payments", body, &reply, 200, 201)
	require.NotEmpty(b.t, reply.PayPageURL)
	return reply.PayPageURL
}

func config(fields map[string]any) map[string]any {
	return map[string]any{"payPageConfiguration": fields}
}

func returning(to string) map[string]any {
	return map[string]any{"redirectUrls": map[string]any{"returnUrl": to}}
}

// account is what stands on an account of all payments.
func (b *backend) account(name string) (sum int64) {
	b.t.Helper()
	for _, e := range b.books() {
		for _, p := range e.Postings {
			if p.Account == name {
				sum += p.Amount
			}
		}
	}
	return sum
}

// moves counts how often money moved.
func (b *backend) moves() (n int) {
	b.t.Helper()
	for _, e := range b.books() {
		if len(e.Postings) > 0 {
			n++
		}
	}
	return n
}

// payOnceMore goes back to the form, which the browser may have kept as it was, fills it in again if so, and ends where
// that leads.
func (p *tab) payOnceMore(ends string) {
	p.t.Helper()
	p.do(chromedp.Evaluate(`window.left = true, history.back()`, nil))
	p.until(`!window.left && location.pathname.startsWith("/checkout/") && !location.search.includes("go=") && document.readyState === "complete"`)
	var kept bool
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { // by script alone: the driver loses the nodes of a page that was kept
		const form = document.querySelector("button[value=card]")?.form;
		if (form) { form.number.value = %q; form.expiry.value = "12/30"; form.code.value = "123"; form.querySelector("button").click(); }
		return !!form;
	})()`, goodCard), &kept))
	p.t.Log("the browser kept the form:", kept)
	if kept {
		p.says(ends)
	} else {
		require.NotContains(p.t, p.text(), pay100)
	}
}

// newShop is the merchant's site, where paid customers come back to.
func newShop(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "shop says %s, from [%s]", r.URL.Path, r.Referer())
	}))
	t.Cleanup(s.Close)
	return s
}

const (
	asks    = "4000002760003184"
	asksBad = "4000008400001629"
	pay100  = "Pay 100.00 EUR"
)

func TestCheckoutPays(t *testing.T) {
	b, shop, p := startBackend(t, ""), newShop(t), newTab(t)
	page := b.checkout(returning(shop.URL + "/thanks"))
	p.open(page)
	for _, text := range []string{"SANDBOX", "Pay to Demo Shop", "100.00 EUR", "Two chairs", "2 × Chair", "Only test cards"} {
		p.says(text)
	}
	p.screen("checkout")
	p.card(goodCard)
	p.press(pay100)
	p.says("shop says /thanks, from []")
	require.EqualValues(t, 10000, b.merchantNet())

	// The way back leads to no second charge, but to a page that says how it stands.
	p.payOnceMore("shop says /thanks")
	p.open(page)
	p.says("Paid. Thank you.")
	p.until(`document.forms.length === 0`)
	p.screen("checkout-paid")
	p.settled(func() { p.do(chromedp.Click(`a[rel="noreferrer"]`, chromedp.ByQuery)) })
	p.says("shop says /thanks")
	require.EqualValues(t, 10000, b.merchantNet())
	require.Equal(t, 2, b.moves(), "held and charged, once each")

	p.open(b.checkout(map[string]any{"processing": "Authorize"}))
	p.card("5555-5555-5555-4444")
	p.press(pay100)
	p.says("Paid. Thank you.")
	require.EqualValues(t, 10000, b.account("reserved"))
	require.EqualValues(t, 10000, b.merchantNet())
}

// A shop may send its customers on to another of its sites.
func TestCheckoutLeadsThroughAnotherSite(t *testing.T) {
	b, shop, p := startBackend(t, ""), newShop(t), newTab(t)
	door := httptest.NewServer(http.RedirectHandler(shop.URL+"/thanks", http.StatusFound))
	t.Cleanup(door.Close)
	p.open(b.checkout(returning(door.URL)))
	p.card(goodCard)
	p.press(pay100)
	p.says("shop says /thanks")
	require.EqualValues(t, 10000, b.merchantNet())
}

// The browser keeps back what is empty or cannot be right, the page what it lets through, and the cursor stands where
// something is to be mended.
func TestCheckoutMends(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	page := b.checkout(nil)
	p.open(page)
	p.sound("")
	press := chromedp.Click(`button[value="card"]`, chromedp.ByQuery)
	for _, fields := range [][]string{
		{"number", "", "expiry", "12/30", "code", "123"}, {"number", goodCard, "expiry", "", "code", "123"}, {"number", goodCard, "expiry", "12/30", "code", ""},
		{"number", "4111", "expiry", "12/30", "code", "123"}, {"number", goodCard, "expiry", "13/30", "code", "123"}, {"number", goodCard, "expiry", "12/30", "code", "12"},
	} {
		p.fill(fields...)
		p.do(chromedp.Evaluate(`window.beforeThis = true`, nil), press)
		p.until(`window.beforeThis && document.activeElement.matches("input:invalid")`)
		require.Equal(t, page, p.location())
	}
	p.card("4111 1111 1111 1112")
	p.press(pay100)
	p.says("This is not a card number.")
	p.until(`document.activeElement.name === "number"`)
	p.sound("")
	p.screen("checkout-mend")
	p.fill("number", goodCard, "expiry", "01/20", "code", "123")
	p.press(pay100)
	p.says("Not a date in the future")
	p.until(`document.activeElement.name === "expiry"`)
	p.until(`[...document.querySelectorAll("input:not([type=hidden])")].every(i => i.value === "")`)
	p.fill("iban", "DE89370400440532013001")
	p.press(pay100 + " - SEPA")
	p.says("This is not an IBAN.")
	p.until(`document.activeElement.name === "iban"`)
	require.Zero(t, b.moves())
	p.fill("iban", "DE89 3704 0044 0532 0130 00")
	p.press(pay100 + " - SEPA")
	p.says("Paid. Thank you.")
	require.EqualValues(t, 10000, b.merchantNet())
}

// sound looks at the page as somebody does who sees little or nothing of it: each field has its label, each fault belongs
// to its field, every text stands out from its ground.
func (p *tab) sound(ground string) {
	p.t.Helper()
	if ground == "" {
		ground = "255,255,255"
	}
	var bad []string
	p.do(chromedp.Evaluate(`(() => {
		const bad = [], text = e => e ? e.innerText.trim() : "";
		for (const i of document.querySelectorAll("input:not([type=hidden])")) {
			if (i.labels.length !== 1 || !text(i.labels[0])) bad.push("no label: " + i.name);
			const why = i.getAttribute("aria-describedby");
			if (i.matches("[aria-invalid]") !== (why !== null) || why && !text(document.getElementById(why))) bad.push("no reason: " + i.name);
		}
		const names = [...document.querySelectorAll("[id]")].map(e => e.id);
		if (new Set(names).size !== names.length) bad.push("one id twice");
		if (document.querySelectorAll("h1").length !== 1 || document.querySelectorAll("main").length !== 1) bad.push("not one heading");
		const rgb = s => s.match(/[\d.]+/g).map(Number);
		const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
		for (const e of document.querySelectorAll("body *")) {
			if (!e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
			let back = [`+ground+`];
			for (let on = e; on; on = on.parentElement) { const c = rgb(getComputedStyle(on).backgroundColor); if (c.length < 4 || c[3] > 0) { back = c; break; } }
			const [a, b] = [light(rgb(getComputedStyle(e).color).slice(0, 3)), light(back.slice(0, 3))].sort((x, y) => y - x);
			if ((a + 0.05) / (b + 0.05) < 4.5) bad.push("hard to read: " + e.tagName + " " + text(e));
			if (e.scrollWidth > document.documentElement.clientWidth) bad.push("too wide: " + e.tagName + " " + text(e));
		}
		return bad;
	})()`, &bad))
	require.Empty(p.t, bad, p.location())
}

func TestCheckoutDeclines(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	page := b.checkout(nil)
	p.open(page)
	p.card(badCard)
	p.press(pay100)
	p.says("The payment was declined. Nothing was charged.")
	p.screen("checkout-declined")
	p.sound("")
	require.Zero(t, b.moves())
	p.card(goodCard)
	p.press(pay100)
	p.says("Paid. Thank you.")
	require.EqualValues(t, 10000, b.merchantNet())

	page = b.checkout(nil)
	p.open(page)
	p.press("Cancel")
	p.says("This payment is closed. Nothing was charged.")
	p.screen("checkout-closed")
	p.payOnceMore("This payment is closed.")
	p.open(strings.Replace(page, "/checkout/", "/checkout/0", 1))
	p.says("There is no such payment.")
	p.screen("checkout-gone")
	p.sound("")
	require.EqualValues(t, 10000, b.merchantNet())
}

func TestCheckoutChallenge(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	p.open(b.checkout(nil))
	ask := func(card string) {
		p.card(card)
		p.press(pay100)
		p.says("Your bank asks: is it you who pays?")
		require.Zero(t, b.moves())
	}
	ask(asks)
	p.says("400000******3184")
	p.screen("checkout-challenge")
	p.sound("")
	p.press("No, stop")
	p.says("The bank could not confirm that it is you.")
	p.screen("checkout-not-proven")
	ask(asksBad)
	p.press("Yes, it is me")
	p.says("The bank could not confirm that it is you.")
	ask(asks)
	p.press("Yes, it is me")
	p.says("Paid. Thank you.")
	require.EqualValues(t, 10000, b.merchantNet())

	p.open(b.checkout(nil))
	p.card(asks)
	p.press(pay100)
	p.press("Cancel")
	p.says("This payment is closed.")
	require.EqualValues(t, 10000, b.merchantNet())
}

// However a customer presses the button twice: once is charged, and the page says paid.
func TestCheckoutPaysOnce(t *testing.T) {
	b, shop, p := startBackend(t, ""), newShop(t), newTab(t)
	p.open(b.checkout(returning(shop.URL + "/thanks")))
	p.card(goodCard)
	p.settled(func() { p.do(chromedp.DoubleClick(`button[value="card"]`, chromedp.ByQuery)) })
	p.says("shop says /thanks")
	require.EqualValues(t, 10000, b.merchantNet())
	require.Equal(t, 2, b.moves())

	page := b.checkout(map[string]any{"processing": "Authorize"})
	second := newTab(t)
	p.open(page)
	second.open(page + "?lang=de")
	p.card(goodCard)
	second.card("5555555555554444")
	p.press(pay100)
	second.press("Bezahlen 100,00 EUR")
	p.says("Paid. Thank you.")
	second.says("Bezahlt. Vielen Dank.")
	require.EqualValues(t, 10000, b.account("reserved"))
	require.EqualValues(t, 10000, b.merchantNet())
	require.Equal(t, 3, b.moves())
}

// The merchant's list decides what is offered and what it costs; a Multipage asks for the way first.
func TestCheckoutMultipage(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	page := b.checkout(config(map[string]any{"pageType": "Multipage", "language": "SE", "paymentMethodActionInfoList": []any{
		map[string]any{"paymentMethod": "Visa", "fee": 250, "action": "Allow"}, map[string]any{"paymentMethod": "PproSepaDirectDebit", "action": "Allow"},
		map[string]any{"paymentMethod": "PayPal", "name": "Purse", "fee": 100, "action": "Allow"},
	}}))
	p.open(page)
	p.says("Välj betalningssätt")
	p.screen("checkout-choice")
	p.sound("")
	require.NotContains(t, p.text(), "MasterCard")
	follow := func(label string) {
		p.settled(func() { p.do(chromedp.Click(fmt.Sprintf(`//a[starts-with(., %q)]`, label), chromedp.BySearch)) })
	}
	follow("Kort: Visa")
	p.says("Avgift: 2,50 EUR")
	p.screen("checkout-fee")
	follow("Tillbaka")
	follow("SEPA")
	p.until(`document.querySelector("input[name=iban]") && !document.querySelector("input[name=number]")`)
	follow("Tillbaka")
	follow("Kort: Visa")
	p.do(chromedp.Click("summary", chromedp.ByQuery))
	follow("Suomi")
	p.says("Lisämaksu: 2,50 EUR")
	p.card(badCard)
	p.press("Maksa 102,50 EUR")
	p.says("Maksu hylättiin.")
	p.card(goodCard)
	p.press("Maksa 102,50 EUR")
	p.says("Maksettu. Kiitos.")
	require.EqualValues(t, 10000, b.merchantNet())
	require.EqualValues(t, 250, b.account("fees"))
}

func TestCheckoutSpeaks(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	headings := map[string]bool{}
	for code, lang := range map[string]string{
		"EN": "en", "DK": "da", "NL": "nl", "ET": "et", "FI": "fi", "FR": "fr", "DE": "de", "IT": "it", "LV": "lv", "LT": "lt", "NO": "nb", "PL": "pl", "PT": "pt",
		"RU": "ru", "ES": "es", "SE": "sv",
	} {
		p.open(b.checkout(config(map[string]any{"language": code})))
		p.until(fmt.Sprintf(`document.documentElement.lang === %q`, lang))
		p.sound("")
		p.screen("checkout-" + strings.ToLower(code))
		headings[strings.Split(p.text(), "\n")[2]+lang] = true
	}
	require.Len(t, headings, 16)
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	p.sound("18,18,18")
	p.screen("checkout-dark")
}

// All of it without a line of script.
func TestCheckoutWithoutScript(t *testing.T) {
	b, shop, p := startBackend(t, ""), newShop(t), newTab(t)
	probe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<body>quiet<script>document.body.innerText = "loud"</script>`)
	}))
	t.Cleanup(probe.Close)
	p.do(emulation.SetScriptExecutionDisabled(true))
	p.open(probe.URL)
	p.says("quiet")
	p.open(b.checkout(returning(shop.URL + "/thanks")))
	p.card("4111111111111112")
	p.press(pay100)
	p.says("This is not a card number.")
	p.until(`document.activeElement.name === "number"`)
	p.do(chromedp.Click("summary", chromedp.ByQuery))
	p.settled(func() { p.do(chromedp.Click(`a[lang="de"]`, chromedp.ByQuery)) })
	p.card(asks)
	p.press("Bezahlen 100,00 EUR")
	p.press("Ja, ich bin es")
	p.says("shop says /thanks")
	require.EqualValues(t, 10000, b.merchantNet())
}
