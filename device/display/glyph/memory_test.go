package glyph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestASetRemembersALimitedAmount: a backend's texts can have any letter, and screens any size.
func TestASetRemembersALimitedAmount(t *testing.T) {
	s := NewSet()
	for size := 20; size < 400; size += 20 {
		for r := rune('!'); r < 0x17f; r += 3 {
			s.Mask(r, Style{Size: size, Bold: size%40 == 0})
		}
		held := 0
		for _, m := range s.masks {
			held += len(m.Alpha) + perMask
		}
		require.Equal(t, held, s.bytes)
		require.LessOrEqual(t, held, 768<<10)
	}
	for r := range rune(5000) {
		s.Width(string(r), Style{Size: 11})
		require.LessOrEqual(t, len(s.widths), 1024)
	}
	s.Mask('A', Style{Size: 30})
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Mask('A', Style{Size: 30}) }))
}
