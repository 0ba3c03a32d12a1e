package display_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/display"
	"posagent/device/display/framebuffer"
	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/paint"
	"posagent/device/display/scene"
	"posagent/device/qr"
)

// each places every sample on every panel in three languages, the longest words among them.
func each(t *testing.T, check func(name string, s sample, page *layout.Page, letters *glyph.Set)) {
	t.Helper()
	letters := glyph.NewSet()
	for _, language := range []string{"de", "fi", "pl"} {
		for _, s := range samples(t, language) {
			for _, g := range panels {
				page, err := layout.Place(letters, s.view, noon, g, false)
				name := s.name + " " + named(g) + " " + language
				require.NoError(t, err, name)
				w, h := g.Upright()
				require.Equal(t, image.Pt(w, h), image.Pt(page.W, page.H), name)
				check(name, s, page, letters)
			}
		}
	}
}

// TestNothingOverlaps: elements lie on the screen and beside each other; a rectangle may hold others whole.
func TestNothingOverlaps(t *testing.T) {
	each(t, func(name string, _ sample, page *layout.Page, _ *glyph.Set) {
		for i, e := range page.Elements {
			require.False(t, e.Box.Empty(), name)
			require.True(t, e.Box.In(image.Rect(0, 0, page.W, page.H)), "%s: %v is not on the screen", name, e.Box)
			for _, below := range page.Elements[:i] {
				if !e.Box.Overlaps(below.Box) {
					continue
				}
				require.True(t, below.Kind == layout.Rect && e.Box.In(below.Box), "%s: %q %v on %q %v", name, e.Text, e.Box, below.Text, below.Box)
			}
		}
	})
}

// TestLettersFitTheirBox: every letter is drawn whole, by the dots that it has.
func TestLettersFitTheirBox(t *testing.T) {
	each(t, func(name string, _ sample, page *layout.Page, letters *glyph.Set) {
		for _, e := range page.Elements {
			if e.Kind != layout.Text {
				continue
			}
			require.NotEmpty(t, e.Text, name)
			letters.Each(e.Text, e.Style, e.Box.Min.X, func(r rune, x int) {
				ink := letters.Mask(r, e.Style).Rect.Add(image.Pt(x, e.Box.Min.Y+glyph.Ascent(e.Style.Size)))
				require.True(t, ink.In(e.Box), "%s: %q of %q", name, r, e.Text)
			})
		}
	})
}

// TestTheAmountIsTheLargestText: and can be read from a metre, whole and in one piece.
func TestTheAmountIsTheLargestText(t *testing.T) {
	each(t, func(name string, s sample, page *layout.Page, _ *glyph.Set) {
		if s.view.Amount == "" {
			return
		}
		number, currency, _ := strings.Cut(s.view.Amount, " ")
		size, others, said := 0, 0, []string{}
		for _, e := range page.Elements {
			switch {
			case e.Kind != layout.Text:
			case e.Text == s.view.Amount || e.Text == number || e.Text == currency:
				size = e.Style.Size
				said = append(said, e.Text)
			default:
				others = max(others, e.Style.Size)
			}
		}
		require.Equal(t, s.view.Amount, strings.Join(said, " "), name)
		require.Greater(t, size, others, name)
		require.GreaterOrEqual(t, 100*size, 9*min(page.W, page.H), "%s: an em of %d", name, size)
	})
}

