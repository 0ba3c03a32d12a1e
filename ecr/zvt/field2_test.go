package zvt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Zero that is sent is not "all of it": with BMP 04 = 0 nothing is given back, and the text says what to send. The kind: the
// amount of 06 30 and 06 31, with and without a number; without BMP 04 a reversal is the whole.
func TestField2_R6_ZeroIsNotAll(t *testing.T) {
	require.Equal(t, []string{"P 80 00 00"}, sent(t, "E 06 30 0D 12 34 56 87 00 07 04 00 00 00 00 00 00")[:1])
	out := sent(t, "E 06 30 0D 12 34 56 87 00 07 04 00 00 00 00 00 00", "E 80 00 00")
	require.NotContains(t, out, "> begin reversal 0 EUR receipt=7")
	out = sent(t, "E 06 30 0D 12 34 56 87 00 07 04 00 00 00 00 00 00")
	require.Len(t, out, 2)
	require.Contains(t, out[1], "P 04 0F")
	require.Contains(t, out[1], " 27 B7 ")
	require.Equal(t, []string{"P 84 83 00"}, sent(t, "E 06 31 0D 12 34 56 87 00 07 04 00 00 00 00 00 00"))
	require.Contains(t, sent(t, "E 06 30 06 12 34 56 87 00 07"), "> begin reversal 0 EUR receipt=7")
}

// A hint that cannot be read is left out: lists of commands, character sets, languages in 06 00, what may be shown and sold
// with in 06 01. What names money stays strict.
func TestField2_R9_HintsThatCannotBeReadAreLeftOut(t *testing.T) {
	for _, line := range []string{
		"E 06 00 18 12 34 56 08 09 78 03 00 06 0E 26 0C 04 0F 04 FF 06 0F 06 1E 06 D1 06 D3",
		"E 06 00 0E 12 34 56 8E 09 78 06 06 27 04 14 FE 14 FF", "E 06 00 0C 12 34 56 8E 09 78 06 04 28 02 01 FF", "E 06 00 0C 12 34 56 8E 09 78 06 04 2A 02 01 FF",
	} {
		require.Equal(t, []string{"P 80 00 00", "> save"}, sent(t, line), line)
		done := sent(t, line, "< saved")
		require.Len(t, done, 1, line)
		require.Contains(t, done[0], "P 06 0F", line)
	}
	for _, tag := range []string{"E8", "30", "34"} {
		require.Contains(t, sent(t, "E 06 01 0D 04 00 00 00 00 12 50 06 04 "+tag+" 02 04 FF"), "> begin payment 1250 EUR", tag)
	}
	for name, line := range map[string]string{
		"another list":               "E 06 01 0D 04 00 00 00 00 12 50 06 04 E4 02 04 FF",
		"a number that breaks off":   "E 06 01 0D 04 00 00 00 00 12 50 06 04 1F 73 03 00",
		"a hint that breaks off":     "E 06 01 0D 04 00 00 00 00 12 50 06 04 E8 05 04 FF",
		"an amount with a bad digit": "E 06 01 0D 04 00 00 00 00 1A 50 06 04 E8 02 04 FF",
	} {
		require.Equal(t, []string{"P 84 83 00"}, sent(t, line), name)
	}
}

// A register that asks for open pre-authorisations before its end of day takes 06 1E alone for the answer.
func TestField2_R12_NoPreauthorisationIsOpen(t *testing.T) {
	for _, line := range []string{"E 06 23 03 87 FF FF", "E 06 23 08 19 40 87 FF FF 49 09 78"} {
		require.Equal(t, []string{"P 80 00 00", "P 06 1E 04 B8 87 FF FF"}, sent(t, line), line)
	}
	require.Contains(t, sent(t, "E 06 23 0A 87 00 07 04 00 00 00 00 05 00")[1], "P 04 0F", "one with a number is asked for")
}
