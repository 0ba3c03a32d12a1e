package glyph

import (
	_ "embed"
	"fmt"
	"image"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// The faces, made by "make faces".
var (
	//go:embed faces/Go-Regular.ttf
	regular []byte
	//go:embed faces/Go-Bold.ttf
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
	faces  [2]*sfnt.Font // regular, bold
	buf    sfnt.Buffer
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
		face, err := sfnt.Parse(data)
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

// index is a letter's glyph, 0 (the box) where the face lacks it.
func (s *Set) index(r rune, bold bool) sfnt.GlyphIndex {
	i, err := s.faces[face(bold)].GlyphIndex(&s.buf, r)
	if err != nil {
		return 0
	}
	return i
}

// Has reports whether both faces have a letter.
func (s *Set) Has(r rune) bool { return s.index(r, false) != 0 && s.index(r, true) != 0 }

// advance is how far a letter moves the pen, in units of the em.
func (s *Set) advance(r rune, bold bool) int {
	if r >= 0 && r < commonLetters {
		at := &s.common[face(bold)][r]
		if *at == 0 {
			*at = uint16(min(s.measure(r, bold), 1<<15) + 1)
		}
		return int(*at) - 1
	}
	key := letter{r, bold}
	w, ok := s.widths[key]
	if !ok {
		if len(s.widths) >= maxWidths {
			clear(s.widths)
		}
		w = s.measure(r, bold)
		s.widths[key] = w
	}
	return w
}

// measure asks the face for a letter's advance.
func (s *Set) measure(r rune, bold bool) int {
	em := fixed.Int26_6(s.em(bold))
	w, err := s.faces[face(bold)].GlyphAdvance(&s.buf, s.index(r, bold), em, font.HintingNone)
	if err != nil {
		w = em / 2
	}
	return int(w)
}

// em is the units of a face's em.
func (s *Set) em(bold bool) int { return int(s.faces[face(bold)].UnitsPerEm()) }

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
	segments := s.load(r, st)
	out := make([]Segment, 0, len(segments))
	for _, g := range segments {
		p := func(i int) [2]float32 { return [2]float32{float32(g.Args[i].X) / 64, float32(g.Args[i].Y) / 64} }
		switch g.Op { // TrueType has no cubic ones
		case sfnt.SegmentOpMoveTo:
			out = append(out, Segment{Op: 'M', P: [2][2]float32{p(0)}})
		case sfnt.SegmentOpLineTo:
			out = append(out, Segment{Op: 'L', P: [2][2]float32{p(0)}})
		case sfnt.SegmentOpQuadTo:
			out = append(out, Segment{Op: 'Q', P: [2][2]float32{p(0), p(1)}})
		}
	}
	return out
}

// load returns a letter's outline, which the next call overwrites; nil where it cannot be read.
func (s *Set) load(r rune, st Style) sfnt.Segments {
	segments, err := s.faces[face(st.Bold)].LoadGlyph(&s.buf, s.index(r, st.Bold), fixed.I(min(st.Size, MaxSize)), nil)
	if err != nil {
		return nil
	}
	return segments
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
	segments := s.load(r, st)
	if len(segments) == 0 { // a space
		return &Mask{}
	}
	b := segments.Bounds()
	m := &Mask{Rect: image.Rect(b.Min.X.Floor(), b.Min.Y.Floor(), b.Max.X.Ceil(), b.Max.Y.Ceil())}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	if w <= 0 || h <= 0 {
		return &Mask{}
	}
	s.pen.Reset(w, h)
	x := func(v fixed.Int26_6) float32 { return float32(v)/64 - float32(m.Rect.Min.X) }
	y := func(v fixed.Int26_6) float32 { return float32(v)/64 - float32(m.Rect.Min.Y) }
	for _, g := range segments {
		a := g.Args
		switch g.Op {
		case sfnt.SegmentOpMoveTo:
			s.pen.ClosePath()
			s.pen.MoveTo(x(a[0].X), y(a[0].Y))
		case sfnt.SegmentOpLineTo:
			s.pen.LineTo(x(a[0].X), y(a[0].Y))
		case sfnt.SegmentOpQuadTo:
			s.pen.QuadTo(x(a[0].X), y(a[0].Y), x(a[1].X), y(a[1].Y))
		}
	}
	s.pen.ClosePath()
	dots := &image.Alpha{Pix: make([]byte, w*h), Stride: w, Rect: image.Rect(0, 0, w, h)}
	s.pen.Draw(dots, dots.Rect, image.Opaque, image.Point{})
	m.Alpha = dots.Pix
	return m
}
