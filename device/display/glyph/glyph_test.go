package glyph_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/display/glyph"
)

// alphabet is the letters of the ten languages besides ASCII.
const alphabet = "ÄÖÜäöüß ÀÂÆÇÈÉÊËÎÏÔŒÙÛŸàâæçèéêëîïôœùûÿ ÌÒìò ÁÍÓÚáíóúñÑ ÅåØø ŠšŽž ĄĆĘŁŃŚŹŻąćęłńśźż •…–’“”„«»€£¥°\u00a0"

// dots are the letters of a text as they are drawn with the pen at 0, 0.
func dots(s *glyph.Set, text string, st glyph.Style) (ink image.Rectangle) {
	s.Each(text, st, 0, func(r rune, x int) {
		ink = ink.Union(s.Mask(r, st).Rect.Add(image.Pt(x, glyph.Ascent(st.Size))))
	})
	return ink
}

func TestTheFacesHaveTheLettersOfTheTenLanguages(t *testing.T) {
	s := glyph.NewSet()
	for _, r := range alphabet {
		require.True(t, s.Has(r), "%q", r)
	}
	for r := rune(' '); r < 0x7f; r++ {
		require.True(t, s.Has(r), "%q", r)
	}
	require.False(t, s.Has('東'))
	require.NotEmpty(t, s.Mask('東', glyph.Style{Size: 20}).Alpha, "a box")
}

func TestALineHoldsItsLetters(t *testing.T) {
	s := glyph.NewSet()
	for _, size := range []int{11, 17, 40, 111, glyph.MaxSize} {
		for _, bold := range []bool{false, true} {
			st := glyph.Style{Size: size, Bold: bold}
			for _, r := range alphabet + "jfgpqy_|@%&()[]{}WMQÅŮ" {
				box := image.Rect(0, 0, s.Width(string(r), st), glyph.Line(size))
				ink := dots(s, string(r), st)
				require.True(t, ink.In(box), "%q at %d: %v is not in %v", r, size, ink, box)
			}
		}
	}
}

// TestWidth: Go Regular's digits are 1139 of 2048 units wide, its comma 648.
func TestWidth(t *testing.T) {
	s := glyph.NewSet()
	st := glyph.Style{Size: 2048 / 16}
	over := 2 * (1 + 128/12)
	require.Equal(t, over+72, s.Width("0", st), "1139/16 rounded up")
	require.Equal(t, over+10*1139/16+1, s.Width("0123456789", st))
	require.Equal(t, over+41, s.Width(",", st))
	require.Equal(t, over, s.Width("", st))
	require.Equal(t, 4, s.Cut("0000000", st, over+4*1139/16+10))
	require.Equal(t, 0, s.Cut("0", st, 10))
	require.Equal(t, 3, s.Cut("000", st, 4000))
	require.Equal(t, 2, s.Cut("ää", st, over+100), "a letter of two bytes")
}

// TestOutlineAndMaskAreOneLetter: what is inked as dots lies within the outline's bounds.
func TestOutlineAndMaskAreOneLetter(t *testing.T) {
	s := glyph.NewSet()
	st := glyph.Style{Size: 64, Bold: true}
	for _, r := range "AgÅ8" {
		m := s.Mask(r, st)
		left, bottom := float32(1e9), float32(-1e9)
		for i, g := range s.Outline(r, st) {
			require.True(t, i > 0 || g.Op == 'M', "a line begins somewhere")
			left, bottom = min(left, g.P[0][0]), max(bottom, g.P[0][1])
		}
		require.InDelta(t, float64(m.Rect.Min.X), float64(left), 2)
		require.InDelta(t, float64(m.Rect.Max.Y), float64(bottom), 2)
		full := 0
		for _, a := range m.Alpha {
			if a == 255 {
				full++
			}
		}
		require.Greater(t, full, 200, "%q", r)
	}
	require.Empty(t, s.Mask(' ', st).Alpha)
	require.Empty(t, s.Outline(' ', st))
}
