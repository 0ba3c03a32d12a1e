package glyph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// TestFacesAreThoseOfTheGoFonts: every letter has the outline and the width that it has in the fonts as they are published.
func TestFacesAreThoseOfTheGoFonts(t *testing.T) {
	set := NewSet()
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		published, err := sfnt.Parse(data)
		require.NoError(t, err)
		ours := set.faces[i]
		require.Equal(t, published.UnitsPerEm(), ours.UnitsPerEm())
		em, drawn := fixed.Int26_6(published.UnitsPerEm()), 0
		var a, b sfnt.Buffer
		for r := rune(0); r < 0x10000; r++ {
			want, err := published.GlyphIndex(&a, r)
			require.NoError(t, err)
			got, err := ours.GlyphIndex(&b, r)
			require.NoError(t, err)
			require.Equal(t, want == 0, got == 0, "%q", r)
			if want == 0 {
				continue
			}
			outline, err := published.LoadGlyph(&a, want, em, nil)
			require.NoError(t, err)
			same, err := ours.LoadGlyph(&b, got, em, nil)
			require.NoError(t, err)
			require.Equal(t, outline, same, "%q", r)
			width, err := published.GlyphAdvance(&a, want, em, font.HintingNone)
			require.NoError(t, err)
			sameWidth, err := ours.GlyphAdvance(&b, got, em, font.HintingNone)
			require.NoError(t, err)
			require.Equal(t, width, sameWidth, "%q", r)
			drawn++
		}
		require.Equal(t, 709, drawn)
	}
}
