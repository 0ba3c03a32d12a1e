package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// typed waits until the expiry field of a page holds what a customer's digits become.
func (p *tab) typed(keys, want string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(`input[name="expiry"]`, keys, chromedp.ByQuery))
	p.until(`document.querySelector('input[name="expiry"]').value === "` + want + `"`)
}

// A number pad has no slash: the page writes it. What is deleted stays deleted.
func TestField_B1ExpiryIsFormattedWhileTyping(t *testing.T) {
	b, p := startBackend(t, ""), newTab(t)
	for name, page := range map[string]string{"card": b.checkout(nil), "link": b.link(nil)} {
		p.open(page)
		p.typed("1230", "12/30")
		p.typed("\b\b\b", "12")
		p.typed("/31", "12/31")
		p.screen("expiry-" + name)
		p.fill("number", goodCard, "code", "123")
		p.settled(func() { p.do(chromedp.Click(`button[value="card"]`, chromedp.ByQuery)) })
		p.until(`document.body.innerText.includes("Thank you")`)
	}
	shop := newPlatform(t, b)
	p.open(shop.site.URL)
	p.until(heard("FIELD_LOADED") + " === 5")
	for _, text := range []string{goodCard, "1230", "123", "Anna Rossi", "anna@shop.example"} {
		p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent(text))
	}
	p.until(`document.getElementById("state").textContent === "READY_FOR_PAYMENT"`)
}
