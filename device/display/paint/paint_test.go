package paint_test

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
	"posagent/device/display/paint"
	"posagent/device/qr"
)

var (
	white = color.RGBA{R: 255, G: 255, B: 255, A: 255}
	blue  = color.RGBA{B: 200, A: 255}
	red   = color.RGBA{R: 200, A: 255}
)

// page is white, with a text that is longer and higher than its box in the middle.
func page() *layout.Page {
	return &layout.Page{W: 200, H: 100, Ground: white, Elements: []layout.Element{
		{Kind: layout.Text, Box: image.Rect(50, 30, 150, 60), Ink: blue, Text: strings.Repeat("Åj|", 40), Style: glyph.Style{Size: 80, Bold: true}},
	}}
}

// TestATextStaysInItsBox: a text that is too long or too large for its box, or would begin above it, is cut at its edge.
func TestATextStaysInItsBox(t *testing.T) {
	p := page()
	letters := glyph.NewSet()
	pic := paint.New(letters).Paint(p)
	inked := 0
	for y := range p.H {
		for x := range p.W {
			if c := pic.RGBAAt(x, y); c != white {
				require.True(t, image.Pt(x, y).In(p.Elements[0].Box), "%d, %d", x, y)
				inked++
			}
		}
	}
	require.Greater(t, inked, 200)
	p.Elements[0].Box = image.Rect(-40, -10, 20, 900) // a box that reaches over the picture
	require.NotPanics(t, func() { paint.New(letters).Paint(p) })
}

func TestAnElementIsDrawnOverTheOnesBefore(t *testing.T) {
	c, err := qr.New("x", qr.Options{}) // 29 modules
	require.NoError(t, err)
	p := &layout.Page{W: 100, H: 100, Ground: red, Elements: []layout.Element{
		{Kind: layout.Rect, Box: image.Rect(0, 0, 100, 20), Ink: blue},
		{Kind: layout.Bar, Box: image.Rect(10, 5, 90, 15), Ink: white, Back: red, Part: 250},
		{Kind: layout.Code, Box: image.Rect(10, 30, 68, 88), Code: c, Module: 2},
	}}
	letters := glyph.NewSet()
	painter := paint.New(letters)
	pic := painter.Paint(p)
	require.Equal(t, blue, pic.RGBAAt(0, 0))
	require.Equal(t, blue, pic.RGBAAt(99, 19))
	require.Equal(t, red, pic.RGBAAt(0, 20))
	require.Equal(t, white, pic.RGBAAt(29, 10), "a quarter of eighty")
	require.Equal(t, red, pic.RGBAAt(30, 10))
	black := color.RGBA{A: 255}
	for y := range 29 {
		for x := range 29 {
			for _, d := range []image.Point{{}, {X: 1}, {Y: 1}, {X: 1, Y: 1}} {
				want := white
				if c.Dark(x, y) {
					want = black
				}
				require.Equal(t, want, pic.RGBAAt(10+2*x+d.X, 30+2*y+d.Y))
			}
		}
	}
	same := painter.Paint(&layout.Page{W: 100, H: 100, Ground: white})
	require.Same(t, pic, same, "one picture for ever")
	require.Equal(t, white, same.RGBAAt(20, 40), "nothing stays of the page before")
	require.Equal(t, image.Rect(0, 0, 50, 60), painter.Paint(&layout.Page{W: 50, H: 60}).Rect)
}

func TestPaintingAllocatesNothing(t *testing.T) {
	p, painter := page(), paint.New(glyph.NewSet())
	painter.Paint(p)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { painter.Paint(p) }), 1.0)
}
