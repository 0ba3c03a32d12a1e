package layout

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"time"

	"posagent/device/display/glyph"
	"posagent/device/display/scene"
	"posagent/device/qr"
)

// ErrTooSmall is returned when the code, the amount or an option does not fit; everything else was placed.
var ErrTooSmall = errors.New("screen too small for the code, the amount or the choice")

// The rules of sizes.
const (
	AmountShare = 9    // the least em of an amount, in per cent of the shorter side
	MinModule   = 2    // pixels of a module of the code
	MinSide     = 64   // pixels of a screen's side
	MaxSide     = 4096 // and at most
)

// Kind is what an element is.
type Kind uint8

// The kinds.
const (
	Rect Kind = iota // filled with Ink
	Text             // Text in Ink, in the middle of nothing: Box is as wide as it
	Code             // Code at Module pixels a module, black on white, its quiet zone in Box
	Bar              // Part thousandths from the left in Ink, the rest in Back
)

// Element is one thing on the screen.
type Element struct {
	Kind   Kind
	Box    image.Rectangle // nothing of it is drawn outside
	Ink    color.RGBA
	Back   color.RGBA // of a Bar
	Text   string
	Style  glyph.Style
	Code   *qr.Code
	Module int
	Part   int
}

// Page is a screen as it stands upright.
type Page struct {
	W, H     int
	Ground   color.RGBA
	Elements []Element // in the order in which they are drawn
}

// Geometry is a panel, and how it is built in.
type Geometry struct {
	W, H   int // of the panel, in pixels
	Rotate int // degrees that the picture is turned clockwise on it: 0, 90, 180 or 270
}

// Check returns what is wrong with a geometry.
func (g Geometry) Check() error {
	if min(g.W, g.H) < MinSide || max(g.W, g.H) > MaxSide {
		return fmt.Errorf("%d x %d pixels: want %d to %d a side", g.W, g.H, MinSide, MaxSide)
	}
	if g.Rotate != 0 && g.Rotate != 90 && g.Rotate != 180 && g.Rotate != 270 {
		return fmt.Errorf("rotation of %d degrees: want 0, 90, 180 or 270", g.Rotate)
	}
	return nil
}

// Upright returns the sides of the picture that a person in front of the panel sees.
func (g Geometry) Upright() (w, h int) {
	if g.Rotate == 90 || g.Rotate == 270 {
		return g.H, g.W
	}
	return g.W, g.H
}

// placer places one scene.
type placer struct {
	letters *glyph.Set
	page    *Page
	ink     color.RGBA // on the ground
	short   int        // the shorter side
	margin  int
	floor   int // the least size of a text
}

// The colours of our own.
var (
	yellow = color.RGBA{R: 0xff, G: 0xff, A: 0xff}
	green  = color.RGBA{R: 0x0b, G: 0x6b, B: 0x2b, A: 0xff}
	red    = color.RGBA{R: 0xa8, G: 0x1c, B: 0x1c, A: 0xff}
)

// bands are the colours behind what a scene of a kind says; others stand on the ground.
var bands = map[scene.Kind]color.RGBA{scene.Paid: green, scene.NotPaid: red, scene.NoConnection: red, scene.NotReady: red}

// Place places a scene as it stands at now. A still page is one that does not change as time passes. The errors are those of
// Geometry.Check, without a page, and ErrTooSmall.
func Place(letters *glyph.Set, s scene.Scene, now time.Time, g Geometry, still bool) (*Page, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	s = s.At(now)
	t := s.Texts(now, !still)
	w, h := g.Upright()
	p := &placer{letters: letters, page: &Page{W: w, H: h, Ground: s.Ground()}, short: min(w, h)}
	p.ink, p.margin, p.floor = scene.Ink(p.page.Ground), max(4, p.short/40), max(11, p.short/25)
	room := image.Rect(0, 0, w, h)
	if t.Banner != "" {
		room.Min.Y = p.banner(t.Banner)
	}
	if part, ok := s.Part(now); ok && !still {
		room.Max.Y = p.bar(part)
	}
	room = room.Inset(p.margin)
	switch {
	case s.Code != nil:
		return p.page, p.code(room, t, s.Code)
	case s.Kind == scene.Choice:
		return p.page, p.choice(room, t, len(s.Options) > scene.MaxOptions)
	}
	return p.page, p.stack(room, p.items(t, bands[s.Kind]), p.largest(room))
}

