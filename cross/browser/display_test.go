package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// kiosk is a terminal at which the customer chooses on the page, and a register of it. byHand leaves out the methods that need no
// number: the first of them begins by itself where the customer touches nothing for 15 s.
func (b *backend) kiosk(byHand bool) (terminal, *till) {
	b.t.Helper()
	exclude := "10, 20, 30"
	if byHand {
		exclude += ", 50, 60, 70"
	}
	x := b.startTerminal("[display]\n", "patience = \"10m\"\n[methods]\nexclude = ["+exclude+"]\n[checkout]\nchoose = \"screen\"\n[keypad]\npage = true\n[display]\npage = true\n")
	r := x.till(b.t)
	r.send("06 00 06 12 34 56 00 09 78") // a register that prints nothing
	r.expect("80 00 00")
	r.expect("06 0F")
	r.send("80 00 00")
	return x, r
}

// The methods of a kiosk, as its page says them.
const (
	toChoose  = "Please choose how to pay"
	twint     = "5 TWINT" // begins by itself
	bluecode  = "6 Bluecode"
	giftCard  = "2 Gift card"
	giftAsks  = "Gift card number"
	confirmIt = "Please confirm in your app"
)

// sale asks for 12.50 EUR, and waits until the page asks the customer.
func (r *till) sale(p *tab) {
	r.t.Helper()
	r.send("06 01 07 04 00 00 00 00 12 50")
	r.expect("80 00 00")
	p.says(toChoose)
	p.says("12.50 EUR")
}

// chosen asks for sales until the customer has chosen a method that needs no number, in time.
func (r *till) chosen(p *tab, label, then string) {
	r.t.Helper()
	for {
		r.sale(p)
		p.ask(page.BringToFront())
		p.ask(chromedp.Click(fmt.Sprintf(`//button[starts-with(normalize-space(.), %q)]`, label), chromedp.BySearch))
		p.until(`document.querySelector(".qr svg")`)
		if strings.Contains(p.text(), then) {
			return
		}
		p.tap("Cancel")
		r.aborted()
	}
}

// approved and aborted are how the sale ends at the register.
func (r *till) approved() {
	r.t.Helper()
	r.expect("04 0F .. 27 00")
	r.send("80 00 00")
	r.expect("06 0F")
	r.send("80 00 00")
}

func (r *till) aborted() {
	r.t.Helper()
	r.expect("04 0F .. 27 6C")
	r.send("80 00 00")
	r.expect("06 1E")
	r.send("80 00 00")
}

// tap presses a key of the page as a finger does. A tab behind another one takes no taps.
func (p *tab) tap(label string) {
	p.t.Helper()
	button := fmt.Sprintf(`//button[starts-with(normalize-space(.), %q)]`, label)
	p.do(page.BringToFront(), chromedp.WaitVisible(button, chromedp.BySearch), chromedp.Click(button, chromedp.BySearch))
}

// touch taps a key until the page says what follows. A page without a script may load itself again between the search for the key and
// the tap on it. A second tap on the same page does nothing.
func (p *tab) touch(label, then string) {
	p.t.Helper()
	button := fmt.Sprintf(`//button[starts-with(normalize-space(.), %q)]`, label)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var tapped time.Time
	for deadline := time.Now().Add(patience()); time.Now().Before(deadline); <-tick.C {
		if strings.Contains(p.text(), then) {
			return
		}
		if time.Since(tapped) > 3*time.Second {
			tapped = time.Now()
			p.ask(chromedp.Click(button, chromedp.BySearch, chromedp.AtLeast(0))) // the page of now may have no such key
		}
	}
	p.t.Fatalf("%q does not lead to %q\n%s", label, then, p.text())
}

// word is the word that the page's form has now.
func (p *tab) word() (word string) {
	p.t.Helper()
	p.do(chromedp.Evaluate(`document.querySelector('input[name="form"]').value`, &word))
	require.Regexp(p.t, `^[A-Z2-7]{26}$`, word)
	return word
}

