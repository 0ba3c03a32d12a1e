package convert

import (
	"bytes"
	"compress/gzip"
	"fmt"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"posagent/device/display/glyph/outline"
)

// Font returns the letters of a TrueType font as outline.Write writes them, compressed with gzip. It fails on a font that cannot be read,
// or has cubic outlines.
func Font(ttf []byte) ([]byte, error) {
	letters, em, err := Letters(ttf)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(outline.Write(em, letters)); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// Letters returns them one by one, with the units of the em.
func Letters(ttf []byte) (letters []outline.Letter, em int, err error) {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		return nil, 0, err
	}
	var buf sfnt.Buffer
	size := fixed.Int26_6(f.UnitsPerEm()) // a unit of the em is a unit of the answer
	for r := rune(0); r < 0x10000; r++ {
		i, err := f.GlyphIndex(&buf, r)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case r == 0:
			i = 0 // what stands for a letter that the font lacks
		case i == 0:
			continue
		}
		advance, err := f.GlyphAdvance(&buf, i, size, font.HintingNone)
		if err != nil {
			return nil, 0, err
		}
		segments, err := f.LoadGlyph(&buf, i, size, nil)
		if err != nil {
			return nil, 0, err
		}
		l := outline.Letter{Rune: r, Advance: int(advance)}
		for _, s := range segments {
			op, ok := map[sfnt.SegmentOp]outline.Op{sfnt.SegmentOpMoveTo: outline.Move, sfnt.SegmentOpLineTo: outline.Line, sfnt.SegmentOpQuadTo: outline.Quad}[s.Op]
			if !ok {
				return nil, 0, fmt.Errorf("letter %q has a cubic outline", r)
			}
			var p [2][2]int
			for i := range p {
				p[i] = [2]int{int(s.Args[i].X), int(s.Args[i].Y)}
			}
			if op != outline.Quad {
				p[1] = [2]int{}
			}
			l.Segments = append(l.Segments, outline.Segment{Op: op, P: p})
		}
		letters = append(letters, l)
	}
	return letters, int(f.UnitsPerEm()), nil
}
