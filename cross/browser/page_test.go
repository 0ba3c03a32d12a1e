package browser

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// sold is a terminal that has sold for 12.50 EUR.
func (b *backend) sold() terminal {
	b.t.Helper()
	x := b.startTerminal()
	r := x.till(b.t)
	r.send("06 00 06 12 34 56 00 09 78")
	r.expect("80 00 00")
	r.expect("06 0F")
	r.send("80 00 00")
	r.send("06 01 07 04 00 00 00 00 12 50")
	r.expect("80 00 00")
	x.paid(b.t, b.url)
	r.expect("04 0F .. 27 00")
	r.send("80 00 00")
	r.expect("06 0F")
	r.send("80 00 00")
	require.EqualValues(b.t, 1250, b.merchantNet())
	return x
}

// at shows the page in a window of a width, in light or dark.
func (p *tab) at(width int64, scheme string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, 800), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// looks is a look at the page at each width, in light and in dark: it is not wider than the window, and leaves a picture.
func (p *tab) looks(name string, and func(width int64, scheme string)) {
	p.t.Helper()
	for _, width := range []int64{320, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			p.at(width, scheme)
			var wide int64
			p.do(chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide))
			require.LessOrEqual(p.t, wide, width, "%s moves sideways at %d px", name, width)
			if and != nil {
				and(width, scheme)
			}
			p.screen(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	p.do(emulation.ClearDeviceMetricsOverride(), emulation.SetEmulatedMedia())
}

// seenAtOnce says that time, amount and outcome of a sale need no moving sideways.
func (p *tab) seenAtOnce(width int64, _ string) {
	p.t.Helper()
	var right float64
	p.do(chromedp.Evaluate(`Math.max(...[...document.querySelectorAll(".sum, #sales ~ .wide tr:first-child > :nth-child(3)")].map((e) => e.getBoundingClientRect().right))`, &right))
	require.Greater(p.t, right, 0.0)
	require.LessOrEqual(p.t, right, float64(width), "at %d px", width)
}

// A person at the box sees READY; the token adds the day's sales, readable on the narrowest screen; leaving takes them away.
func TestTerminalPage(t *testing.T) {
	b := startBackend(t, noWallet)
	x, p := b.sold(), newTab(t)
	p.open(x.port + "/")
	p.says("READY")
	require.NotContains(t, p.text(), "12.50")
	p.looks("terminal-door", nil)
	p.fill("token", "a guess")
	p.press("Show")
	p.says("This is no token of this terminal.")
	p.looks("terminal-wrong", nil)
	p.fill("token", x.token)
	p.press("Show")
	p.says("12.50 EUR")
	p.says("approved")
	text := p.text()
	require.NotContains(t, text, x.token)
	require.Less(t, strings.Index(text, "sale.approved"), strings.Index(text, "terminal.start"), "the audit log, the newest line first")
	require.Contains(t, text, "sale.approved")
	require.Equal(t, x.port+"/", p.location())
	p.looks("terminal", p.seenAtOnce)
	p.do(network.Enable(), network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": "de-DE"}))
	p.open(x.port + "/")
	p.says("Verkäufe des Tages")
	p.says("12,50 EUR")
	p.looks("terminal-de", p.seenAtOnce)
	p.do(network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": "en"}))
	p.open(x.port + "/")
	var focus []string // by the keyboard alone
	for range 40 {
		var at string
		p.do(chromedp.KeyEvent("\t"), chromedp.Evaluate(`document.activeElement.tagName + " " + (document.activeElement.getAttribute("aria-label") || document.activeElement.innerText)`, &at))
		focus = append(focus, at)
	}
	require.Contains(t, focus, "A Sales of the day")
	require.Contains(t, focus, "DIV Newest sales")
	require.Contains(t, focus, "BUTTON Leave")
	p.press("Leave")
	p.says("Token of the terminal")
	p.open(x.port + "/")
	p.says("Token of the terminal")
	require.NotContains(t, p.text(), "12.50")
}

// Nothing serious keeps anybody from reading the page or using its form.
func TestTerminalPageIsFair(t *testing.T) {
	script := axe(t)
	if script == "" {
		return
	}
	b := startBackend(t, noWallet)
	x, p := b.sold(), newTab(t)
	for _, width := range []int64{320, 1280} {
		p.do(chromedp.EmulateViewport(width, 800))
		p.open(x.port + "/")
		p.fair(script, fmt.Sprintf("door at %d px", width))
		p.fill("token", "a guess")
		p.press("Show")
		p.fair(script, fmt.Sprintf("wrong token at %d px", width))
		p.fill("token", x.token)
		p.press("Show")
		p.says("12.50 EUR")
		p.fair(script, fmt.Sprintf("page at %d px", width))
		p.press("Leave")
	}
}

// While a person reads the page, a page of another port of the same machine, to which the browser sends the person's cookie too,
// can neither frame it, read it, nor lead to it; nor can a name that was made to mean this machine.
func TestTerminalPageIsClosedToPages(t *testing.T) {
	b := startBackend(t, noWallet)
	x, person := b.sold(), newTab(t)
	person.open(x.port + "/")
	person.fill("token", x.token)
	person.press("Show")
	person.says("12.50 EUR")

	p := prize(t)
	for what, text := range p.attack(x.port, x.token) {
		require.Empty(t, text, what)
	}
	var mu sync.Mutex
	answers := map[int64]int{}
	chromedp.ListenTarget(p.ctx, func(e any) {
		if got, ok := e.(*network.EventResponseReceived); ok && got.Response.URL == x.port+"/" {
			mu.Lock()
			answers[got.Response.Status]++
			mu.Unlock()
		}
	})
	var done bool
	p.do(network.Enable(), chromedp.Evaluate(`(async () => {
		for (const tag of ["iframe", "embed", "object"]) {
			const e = document.createElement(tag);
			await new Promise((yes) => { e.onload = yes; e.onerror = yes; setTimeout(yes, 5000); e[tag === "object" ? "data" : "src"] = "`+x.port+`/"; document.body.append(e); });
		}
		return true;
	})()`, &done, awaited))
	p.settled(func() { p.do(chromedp.Evaluate(`location.href = "`+x.port+`/"`, nil)) })
	p.says("this port is closed to web pages")
	mu.Lock()
	require.NotEmpty(t, answers)
	for status := range answers {
		require.EqualValues(t, http.StatusForbidden, status)
	}
	mu.Unlock()
	person.open(x.port + "/")
	person.says("12.50 EUR")
	person.press("Leave")
}