// payload is what the backend put into the code of the sale that runs.
func (x terminal) payload(b *backend) string {
	b.t.Helper()
	var list struct {
		Sales []struct{ Reference string }
	}
	data, err := exec.Command(built.posagent, "sale", "list", "--json", "--config", x.file, "--state", x.dir).Output()
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(data, &list))
	require.NotEmpty(b.t, list.Sales)
	var status struct{ QRCodePayload string }
	b.call("GET", "/ms/aapay/v2/transaction/"+list.Sales[0].Reference+"/status", nil, &status, 200)
	require.NotEmpty(b.t, status.QRCodePayload)
	return status.QRCodePayload
}

// A customer chooses by tapping, scans exactly what the backend gave, sees the seconds go, and pays.
func TestDisplaySells(t *testing.T) {
	b := startBackend(t, noWallet)
	x, r := b.kiosk(false)
	p := newTab(t)
	p.do(chromedp.EmulateViewport(320, 800))
	p.open(x.port + "/display")
	p.says("Ready")
	p.says("Corner Shop")
	said := `window.said = []; new MutationObserver(() => said.push(document.getElementById("say").textContent)).observe(document.getElementById("say"), {childList: true, characterData: true, subtree: true})`
	p.do(chromedp.Evaluate(said+"; true", nil))

	r.chosen(p, bluecode, "Scan with your bank's app") // an EMV code
	p.until(`document.getElementById("left").textContent.match(/^[0-9]+ s$/)`)
	p.screen("display-live-code")
	if codes, ran := scanned(t, p.picture(filepath.Join(t.TempDir(), "code.png"))); ran {
		require.Equal(t, []string{x.payload(b)}, codes)
	}
	var left string
	p.do(chromedp.Evaluate(`document.getElementById("left").textContent`, &left))
	p.until(fmt.Sprintf(`document.getElementById("left").textContent !== %q`, left)) // it counts down
	x.paid(t, b.url)
	r.approved()
	p.until(`said.some((s) => s.includes("Paid. Thank you."))`)
	require.EqualValues(t, 1250, b.merchantNet())

	r.sale(p)
	p.touch(twint, "Open TWINT and scan")
	payload := x.payload(b)
	if codes, ran := scanned(t, p.picture(filepath.Join(t.TempDir(), "code.png"))); ran {
		require.Equal(t, []string{payload}, codes)
	}
	wallet := newTab(t)
	wallet.open(payload)
	wallet.says("12.50 EUR")
	wallet.press("Pay")
	r.approved() // this wallet's money moves with its own delay
}

// A customer types a number and confirms; types another and cancels; cancels the choice.
func TestDisplayTakesANumber(t *testing.T) {
	b := startBackend(t, noWallet)
	x, r := b.kiosk(true)
	p := newTab(t)
	p.do(chromedp.EmulateViewport(1280, 800))
	p.open(x.port + "/display")
	p.says("Ready")
	r.sale(p)
	p.tap(giftCard)
	p.until(`document.getElementById("say").textContent === "Gift card. 12.50 EUR. Gift card number"`)
	for i, key := range strings.Split("1234567", "") {
		p.tap(key)
		p.says("1234567"[:i+1] + "_")
	}
	before := p.word()
	p.tap("Confirm") // the eighth digit is missing
	p.until(fmt.Sprintf(`document.querySelector('input[name="form"]').value !== %q`, before))
	p.tap("Erase")
	p.says("123456_")
	for i, key := range strings.Split("780", "") {
		p.tap(key)
		p.says("123456780"[:7+i] + "_")
	}
	p.tap("Confirm")
	p.says(confirmIt)
	x.paid(t, b.url)
	r.approved()

	r.sale(p)
	p.tap(giftCard)
	p.says(giftAsks)
	p.tap("4")
	p.says("4_")
	p.tap("Cancel")
	r.aborted()
	r.sale(p)
	p.tap("Cancel")
	r.aborted()
	require.EqualValues(t, 1250, b.merchantNet(), "what was cancelled moved no money")
}