// items are the texts of a scene without code and choice from top to bottom.
func (p *placer) items(t scene.Texts, band color.RGBA) []item {
	headline := item{text: t.Headline, share: 80, bold: true, band: band}
	if t.Amount == "" {
		headline.share = 100
	}
	return []item{
		{text: t.Title, share: 60, bold: true, lines: 4, drop: 4},
		{text: t.Amount, share: 100, bold: true, amount: true},
		{text: t.Note, share: 45, lines: 3, drop: 1},
		{text: t.Label, share: 60, lines: 3},
		{text: t.Value, share: 90, bold: true, field: true},
		{text: t.Hint, share: 45, drop: 2},
		headline,
		{text: t.Detail, share: 50, lines: 4, drop: 3},
	}
}

// largest is the largest amount of a stack in room.
func (p *placer) largest(room image.Rectangle) int {
	return max(p.least(), min(room.Dy()/4, p.short/4))
}

// least is the smallest amount.
func (p *placer) least() int { return (p.short*AmountShare + 99) / 100 }

func (p *placer) width(text string, st glyph.Style) int { return p.letters.Width(text, st) }

func (p *placer) add(e Element) { p.page.Elements = append(p.page.Elements, e) }

// write adds one line of text whose box begins at x, y.
func (p *placer) write(text string, st glyph.Style, ink color.RGBA, x, y int) {
	p.add(Element{Kind: Text, Box: image.Rect(x, y, x+p.width(text, st), y+glyph.Line(st.Size)), Ink: ink, Text: text, Style: st})
}

// centre adds lines in the middle between two edges, and returns where they end.
func (p *placer) centre(lines []string, st glyph.Style, ink color.RGBA, left, right, y int) int {
	for _, l := range lines {
		p.write(l, st, ink, left+(right-left-p.width(l, st))/2, y)
		y += glyph.Line(st.Size)
	}
	return y
}

// banner adds the bar at the top that says SANDBOX, and returns where it ends.
func (p *placer) banner(text string) int {
	w := p.page.W - 2*p.margin
	st := glyph.Style{Size: max(p.floor, p.short/16), Bold: true}
	for st.Size > p.floor && p.width(text, st) > w {
		st.Size--
	}
	lines := p.broken(text, st, w)
	pad := max(2, st.Size/5)
	end := 2*pad + len(lines)*glyph.Line(st.Size)
	p.add(Element{Kind: Rect, Box: image.Rect(0, 0, p.page.W, end), Ink: yellow})
	p.centre(lines, st, scene.Ink(yellow), 0, p.page.W, pad)
	return end
}

// bar adds how much of the code's time is left, at the bottom, and returns where it begins.
func (p *placer) bar(part int) int {
	h := max(4, p.short/50)
	box := image.Rect(p.margin, p.page.H-p.margin-h, p.page.W-p.margin, p.page.H-p.margin)
	p.add(Element{Kind: Bar, Box: box, Ink: p.ink, Back: mix(p.ink, p.page.Ground), Part: part})
	return box.Min.Y
}

// mix is a quarter of one colour on the other.
func mix(a, b color.RGBA) color.RGBA {
	of := func(x, y uint8) uint8 { return uint8((int(x) + 3*int(y)) / 4) }
	return color.RGBA{R: of(a.R, b.R), G: of(a.G, b.G), B: of(a.B, b.B), A: 0xff}
}
