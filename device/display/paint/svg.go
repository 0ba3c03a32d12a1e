package paint

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"strconv"
	"strings"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
)

// SVG draws a page as a picture of lines. Each text is the outlines of its letters, and stands in full in a label for readers
// that speak.
func SVG(letters *glyph.Set, page *layout.Page) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d">`+"\n", page.W, page.H)
	rect(&b, image.Rect(0, 0, page.W, page.H), page.Ground)
	for i := range page.Elements {
		switch e := &page.Elements[i]; e.Kind {
		case layout.Rect:
			rect(&b, e.Box, e.Ink)
		case layout.Text:
			text(&b, letters, e)
		case layout.Code:
			rect(&b, e.Box, white)
			fmt.Fprintf(&b, `<path transform="translate(%d %d) scale(%d)" shape-rendering="crispEdges" fill="%s" d="%s"/>`+"\n",
				e.Box.Min.X, e.Box.Min.Y, e.Module, hex(black), e.Code.Path())
		case layout.Bar:
			rect(&b, e.Box, e.Back)
			rect(&b, filled(e), e.Ink)
		}
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func rect(b *strings.Builder, r image.Rectangle, c color.RGBA) {
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", r.Min.X, r.Min.Y, r.Dx(), r.Dy(), hex(c))
}

// text draws one line. It is a picture of its own inside the picture, which ends at its box.
func text(b *strings.Builder, letters *glyph.Set, e *layout.Element) {
	fmt.Fprintf(b, `<svg x="%d" y="%d" width="%d" height="%d" role="img" aria-label="%s"><path fill="%s" d="`,
		e.Box.Min.X, e.Box.Min.Y, e.Box.Dx(), e.Box.Dy(), html.EscapeString(e.Text), hex(e.Ink))
	base := float32(glyph.Ascent(e.Style.Size))
	letters.Each(e.Text, e.Style, 0, func(r rune, x int) {
		open := false
		for _, s := range letters.Outline(r, e.Style) {
			if s.Op == 'M' && open {
				b.WriteByte('z')
			}
			open = true
			b.WriteByte(s.Op)
			point(b, s.P[0], float32(x), base)
			if s.Op == 'Q' {
				b.WriteByte(' ')
				point(b, s.P[1], float32(x), base)
			}
		}
		if open {
			b.WriteByte('z')
		}
	})
	b.WriteString(`"/></svg>` + "\n")
}

// point writes a place to two decimals, which is finer than a dot of any screen.
func point(b *strings.Builder, p [2]float32, x, y float32) {
	var buf [24]byte
	b.Write(strconv.AppendFloat(buf[:0], float64(p[0]+x), 'f', 2, 32))
	b.WriteByte(' ')
	b.Write(strconv.AppendFloat(buf[:0], float64(p[1]+y), 'f', 2, 32))
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