// TestNothingIsCutOfALabel: 40 characters stand on the smallest screen, whatever they are.
func TestNothingIsCutOfALabel(t *testing.T) {
	each(t, func(name string, s sample, page *layout.Page, _ *glyph.Set) {
		all := ""
		for _, e := range page.Elements {
			all += e.Text
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if s.view.Kind != scene.Choice { // its methods are what must be read
			require.Contains(t, squeeze(all), squeeze(s.view.Title), name)
		}
		for i, o := range s.view.Options {
			require.Contains(t, squeeze(all), squeeze(fmt.Sprint(i+1, o)), name)
		}
		require.Equal(t, s.view.Sandbox, strings.Contains(all, "SANDBOX"), name)
		require.NotContains(t, all, "777", "nothing of a masked value")
	})
}

// luminance is WCAG's, as its own text has it.
func luminance(c color.RGBA) float64 {
	part := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.03928 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

// TestTextIsReadOnAnyColour: a backend may name any colour for its method.
func TestTextIsReadOnAnyColour(t *testing.T) {
	letters := glyph.NewSet()
	rnd := rand.New(rand.NewPCG(4, 5))
	grounds := []string{"#777777", "#767676", "#757575", "#0b6b2b", "#a81c1c", "#ff0", "#fff", "#000"}
	for range 50 {
		grounds = append(grounds, fmt.Sprintf("#%06x", rnd.IntN(1<<24)))
	}
	for _, ground := range grounds {
		for _, s := range samples(t, "en") {
			s.view.Background = ground
			page, err := layout.Place(letters, s.view, noon, layout.Geometry{W: 480, H: 320}, false)
			require.NoError(t, err)
			for i, e := range page.Elements {
				under := page.Ground
				for _, below := range page.Elements[:i] {
					if e.Box.In(below.Box) {
						under = below.Ink
					}
				}
				switch e.Kind {
				case layout.Text:
					a, b := luminance(e.Ink), luminance(under)
					require.GreaterOrEqual(t, (max(a, b)+0.05)/(min(a, b)+0.05), 4.5, "%q of %s on %v (%s)", e.Text, s.name, under, ground)
				case layout.Code:
					require.Equal(t, e.Module*e.Code.Size(), e.Box.Dx())
				}
			}
		}
	}
}

// TestCodesAreReadByAnIndependentDecoder reads the codes of painted screens back, on each panel and in each language.
func TestCodesAreReadByAnIndependentDecoder(t *testing.T) {
	zbarimg := need.Tool(t, "zbarimg")
	letters := glyph.NewSet()
	painter := paint.New(letters)
	dir, read := t.TempDir(), 0
	for _, language := range scene.Languages() {
		args, want := []string{"-q", "--raw"}, []string{} // a code that is over is not read: the list would be longer
		for _, s := range samples(t, language) {
			if s.view.Code == nil {
				continue
			}
			for _, g := range panels {
				page, err := layout.Place(letters, s.view, noon, g, false)
				require.NoError(t, err)
				var b bytes.Buffer
				require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, painter.Paint(page)))
				path := filepath.Join(dir, fmt.Sprint(len(args), ".png"))
				require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
				args = append(args, path)
				if s.name != "code-over" {
					want = append(want, s.view.Code.Payload())
				}
			}
		}
		out, err := exec.CommandContext(t.Context(), zbarimg, args...).Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 4 { // a picture without a code
			err = nil
		}
		require.NoError(t, err, language)
		require.Equal(t, want, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), language)
		read += len(want)
	}
	require.Equal(t, 10*4*len(panels), read)
}

