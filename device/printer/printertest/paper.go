package printertest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// Line is what came out of the printer, in the order of its coming.
type Line struct {
	Text       string // with the blanks before it
	Bold       bool
	Wide, High int    // of the characters, 1 = normal; 0 = paper that was only fed
	Picture    int    // rows of dots of a picture; 0 = no picture
	Code       string // of a code that the printer drew itself; "" = none
	Cut        bool   // the paper was cut here
	Full       bool   // not leaving a point
}

// String is a line of the listing: b for bold, the size if it is another, and the text.
func (l Line) String() string {
	switch {
	case l.Cut && l.Full:
		return "=== full cut"
	case l.Cut:
		return "=== cut"
	case l.Code != "":
		return "### code " + l.Code
	case l.Picture > 0:
		return fmt.Sprintf("### picture of %d rows", l.Picture)
	}
	mark := []byte("  |")
	if l.Bold {
		mark[0] = 'b'
	}
	if l.Wide > 1 {
		mark[1] = '0' + byte(l.Wide)
	}
	return string(mark) + l.Text
}

// paper is what came out. It is drawn when it is looked at.
type paper struct {
	lines []Line
	draw  []func()
	rows  [][]byte // of dots, 1 = black
}

func (p *paper) list(l Line) { p.lines = append(p.lines, l) }

func (p *paper) later(draw func()) { p.draw = append(p.draw, draw) }

// look draws what is not drawn yet.
func (p *paper) look() [][]byte {
	for _, draw := range p.draw {
		draw()
	}
	p.draw = nil
	return p.rows
}

func (p *paper) feed(dots int) { p.rows = append(p.rows, make([][]byte, dots)...) }

// print draws a line of text that is high dots high.
func (p *paper) print(dots, left, cell, high int, line []glyph) {
	top := len(p.rows)
	p.feed(high)
	for y := top; y < len(p.rows); y++ {
		p.rows[y] = make([]byte, dots)
	}
	for _, g := range line {
		face := inconsolata.Regular8x16
		if g.bold {
			face = inconsolata.Bold8x16
		}
		mask := drawn(face, g.letter)
		for y := range face.Height * g.high {
			for x := range face.Advance * g.wide {
				at := left + x + (cell-face.Advance)*g.wide/2
				if mask.AlphaAt(x/g.wide, y/g.high).A >= 0x80 && at >= 0 && at < dots {
					p.rows[top+y+(cellHigh-face.Height)*g.high/2][at] = 1
				}
			}
		}
		left += g.wide * cell
	}
}

// drawn is a character in the font of the picture.
func drawn(face *basicfont.Face, letter rune) *image.Alpha {
	mask := image.NewAlpha(image.Rect(0, 0, face.Advance, face.Height))
	(&font.Drawer{Dst: mask, Src: image.Opaque, Face: face, Dot: fixed.P(0, face.Ascent)}).DrawString(string(letter))
	return mask
}

// picture draws rows of width bytes; what is beyond the paper is lost.
func (p *paper) picture(dots, left, width int, data []byte) {
	for row := range slices.Chunk(data, width) {
		out := make([]byte, dots)
		for x := range min(width*8, dots-left) {
			out[left+x] = row[x/8] >> (7 - x%8) & 1
		}
		p.rows = append(p.rows, out)
	}
}

// cut draws where the knife went.
func (p *paper) cut(dots int, full bool) {
	p.feed(12)
	edge := make([]byte, dots)
	for x := range edge {
		edge[x] = bit(full || x/8%2 == 0, 1)
	}
	p.rows = append(p.rows, edge)
	p.feed(12)
}

// Lines is what came out.
func (p *Printer) Lines() (lines []Line) {
	p.locked(func() { lines = slices.Clone(p.machine.paper.lines) })
	return lines
}

// Listing is what came out as text, a line each.
func (p *Printer) Listing() string {
	var b strings.Builder
	for _, l := range p.Lines() {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// Cuts is how often the paper was cut.
func (p *Printer) Cuts() (n int) {
	for _, l := range p.Lines() {
		if l.Cut {
			n++
		}
	}
	return n
}

// Strange lists what a printer would not understand, or print otherwise than meant.
func (p *Printer) Strange() (list []string) {
	p.locked(func() {
		list = slices.Clone(p.machine.strange)
		if len(p.machine.pending) > 0 {
			list = append(list, fmt.Sprintf("a command that is not whole: % X", p.machine.pending[:min(8, len(p.machine.pending))]))
		}
		if p.machine.wrapped > 0 {
			list = append(list, fmt.Sprintf("%d lines that are too long", p.machine.wrapped))
		}
	})
	return list
}

// Picture is the paper as a black and white picture, with a margin.
func (p *Printer) Picture() *image.Paletted {
	const margin = 24
	var pic *image.Paletted
	p.locked(func() {
		rows := p.machine.paper.look()
		pic = image.NewPaletted(image.Rect(0, 0, p.cfg.Dots+2*margin, len(rows)+2*margin), color.Palette{color.White, color.Black})
		for y, row := range rows {
			copy(pic.Pix[(y+margin)*pic.Stride+margin:], row)
		}
	})
	return pic
}

// PNG is the picture of the paper, with one bit a dot.
func (p *Printer) PNG() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, p.Picture())
	return b.Bytes(), err
}
