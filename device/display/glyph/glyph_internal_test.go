package glyph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"posagent/device/display/glyph/outline"
)

// TestFacesAreThoseOfTheGoFonts: every letter has the outline and the width that it has in the fonts as they are published.
func TestFacesAreThoseOfTheGoFonts(t *testing.T) {
	ops := map[sfnt.SegmentOp]outline.Op{sfnt.SegmentOpMoveTo: outline.Move, sfnt.SegmentOpLineTo: outline.Line, sfnt.SegmentOpQuadTo: outline.Quad}
	set := NewSet()
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		published, err := sfnt.Parse(data)
		require.NoError(t, err)
		ours := set.faces[i]
		require.EqualValues(t, published.UnitsPerEm(), ours.Em)
		em, drawn := fixed.Int26_6(published.UnitsPerEm()), 0 // a unit of the em is a 64th of a pixel
		var buf sfnt.Buffer
		for r := rune(0); r < 0x10000; r++ {
			want, err := published.GlyphIndex(&buf, r)
			require.NoError(t, err)
			if r == 0 { // stands for what the font lacks
				want = 0
			}
			require.Equal(t, want != 0, ours.Has(r), "%q", r)
			if want == 0 && r != 0 && r != '東' { // both are drawn as the box
				continue
			}
			segments, err := published.LoadGlyph(&buf, want, em, nil)
			require.NoError(t, err)
			steps := ours.Outline(nil, r)
			require.Len(t, steps, len(segments), "%q", r)
			for n, s := range segments {
				require.Equal(t, ops[s.Op], steps[n].Op)
				points := 1
				if s.Op == sfnt.SegmentOpQuadTo {
					points = 2
				}
				for p := range points {
					require.Equal(t, [2]int{int(s.Args[p].X), int(s.Args[p].Y)}, steps[n].P[p], "%q", r)
				}
			}
			width, err := published.GlyphAdvance(&buf, want, em, font.HintingNone)
			require.NoError(t, err)
			require.EqualValues(t, width, ours.Advance(r), "%q", r)
			drawn++
		}
		require.Equal(t, 708+2, drawn)
	}
}
