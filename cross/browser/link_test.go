package browser

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// link makes a payment link as a shop does, signed, and gives its page. Values are the fields of the request beside the usual.
func (b *backend) link(fields map[string]string) string {
	b.t.Helper()
	form := url.Values{"title": {"Order 1"}, "description": {"Two chairs"}, "referenceId": {b.t.Name()}, "purpose": {"Chairs"}, "amount": {"1250"}, "currency": {"EUR"}}
	for k, v := range fields {
		form.Set(k, v)
	}
	mac := hmac.New(sha256.New, []byte("demo-secret"))
	mac.Write([]byte(form.Encode()))
	body := strings.ReplaceAll(form.Encode(), "+", "%20") + "&ApiSignature=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	resp, err := http.Post(b.url+"/v1.0/Invoice/?instance=demo", "application/x-www-form-urlencoded", strings.NewReader(body))
	require.NoError(b.t, err)
	defer resp.Body.Close()
	var reply struct {
		Status, Message string
		Data            []struct{ Link string }
	}
	require.NoError(b.t, json.NewDecoder(resp.Body).Decode(&reply))
	require.Equal(b.t, "success", reply.Status, reply.Message)
	return reply.Data[0].Link
}

// fill types into the fields of a page by their names.
func (p *tab) fill(fields ...string) {
	p.t.Helper()
	for i := 0; i < len(fields); i += 2 {
		sel := fmt.Sprintf(`input[name=%q]`, fields[i])
		p.do(chromedp.WaitVisible(sel, chromedp.ByQuery), chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).value = %q`, sel, fields[i+1]), nil))
	}
}

func (p *tab) card(number string) {
	p.t.Helper()
	p.fill("number", number, "expiry", "12/30", "code", "123")
}

const (
	goodCard = "4111 1111 1111 1111"
	badCard  = "4000000000000002"
)

// A link is paid by card, and its customer sent on to where the shop said, which is another origin.
func TestLinkPaidByCard(t *testing.T) {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "shop says "+r.URL.Path) }))
	t.Cleanup(shop.Close)
	b := startBackend(t, "")
	p := newTab(t)
	page := b.link(map[string]string{
		"fields[email][mandatory]": "1", "fields[custom_field_1][mandatory]": "0", "fields[custom_field_1][names][en]": "Table", "vatRate": "7.7",
		"successRedirectUrl": shop.URL + "/thanks", "failedRedirectUrl": shop.URL + "/sorry",
	})
	p.open(page)
	for _, text := range []string{"SANDBOX", "Order 1", "Two chairs", "12.50 EUR", "including VAT 7.7 %", "E-mail (required)", "Table", "Only test cards"} {
		p.says(text)
	}
	p.screen("link")

	// The browser itself keeps a form with an empty mandatory field back.
	p.card(goodCard)
	p.do(chromedp.Click(`button[value="card"]`, chromedp.ByQuery))
	p.until(`document.querySelector('input[name="contact_email"]').matches(":invalid")`)
	require.Equal(t, page, p.location())
	require.Zero(t, b.merchantNet())

	// What the browser lets through the service still looks at.
	p.fill("contact_email", "a@b.example")
	p.card("4111111111111112")
	p.press("Pay 12.50 EUR")
	p.says("Card number is not a test card")
	p.screen("link-mend")
	require.Zero(t, b.merchantNet())
	p.card(badCard)
	p.press("Pay 12.50 EUR")
	p.says("shop says /sorry")
	require.Zero(t, b.merchantNet())
	p.open(page)
	p.says("Declined. Nothing was paid.")
	p.fill("contact_email", "a@b.example")
	p.card(goodCard)
	p.press("Pay 12.50 EUR")
	p.says("shop says /thanks")
	require.EqualValues(t, 1250, b.merchantNet())
	p.open(page)
	p.says("This link has been paid")
	p.screen("link-paid")
}

// Two customers have the same link open: the second is told that it is paid, and pays nothing.
func TestLinkIsPaidOnce(t *testing.T) {
	b := startBackend(t, "")
	page := b.link(nil)
	first, second := newTab(t), newTab(t)
	first.open(page + "?lang=de")
	second.open(page)
	first.says("Zahlung an")
	first.press("Bezahlen 12,50 EUR (TWINT)")
	first.says("Dieser Link ist bezahlt")
	second.card(goodCard)
	second.press("Pay 12.50 EUR")
	second.says("This link has been paid")
	require.EqualValues(t, 1250, b.merchantNet())
	require.Len(t, b.books(), 1)

	first.open(b.link(map[string]string{"referenceId": "twice"}))
	first.settled(func() { first.do(chromedp.DoubleClick(`button[value="wallet"]`, chromedp.ByQuery)) })
	first.says("This link has been paid")
	require.EqualValues(t, 2500, b.merchantNet())
	require.Len(t, b.books(), 2)
}

// The card's bank asks: no, yes by somebody it cannot prove, and yes.
func TestLinkChallenge(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	p.open(b.link(nil))
	for _, try := range []struct{ card, answer, end string }{
		{asks, "No, stop", "Declined. Nothing was paid."}, {asksBad, "Yes, it is me", "Declined. Nothing was paid."}, {asks, "Yes, it is me", "This link has been paid"},
	} {
		p.card(try.card)
		p.press("Pay 12.50 EUR")
		p.says("Your bank asks: is it you who pays?")
		require.Zero(t, b.merchantNet())
		p.screen("link-challenge")
		p.press(try.answer)
		p.says(try.end)
	}
	require.EqualValues(t, 1250, b.merchantNet())
}

// Given up and held. An expired link cannot be made any more; the room's own tests have its page.
func TestLinkStates(t *testing.T) {
	b := startBackend(t, "")
	p := newTab(t)
	p.open(b.link(nil))
	p.press("Decline")
	p.says("Declined. Nothing was paid.")
	p.open(b.link(map[string]string{"reservation": "1", "hideFields": "1"}))
	p.says("reserved and charged later")
	p.press("Pay 12.50 EUR (TWINT)")
	p.says("The amount will be charged later")
	require.Zero(t, b.merchantNet())
}
