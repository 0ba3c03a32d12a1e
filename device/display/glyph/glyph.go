package glyph

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"image"
	"io"
	"math"

	"golang.org/x/image/vector"

	"posagent/device/display/glyph/outline"
)

// The faces, made by "make faces".
var (
	//go:embed faces/regular.outlines.gz
	regular []byte
	//go:embed faces/bold.outlines.gz
	bold []byte
)

// Style is how a text is written.
type Style struct {
	Size int // of the em in pixels, 1 to MaxSize; digits are 0.74 of it high
	Bold bool
}

// MaxSize is the largest size.
const MaxSize = 512

// Line is the height of a line in pixels: no letter of the ten languages reaches out of it.
func Line(size int) int { return Ascent(size) + descent(size) }

// Ascent is how far the letters of a line reach above the line they stand on: Å and Ů reach highest.
func Ascent(size int) int { return (size*102 + 99) / 100 }

// descent is how far they reach below it.
func descent(size int) int { return (size*22 + 99) / 100 }

// Mask is one letter as dots.
type Mask struct {
	Rect  image.Rectangle // around the point that the letter stands on
	Alpha []byte          // row by row, Rect.Dx() a row; 255 = inked
}

// Segment is one part of an outline; its coordinates are pixels, y grows downwards.
type Segment struct {
	Op byte          // M: a line begins at P[0]; L: straight to P[0]; Q: to P[1] by way of P[0]
	P  [2][2]float32 // x, y
}

// What a Set remembers.
const (
	maxWidths = 1024      // letters
	maxMasks  = 768 << 10 // bytes of dots
	perMask   = 96        // bytes of one besides its dots

	commonLetters = 0x180 // those of the ten languages
)

// Set is the letters. It is not safe for concurrent use.
type Set struct {
	faces  [2]*outline.Face         // regular, bold
	steps  []outline.Segment        // of the letter that was read last
	common [2][commonLetters]uint16 // advances of the first letters in units of the em, and 1; 0 = not asked for yet
	widths map[letter]int           // of the others
	masks  map[drawn]*Mask
	bytes  int // of the masks
	pen    vector.Rasterizer
}

type letter struct {
	r    rune
	bold bool
}

type drawn struct {
	r rune
	Style
}

// NewSet reads the faces. They are part of the program: it panics where they cannot be read.
func NewSet() *Set {
	s := &Set{widths: map[letter]int{}, masks: map[drawn]*Mask{}}
	for i, data := range [][]byte{regular, bold} {
		face, err := parse(data)
		if err != nil {
			panic(fmt.Sprintf("glyph: face %d: %v", i, err))
		}
		s.faces[i] = face
	}
	return s
}

// face is a face's place in the set.
func face(bold bool) int {
	if bold {
		return 1
	}
	return 0
}

// parse reads a face.
func parse(data []byte) (*outline.Face, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if data, err = io.ReadAll(r); err != nil {
		return nil, err
	}
	return outline.Parse(data)
}

// Has reports whether both faces have a letter.
func (s *Set) Has(r rune) bool { return s.faces[0].Has(r) && s.faces[1].Has(r) }

// advance is how far a letter moves the pen, in units of the em.
func (s *Set) advance(r rune, bold bool) int {
	if r >= 0 && r < commonLetters {
		at := &s.common[face(bold)][r]
		if *at == 0 {
			*at = uint16(min(s.faces[face(bold)].Advance(r), 1<<15) + 1)
		}
		return int(*at) - 1
	}
	key := letter{r, bold}
	w, ok := s.widths[key]
	if !ok {
		if len(s.widths) >= maxWidths {
			clear(s.widths)
		}
		w = s.faces[face(bold)].Advance(r)
		s.widths[key] = w
	}
	return w
}

// em is the units of a face's em.
func (s *Set) em(bold bool) int { return s.faces[face(bold)].Em }

// Units is how far a text moves the pen, in a unit of its own that adds up: see Pixels.
func (s *Set) Units(text string, bold bool) (units int) {
	for _, r := range text {
		units += s.advance(r, bold)
	}
	return units
}

// Pixels is how wide a text of so many units is in whole pixels: from where the pen starts to where it ends, and at either end room
// for letters that reach over it.
func (s *Set) Pixels(units int, st Style) int {
	em := s.em(st.Bold)
	return 2*overhang(st.Size) + (units*st.Size+em-1)/em
}

// Width is how wide a text is in whole pixels.
func (s *Set) Width(text string, st Style) int { return s.Pixels(s.Units(text, st.Bold), st) }

