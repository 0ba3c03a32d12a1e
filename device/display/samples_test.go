package display_test

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/paint"
	"posagent/device/display/scene"
)

// sample is a scene that a customer may see.
type sample struct {
	name string
	view display.View
}

// The longest that must be shown whole.
const (
	longLabel   = "Nordische Zahlungsart für Firmenkunden B" // 40 characters
	wideLabel   = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW" // 40 of the widest, with no place to break
	largest     = "999,999,999.99 EUR"
	largestYen  = "999,999,999 JPY"
	longestPush = "Öffnen Sie die App, wählen Sie Bezahlen und richten Sie die Kamera auf den Code. Bestätigen Sie dann den Betrag. "
)

// samples is every kind of scene, and those that have the least room.
func samples(t testing.TB, language string) []sample {
	t.Helper()
	link := code(t, "https://pay.example/q/4f9c1d52-77aa-4b1e-9a3c")
	emv := code(t, strings.Repeat("000201010212", 25)) // 300 digits
	base := display.View{Title: "MobilePay", Amount: "12.50 EUR", Sandbox: true, Language: language}
	of := func(kind scene.Kind, change func(*display.View)) display.View {
		v := base
		v.Kind = kind
		if change != nil {
			change(&v)
		}
		return v
	}
	timed := func(v *display.View) {
		v.Code, v.From, v.Until = link, noon.Add(-13*time.Second), noon.Add(27*time.Second)
	}
	list := []sample{
		{"idle", of(scene.Idle, func(v *display.View) { v.Title, v.Amount, v.Sandbox = "Corner Shop", "", false })},
		{"choice", of(scene.Choice, func(v *display.View) {
			v.Title, v.Options = "Corner Shop", []string{"MobilePay", "Swish", "Vipps", "Blik"}
		})},
		{"prompt", of(scene.Prompt, func(v *display.View) {
			v.Entry = scene.Entry{Label: "Ihre Mobilnummer", Typed: "0170123", Min: 8, Max: 12}
		})},
		{"code", of(scene.Code, func(v *display.View) { timed(v); v.Background = "#5a78ff" })},
		{"waiting", of(scene.Waiting, nil)},
		{"moment", of(scene.Moment, nil)},
		{"starting", of(scene.Starting, func(v *display.View) { v.Title, v.Amount = "Corner Shop", "" })},
		{"paid", of(scene.Paid, nil)},
		{"not-paid", of(scene.NotPaid, func(v *display.View) { v.Reason = scene.Declined })},
		{"no-connection", of(scene.NoConnection, nil)},
		{"not-ready", of(scene.NotReady, func(v *display.View) {
			v.Title, v.Amount, v.Text = "Corner Shop", "", "The journal was cut: see posagent status"
		})},
		{"message", of(scene.Message, func(v *display.View) { v.Text = "Please ask the staff." })},

		{"code-longest", of(scene.Code, func(v *display.View) {
			timed(v)
			v.Title, v.Amount, v.PushText, v.Background = longLabel, largest, longestPush+longestPush, "#777777"
		})},
		{"code-wide", of(scene.Code, func(v *display.View) { timed(v); v.Title, v.Amount = wideLabel, largestYen })},
		{"code-emv", of(scene.Code, func(v *display.View) { timed(v); v.Code, v.Amount = emv, largest })},
		{"code-over", of(scene.Code, func(v *display.View) { timed(v); v.Until = noon })},
		{"choice-full", of(scene.Choice, func(v *display.View) {
			v.Amount = largest
			for i := range 9 {
				v.Options = append(v.Options, strings.Replace(longLabel, "Nordische", fmt.Sprintf("%d.ordische", i+1), 1))
			}
		})},
		{"prompt-masked", of(scene.Prompt, func(v *display.View) {
			v.Title, v.Amount = longLabel, largest
			v.Entry = scene.Entry{Label: longLabel, Typed: strings.Repeat("7", 30), Min: 4, Max: 255, Masked: true, Fault: scene.TooFew}
		})},
		{"waiting-longest", of(scene.Waiting, func(v *display.View) { v.Title, v.Amount = wideLabel, largest })},
		{"paid-longest", of(scene.Paid, func(v *display.View) { v.Title, v.Amount, v.Background = longLabel, largest, "#0b6b2b" })},
		{"not-ready-longest", of(scene.NotReady, func(v *display.View) { v.Text = longestPush + longestPush })},
	}
	return list
}

// panels are the geometries that every scene is placed on.
var panels = []layout.Geometry{
	{W: 320, H: 240}, {W: 240, H: 320, Rotate: 180}, {W: 480, H: 320}, {W: 800, H: 480}, {W: 800, H: 480, Rotate: 90}, {W: 1024, H: 600}, {W: 1280, H: 800, Rotate: 270}, {W: 1280, H: 800},
}

func named(g layout.Geometry) string {
	w, h := g.Upright()
	return fmt.Sprintf("%dx%d", w, h)
}

// TestScreens writes a picture of every scene on every panel in every language to the folder SCREENS, where it is set. Everywhere
// else it sees that each has its place.
func TestScreens(t *testing.T) {
	dir := os.Getenv("SCREENS")
	letters := glyph.NewSet()
	painter := paint.New(letters)
	for _, language := range scene.Languages() {
		for _, s := range samples(t, language) {
			for _, g := range panels {
				page, err := layout.Place(letters, s.view, noon, g, false)
				require.NoError(t, err, "%s %s %s", s.name, named(g), language)
				if dir == "" {
					continue
				}
				f, err := os.Create(filepath.Join(dir, fmt.Sprintf("display-%s-%s-%s.png", s.name, named(g), language)))
				require.NoError(t, err)
				require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, painter.Paint(page)))
				require.NoError(t, f.Close())
			}
		}
	}
}
