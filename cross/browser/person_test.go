package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const (
	thePIN    = "482915"
	cardIsBad = `{"type":"Moto","amount":4200,"currencyCode":"EUR","processing":"Sale","cardDetails":{"pan":"4000000000000002","expiryYear":2090,"expiryMonth":1}}`
)

// setPIN sets the PIN of the terminal's page at the command line.
func (x terminal) setPIN(t *testing.T, pin string) {
	t.Helper()
	cmd := exec.Command(built.posagent, "config", "pin", "--config", x.file, "--state", x.dir)
	cmd.Stdin = strings.NewReader(pin + "\n")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// owing is a terminal that owes two payments to a backend which is away: one that will be declined, and one that will not.
func (b *backend) owing() terminal {
	b.t.Helper()
	x := b.startTerminal()
	pay := func(body string, want int) {
		require.Equal(b.t, want, program(b.t, http.MethodPost, x.port+"/api/v1/payments", x.token, body))
	}
	pay(stolenSale, http.StatusCreated)
	b.end()
	pay(cardIsBad, http.StatusAccepted)
	pay(stolenSale, http.StatusAccepted)
	return x
}

// follow clicks a link whose text begins with label, and waits for the page that follows.
func (p *tab) follow(label string) {
	p.t.Helper()
	link := fmt.Sprintf(`//a[starts-with(normalize-space(.), %q)]`, label)
	p.do(chromedp.WaitVisible(link, chromedp.BySearch))
	p.settled(func() { p.do(chromedp.Click(link, chromedp.BySearch)) })
}

// logIn enters the PIN at the door.
func (p *tab) logIn(x terminal) {
	p.t.Helper()
	p.open(x.port + "/")
	p.fill("pin", thePIN)
	p.press("Log in")
	p.says("a person with the PIN")
}

// A person logs in by PIN, holds what waits, releases it, sends it, acknowledges what came to nothing, and decides nothing without a
// reason and a second look. Each page is looked at on narrow and wide screens, in light and in dark, and by axe.
func TestAPersonActs(t *testing.T) {
	script := axe(t)
	b := startBackend(t, noWallet)
	x, p := b.owing(), newTab(t)
	looks := func(name string) {
		t.Helper()
		p.looks(name, func(width int64, scheme string) {
			if script != "" && scheme == "light" { // fair looks in both
				p.fair(script, fmt.Sprintf("%s at %d px", name, width))
				p.at(width, scheme)
			}
		})
	}
	p.open(x.port + "/")
	p.says("No PIN is set")
	looks("person-none")
	x.setPIN(t, thePIN)
	p.open(x.port + "/")
	p.says("PIN of the terminal")
	looks("person-door")
	p.fill("pin", "739164")
	p.press("Log in")
	p.says("This is not the PIN of this terminal.")
	looks("person-wrong")
	p.fill("pin", thePIN)
	p.press("Log in")
	p.says("42.00 EUR")
	p.says("Checks that pass")
	at := p.location()
	require.Regexp(t, `^`+x.port+`/person/[A-Z2-7]{26}/$`, at)
	require.NotContains(t, p.text(), thePIN)
	looks("person")
	p.do(network.Enable(), network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": "de-DE"}))
	p.open(at)
	p.says("Jetzt senden")
	looks("person-de")
	p.do(network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": "en"}))
	p.open(at)

	p.follow("Hold…")
	p.says("It is not sent until a person releases it.")
	looks("person-hold")
	p.do(chromedp.SendKeys(`textarea[name="reason"]`, "the shop closes", chromedp.ByQuery))
	p.press("Hold it")
	p.says("The operation is held until it is released.")
	p.says("held: the shop closes")
	p.follow("Decide…")
	p.says("Proof is what the backend's own books say.")
	looks("person-decide")
	p.do(chromedp.Click(`input[value="FAILED"]`, chromedp.ByQuery), chromedp.SendKeys(`textarea[name="reason"]`, "not in the portal", chromedp.ByQuery))
	p.press("Go on")
	p.says("This cannot be taken back.")
	looks("person-sure")
	p.follow("Cancel")
	p.says("held: the shop closes")
	p.follow("Release…")
	p.press("Release it")
	p.says("The operation goes on.")

	b.listen(strings.TrimPrefix(b.url, "http://"))
	p.press("Send everything now")
	p.says("Everything that waits is being sent.")
	for !strings.Contains(p.text(), "Acknowledge") {
		p.open(at)
		p.says("Needs attention")
	}
	looks("person-alert")
	p.press("Acknowledge")
	p.says("The alert is acknowledged.")
	p.says("page.login")
	p.says("operation.acknowledged")
	p.says("person page 127.0.0.1")
	require.NotContains(t, p.text(), "4000000000000002")

	var focus []string // by the keyboard alone
	for range 40 {
		var one string
		p.do(chromedp.KeyEvent("\t"), chromedp.Evaluate(`document.activeElement.tagName + " " + (document.activeElement.getAttribute("aria-label") || document.activeElement.innerText)`, &one))
		focus = append(focus, one)
	}
	require.Contains(t, focus, "A Events")
	require.Contains(t, focus, "BUTTON Log out")

	p.follow("Events")
	p.says("This page does not load itself again.")
	p.says("operation.failed")
	looks("person-events")
	p.follow("Every 5 s")
	p.says("This page loads itself again every 5 s.")
	require.Equal(t, http.StatusCreated, program(t, http.MethodPost, x.port+"/api/v1/payments", x.token, cardIsGoodAgain))
	p.says("77.00 EUR") // without a hand on it
	p.follow("Stop")
	p.says("This page does not load itself again.")
	p.follow("Back to the terminal")
	p.press("Log out")
	p.says("PIN of the terminal")
	p.open(at)
	p.says("Your login has ended")
	looks("person-over")
}

const cardIsGoodAgain = `{"type":"Moto","amount":7700,"currencyCode":"EUR","processing":"Sale","paymentNumber":"77","cardDetails":{"pan":"4111111111111111","expiryYear":2090,"expiryMonth":1}}`

// While a person is logged in, a page of another port of the same machine does not get the login's cookie, and can neither frame, read
// nor send to the person's pages, though it knows where they are.
func TestAPersonsPagesAreClosedToPages(t *testing.T) {
	b := startBackend(t, noWallet)
	x, person := b.owing(), newTab(t)
	x.setPIN(t, thePIN)
	person.logIn(x)
	at := person.location()

	var mu sync.Mutex
	var cookies []string
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		cookies = append(cookies, r.Header.Get("Cookie"))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>prize</title><body>You have won.</body>")
	}))
	t.Cleanup(evil.Close)
	p := newTab(t)
	for _, path := range []string{"/", "/person/"} {
		p.open(evil.URL + path)
		p.says("You have won.")
	}
	mu.Lock()
	require.NotContains(t, strings.Join(cookies, " "), "posagent_person")
	mu.Unlock()
	for what, text := range p.attack(x.port, x.token) {
		require.Empty(t, text, what)
	}
	var got string
	p.do(chromedp.Evaluate(`(async () => {
		const form = "do=send-all&form=AAAAAAAAAAAAAAAAAAAAAAAAAA", head = {"Content-Type": "application/x-www-form-urlencoded"};
		let got = "";
		for (const ask of [{}, {mode: "no-cors", credentials: "include"}, {method: "POST", headers: head, body: form, credentials: "include"}, {method: "POST", mode: "no-cors", body: form, credentials: "include"}])
			got += await fetch("`+at+`", ask).then((r) => r.text()).catch(() => "");
		for (const tag of ["iframe", "embed", "object"]) {
			const e = document.createElement(tag);
			await new Promise((yes) => { e.onload = yes; e.onerror = yes; setTimeout(yes, 5000); e[tag === "object" ? "data" : "src"] = "`+at+`"; document.body.append(e); });
			try { got += e.contentDocument ? e.contentDocument.body.innerText : ""; } catch {}
		}
		return got;
	})()`, &got, awaited))
	require.NotContains(t, got, "EUR")
	p.settled(func() {
		p.do(chromedp.Evaluate(`const f = document.createElement("form"); f.method = "POST"; f.action = "`+at+`"; f.innerHTML = '<input name="do" value="send-all">'; document.body.append(f); f.submit()`, nil))
	})
	p.says("this port is closed to web pages")
	person.open(at)
	person.says("Send everything now")
	require.NotContains(t, person.text(), "operation.send")
	person.press("Log out")
}