// The same without a line of script, but for the countdown: the page loads itself, and its keys are a form.
func TestDisplayWithoutScript(t *testing.T) {
	b := startBackend(t, noWallet)
	x, r := b.kiosk(false)
	p := newTab(t)
	p.do(emulation.SetScriptExecutionDisabled(true), chromedp.EmulateViewport(320, 800))
	p.open(x.port + "/display")
	p.says("Ready")
	r.sale(p) // by itself
	p.touch(twint, "Open TWINT and scan")
	p.until(`document.querySelector(".qr svg") && document.getElementById("left").textContent === ""`)
	p.says("valid")
	p.screen("display-without-script")
	if codes, ran := scanned(t, p.picture(filepath.Join(t.TempDir(), "code.png"))); ran {
		require.Equal(t, []string{x.payload(b)}, codes)
	}
	x.paid(t, b.url)
	r.approved()
	p.says("Ready")
}

// Nor does the pad need one.
func TestDisplayTakesANumberWithoutScript(t *testing.T) {
	b := startBackend(t, noWallet)
	x, r := b.kiosk(true)
	p := newTab(t)
	p.do(emulation.SetScriptExecutionDisabled(true))
	p.open(x.port + "/display")
	r.sale(p)
	p.touch(giftCard, giftAsks)
	for i, key := range strings.Split("12345678", "") {
		p.touch(key, "12345678"[:i+1]+"_")
	}
	p.touch("Confirm", confirmIt)
	p.touch("Cancel", "Ready") // after "Cancelled.", which the page that is loaded next may miss
	r.aborted()
	require.Zero(t, b.merchantNet())
}