// TestTheFramebufferHasTheDotsOfThePNG: files that stand for devices, of both kinds of pixels and turned in four ways, are read back dot
// by dot for every scene. Where PICTURES names a folder, the pictures are kept there; those that are there already, as another
// machine's program has made them, are the ones to compare with.
func TestTheFramebufferHasTheDotsOfThePNG(t *testing.T) {
	const w, h = 320, 240
	dir := os.Getenv("PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	codes := 0
	for _, s := range samples(t, "de") {
		v := s.view
		if v.Code != nil && v.Until.After(noon) {
			v.From, v.Until = time.Time{}, time.Time{} // a picture has no countdown
			codes++
		}
		want := pictured(t, filepath.Join(dir, s.name+".png"), v, w, h)
		require.Equal(t, image.Rect(0, 0, w, h), want.Bounds())
		colors := map[color.RGBA]bool{}
		for x := range w * h {
			colors[want.RGBAAt(x%w, x/w)] = true
		}
		require.Greater(t, len(colors), 20, "%s: a picture with soft edges", s.name)
		for name, format := range framebuffer.Formats() {
			for _, rotate := range []int{0, 90, 180, 270} {
				panelW, panelH := w, h
				if rotate%180 != 0 {
					panelW, panelH = h, w
				}
				size := format.Bits / 8
				stride := panelW*size + 10
				path := filepath.Join(t.TempDir(), "fb")
				fb := display.NewFramebuffer(framebuffer.Config{Path: path, File: framebuffer.Mode{W: panelW, H: panelH, Stride: stride, Format: format}, Rotate: rotate})
				fb.Now = at(noon)
				require.NoError(t, fb.Show(v))
				got, err := os.ReadFile(path)
				require.NoError(t, err)
				for x := range w {
					for y := range h {
						atX, atY := x, y // on the panel
						switch rotate {
						case 90: // the picture's top is at the panel's right
							atX, atY = h-1-y, x
						case 180:
							atX, atY = w-1-x, h-1-y
						case 270:
							atX, atY = y, w-1-x
						}
						dot := got[atY*stride+atX*size:][:size]
						if c := want.RGBAAt(x, y); !slices.Equal(dot, pixel(c, name)) {
							t.Fatalf("%s on %s turned by %d: %x at %d, %d for %v", s.name, name, rotate, dot, x, y, c)
						}
					}
				}
			}
		}
	}
	require.Equal(t, 4, codes)
}

// pixel is a dot in memory: blue first, each colour the nearest of its bits.
func pixel(c color.RGBA, format string) []byte {
	if format == "xrgb8888" {
		return []byte{c.B, c.G, c.R, 0}
	}
	of := func(v uint8, most float64) int { return int(math.Round(float64(v) / 255 * most)) }
	p := of(c.R, 31)<<11 | of(c.G, 63)<<5 | of(c.B, 31)
	return []byte{byte(p), byte(p >> 8)}
}

// pictured is the picture of a view in a PNG, which is made unless it is there.
func pictured(t *testing.T, path string, v display.View, w, h int) *image.RGBA {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		file, err := display.NewFile(path)
		require.NoError(t, err)
		file.Now, file.Width, file.Height = at(noon), w, h
		require.NoError(t, file.Show(v))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	pic, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	out := image.NewRGBA(pic.Bounds())
	draw.Draw(out, out.Rect, pic, image.Point{}, draw.Src)
	return out
}

// BenchmarkFrame is one refresh of a countdown: placed, painted, and written where it changed.
func BenchmarkFrame(b *testing.B) {
	for _, g := range panels {
		letters := glyph.NewSet()
		painter := paint.New(letters)
		v := samples(b, "de")[3].view
		page, err := layout.Place(letters, v, noon, g, false)
		require.NoError(b, err)
		b.Run("place-"+named(g), func(b *testing.B) {
			for b.Loop() {
				_, _ = layout.Place(letters, v, noon, g, false)
			}
		})
		b.Run("paint-"+named(g), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				painter.Paint(page)
			}
		})
		w, h := g.W, g.H
		dev := framebuffer.New(framebuffer.Config{Path: filepath.Join(b.TempDir(), "fb"), File: framebuffer.Mode{W: w, H: h, Format: framebuffer.RGB565()}, Rotate: g.Rotate})
		pic := painter.Paint(page)
		b.Run("write-"+named(g), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, dev.Write(pic, true))
			}
		})
		b.Run("png-"+named(g), func(b *testing.B) {
			var buf bytes.Buffer
			for b.Loop() {
				buf.Reset()
				require.NoError(b, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, pic))
			}
		})
	}
}

// BenchmarkFirstPixel is what the screen costs a sale at 800x480: first is the payload's way to the panel for the first code of a
// program that has shown it is ready, next for the codes after it, frame one second of the countdown.
func BenchmarkFirstPixel(b *testing.B) {
	const payload = "https://pay.example/q/4f9c1d52-77aa-4b1e-9a3c"
	v := display.View{Title: "MobilePay", Amount: "12.50 EUR", PushText: "Open the app and scan the code", Background: "#5a78ff", Sandbox: true, Language: "de"}
	panel := func(b *testing.B) (fb *display.Framebuffer, now *time.Time) {
		fb = display.NewFramebuffer(framebuffer.Config{Path: filepath.Join(b.TempDir(), "fb"), File: framebuffer.Mode{W: 800, H: 480, Format: framebuffer.RGB565()}})
		clock := noon
		fb.Now = func() time.Time { return clock }
		require.NoError(b, fb.Show(display.View{Kind: scene.Idle, Title: "Corner Shop", Sandbox: true, Language: "de"}))
		return fb, &clock
	}
	show := func(b *testing.B, fb *display.Framebuffer) {
		c, err := qr.New(payload, qr.Options{})
		v.Kind, v.Code, v.From, v.Until = scene.Code, c, noon, noon.Add(time.Hour)
		if err == nil {
			err = fb.Show(v)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			fb, _ := panel(b)
			b.StartTimer()
			show(b, fb)
		}
	})
	b.Run("next", func(b *testing.B) {
		b.ReportAllocs()
		fb, _ := panel(b)
		show(b, fb)
		for b.Loop() {
			show(b, fb)
		}
	})
	b.Run("frame", func(b *testing.B) {
		b.ReportAllocs()
		fb, now := panel(b)
		show(b, fb)
		for b.Loop() {
			*now = noon.Add(now.Sub(noon)%(50*time.Minute) + time.Second)
			if err := fb.Refresh(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