// overhang is the room at either end of a text for letters that reach over it, like j and f.
func overhang(size int) int { return 1 + size/12 }

// Each calls draw with each letter of a text and its place, from left on.
func (s *Set) Each(text string, st Style, left int, draw func(r rune, x int)) {
	units, em := 0, s.em(st.Bold)
	left += overhang(st.Size)
	for _, r := range text {
		draw(r, left+(units*st.Size+em/2)/em)
		units += s.advance(r, st.Bold)
	}
}

// Cut returns the longest beginning of a text that is at most width pixels wide, in bytes.
func (s *Set) Cut(text string, st Style, width int) int {
	units, em := 0, s.em(st.Bold)
	width -= 2 * overhang(st.Size)
	for i, r := range text {
		units += s.advance(r, st.Bold)
		if (units*st.Size+em-1)/em > width {
			return i
		}
	}
	return len(text)
}

// Outline is a letter as lines around the point that it stands on.
func (s *Set) Outline(r rune, st Style) []Segment {
	list, scale := s.load(r, st)
	out := make([]Segment, 0, len(list))
	for _, g := range list {
		p := func(i int) [2]float32 { return [2]float32{float32(g.P[i][0]) * scale, float32(g.P[i][1]) * scale} }
		switch g.Op {
		case outline.Move:
			out = append(out, Segment{Op: 'M', P: [2][2]float32{p(0)}})
		case outline.Line:
			out = append(out, Segment{Op: 'L', P: [2][2]float32{p(0)}})
		case outline.Quad:
			out = append(out, Segment{Op: 'Q', P: [2][2]float32{p(0), p(1)}})
		}
	}
	return out
}

// load returns a letter's outline in units of the em, which the next call overwrites, and how many pixels a unit is.
func (s *Set) load(r rune, st Style) (list []outline.Segment, scale float32) {
	f := s.faces[face(st.Bold)]
	s.steps = f.Outline(s.steps[:0], r)
	return s.steps, float32(min(st.Size, MaxSize)) / float32(f.Em)
}

// Mask returns a letter as dots. It stays as it is; the set may forget it.
func (s *Set) Mask(r rune, st Style) *Mask {
	key := drawn{r, st}
	if m, ok := s.masks[key]; ok {
		return m
	}
	m := s.rasterize(r, st)
	size := len(m.Alpha) + perMask
	if s.bytes+size > maxMasks {
		clear(s.masks)
		s.bytes = 0
	}
	s.masks[key] = m
	s.bytes += size
	return m
}

func (s *Set) rasterize(r rune, st Style) *Mask {
	list, scale := s.load(r, st)
	if len(list) == 0 { // a space
		return &Mask{}
	}
	m := &Mask{Rect: around(list, scale)}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	if w <= 0 || h <= 0 {
		return &Mask{}
	}
	s.pen.Reset(w, h)
	left, top := float32(m.Rect.Min.X), float32(m.Rect.Min.Y)
	for _, g := range list {
		x := [2]float32{float32(g.P[0][0])*scale - left, float32(g.P[1][0])*scale - left}
		y := [2]float32{float32(g.P[0][1])*scale - top, float32(g.P[1][1])*scale - top}
		switch g.Op {
		case outline.Move:
			s.pen.ClosePath()
			s.pen.MoveTo(x[0], y[0])
		case outline.Line:
			s.pen.LineTo(x[0], y[0])
		case outline.Quad:
			s.pen.QuadTo(x[0], y[0], x[1], y[1])
		}
	}
	s.pen.ClosePath()
	dots := &image.Alpha{Pix: make([]byte, w*h), Stride: w, Rect: image.Rect(0, 0, w, h)}
	s.pen.Draw(dots, dots.Rect, image.Opaque, image.Point{})
	m.Alpha = dots.Pix
	return m
}

// around is the smallest rectangle of whole pixels around all points of an outline.
func around(list []outline.Segment, scale float32) image.Rectangle {
	least, most := [2]int{math.MaxInt32, math.MaxInt32}, [2]int{math.MinInt32, math.MinInt32}
	for _, g := range list {
		points := 1
		if g.Op == outline.Quad {
			points = 2
		}
		for _, p := range g.P[:points] {
			for i, v := range p {
				least[i], most[i] = min(least[i], v), max(most[i], v)
			}
		}
	}
	floor := func(v int) int { return int(math.Floor(float64(float32(v) * scale))) }
	ceil := func(v int) int { return int(math.Ceil(float64(float32(v) * scale))) }
	return image.Rect(floor(least[0]), floor(least[1]), ceil(most[0]), ceil(most[1]))
}