// The keyboard alone: each key is reached in the order in which it stands, is seen to be, and acts; digits, Enter, Backspace and Escape
// are the keypad's.
func TestDisplayByKeyboard(t *testing.T) {
	b := startBackend(t, noWallet)
	x, r := b.kiosk(true)
	p := newTab(t)
	p.open(x.port + "/display")
	p.says("Ready")
	order := func(want ...string) {
		t.Helper()
		for _, id := range want {
			var at string
			var ring float64
			p.do(chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`document.activeElement.id`, &at),
				chromedp.Evaluate(`document.activeElement.matches(":focus-visible") ? parseFloat(getComputedStyle(document.activeElement).outlineWidth) : 0`, &ring))
			require.Equal(t, "k-"+id, at)
			require.GreaterOrEqual(t, ring, 3.0, at)
		}
	}
	r.sale(p)
	order("1", "2", "cancel")
	p.do(chromedp.Focus("#k-2", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.says(giftAsks)
	p.until(`document.activeElement === document.body`) // Enter is no digit now
	order("1", "2", "3", "4", "5", "6", "7", "8", "9", "correct", "0", "cancel", "confirm")
	p.screen("display-focus")
	p.do(chromedp.Focus("#k-7", chromedp.ByQuery), chromedp.KeyEvent(" "))
	p.says("7_")
	p.until(`document.activeElement.id === "k-7"`) // where it was
	for i, key := range strings.Split("12345678", "") {
		p.do(chromedp.KeyEvent(key))
		p.says("712345678"[:i+2] + "_")
	}
	p.do(chromedp.KeyEvent(kb.Backspace))
	p.says("71234567_")
	p.do(chromedp.Focus("#k-confirm", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.says(confirmIt)
	order("cancel")
	x.paid(t, b.url)
	r.approved()

	r.sale(p)
	p.do(chromedp.KeyEvent("2"))
	p.says(giftAsks)
	p.do(chromedp.KeyEvent(kb.Escape))
	r.aborted()
	require.EqualValues(t, 1250, b.merchantNet())
}

// reading is one node of what a screen reader is given.
type reading struct {
	Role struct {
		Value string `json:"value"`
	} `json:"role"`
	Name struct {
		Value string `json:"value"`
	} `json:"name"`
	Properties []struct {
		Name  string `json:"name"`
		Value struct {
			Value any `json:"value"`
		} `json:"value"`
	} `json:"properties"`
}

// A screen reader is told each scene by a live region, without the seconds that are left, and that the terminal is gone. axe-core finds
// nothing serious on the way.
func TestDisplayIsRead(t *testing.T) {
	script := axe(t)
	b := startBackend(t, noWallet)
	x, r := b.kiosk(false)
	const unseen = "! no browser shows the customer's page"
	status := func() string {
		out, _ := exec.Command(built.posagent, "status", "--config", x.file, "--state", x.dir).Output() // the first line says it, not the exit
		return string(out)
	}
	require.Eventually(t, func() bool { return strings.Contains(status(), unseen+" "+x.port+"/display since ") }, patience(), 50*time.Millisecond)
	p := newTab(t)
	p.open(x.port + "/display")
	require.Eventually(t, func() bool { return !strings.Contains(status(), unseen) }, patience(), 50*time.Millisecond)
	says := func(want string) {
		t.Helper()
		p.until(fmt.Sprintf(`document.getElementById("say").textContent === %q`, want))
		var tree struct {
			Nodes []reading `json:"nodes"`
		}
		p.do(chromedp.ActionFunc(func(ctx context.Context) error { return cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree) }))
		live, told := "", false
		for _, n := range tree.Nodes {
			for _, prop := range n.Properties {
				if n.Role.Value == "status" && prop.Name == "live" {
					live, _ = prop.Value.Value.(string)
				}
			}
			told = told || n.Role.Value == "StaticText" && n.Name.Value == want
		}
		require.Equal(t, "polite", live)
		require.True(t, told, want)
		if script != "" {
			p.fair(script, want)
		}
	}
	says("Corner Shop. Ready")
	r.sale(p)
	says("12.50 EUR. " + toChoose)
	p.touch(twint, "Open TWINT and scan")
	says("TWINT. 12.50 EUR. Open TWINT and scan")
	var told []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll("[role], [aria-live]")].map((e) => e.getAttribute("role") + " " + e.id)`, &told))
	require.ElementsMatch(t, []string{"img ", "status say"}, told, "the seconds are not told")
	p.tap("Cancel")
	r.aborted()
	x.stop()
	says("Not ready. No payment is possible now.")
}

// What another page, another name of the machine, a frame, a GET and a form of an earlier scene get: nothing.
func TestDisplayIsClosedToPages(t *testing.T) {
	b := startBackend(t, noWallet)
	x, r := b.kiosk(true)
	customer := newTab(t)
	customer.open(x.port + "/display")
	customer.says("Ready")
	r.sale(customer)
	old := customer.word()
	customer.tap(giftCard)
	customer.says(giftAsks)
	word := customer.word() // the worst case: an attacker knows it
	require.NotEqual(t, old, word)

	steal := func(p *tab, port string) (got map[string]string) {
		args, err := json.Marshal([]string{port, word})
		require.NoError(t, err)
		p.do(chromedp.Evaluate(stealing+"(..."+string(args)+")", &got, awaited))
		require.Len(t, got, 2*7+1+2*4)
		return got
	}
	p := prize(t)
	var mu sync.Mutex
	answers := map[int64]int{}
	chromedp.ListenTarget(p.ctx, func(e any) {
		if got, ok := e.(*network.EventResponseReceived); ok && strings.HasPrefix(got.Response.URL, x.port+"/display") {
			mu.Lock()
			answers[got.Response.Status]++
			mu.Unlock()
		}
	})
	p.do(network.Enable())
	for what, text := range steal(p, x.port) {
		require.Empty(t, text, what)
	}
	mu.Lock()
	require.Contains(t, answers, int64(http.StatusForbidden))
	require.NotContains(t, answers, int64(http.StatusOK))
	mu.Unlock()
	p.settled(func() { p.do(chromedp.Evaluate(`location.href = "`+x.port+`/display"`, nil)) })
	p.says("this port is closed to web pages")
	other := strings.Replace(x.port, "127.0.0.1", rebound, 1)
	p.open(other + "/display")
	p.says("this port answers to its own address only")
	for what, text := range steal(p, other) {
		if text != "" { // the page may read its own frame, which holds the refusal
			require.Contains(t, text, "this port answers to its own address only", what)
		}
	}
	var framed bool // nor does a page of the terminal's own frame it
	door := newTab(t)
	door.open(x.port + "/")
	door.do(chromedp.Evaluate(`new Promise((yes) => {
		const f = document.createElement("iframe");
		f.onload = () => { try { yes(f.contentDocument.body.innerText.includes("12.50")); } catch { yes(false); } };
		f.onerror = () => yes(false);
		setTimeout(() => yes(false), 10000);
		f.src = "/display";
		document.body.append(f);
	})`, &framed, awaited))
	require.False(t, framed)

	own := newTab(t) // by the page's own script, in another window
	own.open(x.port + "/display?form=" + word + "&key=4")
	own.says(giftAsks)
	var status []int
	own.do(chromedp.Evaluate(`(async (port, old, word) => {
		const form = (f, k) => ({method: "POST", body: new URLSearchParams({form: f, key: k})});
		return [
			(await fetch("/display?form=" + word + "&key=cancel")).status,
			(await fetch("/display", form(old, "cancel"))).status,
			(await fetch("/display", form("", "cancel"))).status,
			(await fetch("/display", form(word, "up"))).status,
			(await fetch("/display", {method: "PUT", body: "form=" + word + "&key=4"})).status,
			(await fetch("/display/events", form(word, "4"))).status,
		];
	})("`+x.port+`", "`+old+`", "`+word+`")`, &status, awaited))
	require.Equal(t, []int{200, 200, 200, 200}, status[:4])
	for _, s := range status[4:] {
		require.GreaterOrEqual(t, s, 400)
	}
	require.Equal(t, word, customer.word(), "nothing was tapped")
	require.NotContains(t, customer.text(), "4_")
	customer.tap("4")
	customer.says("4_")
	customer.tap("Cancel")
	r.aborted()
	require.Empty(t, b.books(), "nothing was paid")
}

// stealing is what a page does that wants to read the customer's screen or press its keys: each gives what it got, "" = nothing.
const stealing = `(async (port, word) => {
	const got = {}, body = "form=" + word + "&key=4", kind = "application/x-www-form-urlencoded";
	const patient = (p) => Promise.race([p, new Promise((yes) => setTimeout(() => yes(""), 3000))]);
	const read = (p) => patient(p.then((r) => r.text().then((t) => r.ok ? t : "")).catch(() => ""));
	const tag = (name, attr, src) => patient(new Promise((yes) => { const e = document.createElement(name); e.onload = () => yes("loaded"); e.onerror = () => yes(""); e[attr] = src; document.body.append(e); }));
	for (const path of ["/display", "/display/events"]) {
		got["read " + path] = await read(fetch(port + path));
		got["read blindly " + path] = await read(fetch(port + path, {mode: "no-cors"}));
		got["read with cookies " + path] = await read(fetch(port + path, {credentials: "include"}));
		got["by query " + path] = await read(fetch(port + path + "?" + body, {mode: "no-cors"}));
		got["image " + path] = await tag("img", "src", port + path);
		got["script " + path] = await tag("script", "src", port + path);
		got["frame " + path] = await patient(new Promise((yes) => {
			const f = document.createElement("iframe");
			f.onload = () => { try { yes(f.contentDocument.body.innerText); } catch { yes(""); } };
			f.src = port + path;
			document.body.append(f);
		}));
		got["post " + path] = await read(fetch(port + path, {method: "POST", headers: {"Content-Type": kind}, body: body}));
		got["post blindly " + path] = await read(fetch(port + path, {method: "POST", mode: "no-cors", headers: {"Content-Type": kind}, body: body}));
		navigator.sendBeacon(port + path, new Blob([body], {type: kind}));
		const frame = document.createElement("iframe"); frame.name = "f" + path; document.body.append(frame);
		const form = document.createElement("form"); form.method = "POST"; form.action = port + path; form.target = frame.name;
		for (const [name, value] of [["form", word], ["key", "4"]]) { const i = document.createElement("input"); i.name = name; i.value = value; form.append(i); }
		document.body.append(form);
		got["form " + path] = await patient(new Promise((yes) => { frame.onload = () => { try { yes(frame.contentDocument.body.innerText); } catch { yes(""); } }; form.submit(); }));
		got["socket " + path] = await patient(new Promise((yes) => { const w = new WebSocket(port.replace("http", "ws") + path); w.onopen = () => yes("open"); w.onerror = () => yes(""); }));
	}
	got["stream"] = await patient(new Promise((yes) => { const e = new EventSource(port + "/display/events"); e.onopen = () => yes("open"); e.onerror = () => { e.close(); yes(""); }; }));
	return got;
})`
