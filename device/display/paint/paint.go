package paint

import (
	"image"
	"image/color"

	"posagent/device/display/glyph"
	"posagent/device/display/layout"
)

// Painter draws pages as dots. It is not safe for concurrent use.
type Painter struct {
	letters *glyph.Set
	pic     *image.RGBA
}

// New returns a Painter that writes with letters.
func New(letters *glyph.Set) *Painter { return &Painter{letters: letters} }

var (
	white = color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	black = color.RGBA{A: 0xff}
)

// Paint draws a page. The picture is the painter's own: the next Paint overwrites it.
func (p *Painter) Paint(page *layout.Page) *image.RGBA {
	if p.pic == nil || p.pic.Rect.Dx() != page.W || p.pic.Rect.Dy() != page.H {
		p.pic = image.NewRGBA(image.Rect(0, 0, page.W, page.H))
	}
	p.fill(p.pic.Rect, page.Ground)
	for i := range page.Elements {
		switch e := &page.Elements[i]; e.Kind {
		case layout.Rect:
			p.fill(e.Box, e.Ink)
		case layout.Text:
			p.text(e)
		case layout.Code:
			p.code(e)
		case layout.Bar:
			p.fill(e.Box, e.Back)
			p.fill(filled(e), e.Ink)
		}
	}
	return p.pic
}

// filled is the part of a bar that is in its ink.
func filled(e *layout.Element) image.Rectangle {
	box := e.Box
	box.Max.X = box.Min.X + box.Dx()*e.Part/1000
	return box
}

// fill sets every dot of a rectangle.
func (p *Painter) fill(r image.Rectangle, c color.RGBA) {
	r = r.Intersect(p.pic.Rect)
	if r.Empty() {
		return
	}
	first := p.pic.Pix[p.pic.PixOffset(r.Min.X, r.Min.Y):][:4*r.Dx()]
	first[0], first[1], first[2], first[3] = c.R, c.G, c.B, c.A
	for n := 4; n < len(first); n *= 2 {
		copy(first[n:], first[:n])
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(p.pic.Pix[p.pic.PixOffset(r.Min.X, y):], first)
	}
}

// code draws black modules on white, run by run.
func (p *Painter) code(e *layout.Element) {
	p.fill(e.Box, white)
	c, m := e.Code, e.Module
	for y := range c.Size() {
		for x := 0; x < c.Size(); x++ {
			from := x
			for c.Dark(x, y) {
				x++
			}
			run := image.Rect(from*m, y*m, x*m, (y+1)*m).Add(e.Box.Min)
			p.fill(run.Intersect(e.Box), black)
		}
	}
}

// text draws one line, letter by letter.
func (p *Painter) text(e *layout.Element) {
	base := e.Box.Min.Y + glyph.Ascent(e.Style.Size)
	clip := e.Box.Intersect(p.pic.Rect)
	p.letters.Each(e.Text, e.Style, e.Box.Min.X, func(r rune, x int) {
		p.letter(p.letters.Mask(r, e.Style), image.Pt(x, base), clip, e.Ink)
	})
}

// letter draws the dots of a letter that lie in clip over what is there.
func (p *Painter) letter(m *glyph.Mask, at image.Point, clip image.Rectangle, ink color.RGBA) {
	box := m.Rect.Add(at)
	in := box.Intersect(clip)
	for y := in.Min.Y; y < in.Max.Y; y++ {
		alphas := m.Alpha[(y-box.Min.Y)*box.Dx()+in.Min.X-box.Min.X:][:in.Dx()]
		row := p.pic.Pix[p.pic.PixOffset(in.Min.X, y):][:4*in.Dx()]
		for i, a := range alphas {
			switch dot := row[4*i:][:4]; a {
			case 0:
			case 0xff:
				dot[0], dot[1], dot[2] = ink.R, ink.G, ink.B
			default:
				dot[0], dot[1], dot[2] = over(ink.R, dot[0], a), over(ink.G, dot[1], a), over(ink.B, dot[2], a)
			}
		}
	}
}

// over is one colour on another.
func over(ink, ground, alpha uint8) uint8 {
	return uint8((int(ink)*int(alpha) + int(ground)*(255-int(alpha)) + 127) / 255)
}
