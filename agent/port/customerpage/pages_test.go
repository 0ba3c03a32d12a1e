package customerpage_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/qr"
)

// The longest that must be shown whole.
const (
	longLabel   = "Nordische Zahlungsart für Firmenkunden B" // 40 characters
	wideLabel   = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW" // 40 of the widest, with no place to break
	largest     = "999,999,999.99 EUR"
	largestYen  = "999,999,999 JPY"
	longestPush = "Öffnen Sie die App, wählen Sie Bezahlen und richten Sie die Kamera auf den Code. Bestätigen Sie dann den Betrag. "
)

// sample is a scene that a customer may see.
type sample struct {
	name string
	view display.View
}

// samples is every kind of scene, and those that have the least room.
func samples(t *testing.T, now time.Time, language string) []sample {
	t.Helper()
	made := func(payload string) *qr.Code {
		c, err := qr.New(payload, qr.Options{})
		require.NoError(t, err)
		return c
	}
	link, emv := made("https://pay.example/q/4f9c1d52-77aa-4b1e-9a3c"), made(strings.Repeat("000201010212", 25))
	code := func(c *qr.Code, v display.View) display.View {
		v.Kind, v.Code, v.From, v.Until = scene.Code, c, now.Add(-time.Minute), now.Add(time.Hour)
		return v
	}
	var nine, more []string
	for i := range 9 {
		nine = append(nine, strings.Replace(longLabel, "Nordische", fmt.Sprintf("%d.ordische", i+1), 1))
		more = append(more, fmt.Sprintf("Wallet %d", i+1))
	}
	more[4] = "" // no key of that number takes anything
	turning := of
	turning.Pages = 2
	list := []sample{
		{"idle", display.View{Kind: scene.Idle, Title: "Corner Shop"}},
		{"choice", display.View{Kind: scene.Choice, Title: "Corner Shop", Amount: "12.50 EUR", Options: []string{"MobilePay", "Swish", "Vipps", "Blik"}}},
		{"choice-full", display.View{Kind: scene.Choice, Amount: largest, Options: nine}},
		{"choice-pages", display.View{Kind: scene.Choice, Amount: largest, Options: more, Text: "1/2", Of: turning}},
		{"prompt", display.View{Kind: scene.Prompt, Title: "MobilePay", Amount: "12.50 EUR", Entry: scene.Entry{Label: "Ihre Mobilnummer", Typed: "0170123", Min: 8, Max: 12}}},
		{"prompt-masked", display.View{Kind: scene.Prompt, Title: longLabel, Amount: largest,
			Entry: scene.Entry{Label: longLabel, Typed: strings.Repeat("7", 30), Min: 4, Max: 255, Masked: true, Fault: scene.TooFew}}},
		{"code", code(link, display.View{Title: "MobilePay", Amount: "12.50 EUR", Background: "#5a78ff"})},
		{"code-longest", code(link, display.View{Title: longLabel, Amount: largest, PushText: longestPush + longestPush, Background: "#777777"})},
		{"code-wide", code(link, display.View{Title: wideLabel, Amount: largestYen})},
		{"code-emv", code(emv, display.View{Title: "MobilePay", Amount: largest})},
		{"moment", display.View{Kind: scene.Moment, Title: "MobilePay", Amount: "12.50 EUR"}},
		{"code-over", display.View{Kind: scene.Code, Title: "MobilePay", Amount: "12.50 EUR"}},
		{"waiting", display.View{Kind: scene.Waiting, Title: "MobilePay", Amount: "12.50 EUR"}},
		{"waiting-longest", display.View{Kind: scene.Waiting, Title: wideLabel, Amount: largest}},
		{"paid", display.View{Kind: scene.Paid, Title: longLabel, Amount: largest, Background: "#0b6b2b"}},
		{"not-paid", display.View{Kind: scene.NotPaid, Title: "MobilePay", Amount: "12.50 EUR", Reason: scene.Declined}},
		{"no-connection", display.View{Kind: scene.NoConnection, Title: "MobilePay", Amount: "12.50 EUR"}},
		{"not-ready", display.View{Kind: scene.NotReady, Text: longestPush + longestPush}},
		{"starting", display.View{Kind: scene.Starting, Title: "Corner Shop"}},
		{"message", display.View{Title: "MobilePay", Amount: "12.50 EUR", Text: "Please ask the staff."}},
	}
	for i := range list {
		v := &list[i].view
		if v.Sandbox, v.Language = v.Kind != scene.Idle, language; v.Of.Sale == "" {
			v.Of = of
		}
	}
	return list
}

// written is a page for the tests in a browser.
type written struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	HTML     string `json:"html"`
	Policy   string `json:"policy"`
	Payload  string `json:"payload,omitempty"` // of its code
}

// pair is the ground of a page and its ink.
type pair struct {
	Ground string `json:"ground"`
	Ink    string `json:"ink"`
}

var colors = regexp.MustCompile(`html\{background:(#[0-9a-f]{6});color:(#[0-9a-f]{6})\}`)

// TestPages writes the page of every scene in every language, and the colours of 58 methods, to the folder PAGES, where it is set: the
// tests in a browser look at them. Everywhere else it sees that each page shows its scene.
func TestPages(t *testing.T) {
	x := start(true)
	var pages []written
	for _, language := range scene.Languages() {
		for _, s := range samples(t, x.now, language) {
			require.NoError(t, x.Show(s.view))
			w := x.get()
			p := written{Name: s.name, Language: language, HTML: w.Body.String(), Policy: w.Header().Get("Content-Security-Policy")}
			require.Contains(t, p.HTML, s.view.Amount, s.name)
			require.Contains(t, p.HTML, `<html lang="`+language+`">`, s.name)
			require.Equal(t, s.view.Code != nil, strings.Contains(p.HTML, `<svg `), s.name)
			if s.view.Code != nil {
				p.Payload = s.view.Code.Payload()
			}
			pages = append(pages, p)
		}
	}
	rnd := rand.New(rand.NewPCG(4, 5))
	grounds := []string{"#777777", "#767676", "#757575", "#0b6b2b", "#a81c1c", "#ffff00", "#ffffff", "#000000"}
	for range 50 {
		grounds = append(grounds, fmt.Sprintf("#%06x", rnd.IntN(1<<24)))
	}
	var pairs []pair
	for _, ground := range grounds {
		require.NoError(t, x.Show(display.View{Kind: scene.Paid, Background: ground}))
		found := colors.FindStringSubmatch(x.get().Body.String())
		require.Len(t, found, 3)
		require.Equal(t, ground, found[1])
		pairs = append(pairs, pair{found[1], found[2]})
	}
	dir := os.Getenv("PAGES")
	if dir == "" {
		return
	}
	data, err := json.Marshal(map[string]any{"pages": pages, "grounds": pairs})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pages.json"), data, 0o600))
}
