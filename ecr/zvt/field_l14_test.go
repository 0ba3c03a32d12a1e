package zvt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// sent plays a script and returns what went to the register since the last line of input.
func sent(t *testing.T, lines ...string) []string {
	t.Helper()
	s := &script{m: New(testConfig(), nil), gen: map[string]int{}}
	for _, l := range lines {
		s.out = nil
		s.input(t, l)
	}
	return s.out
}

// TestField_L14StatusIsMinimal: a status enquiry that asks for containers by a bit gets them only
// where the register reads containers: it enabled them for more than its command list, or it sends
// one.
func TestField_L14StatusIsMinimal(t *testing.T) {
	const (
		asks      = "E 05 01 05 12 34 56 03 07"
		short     = "P 06 0F 01 00"
		container = "P 06 0F 26 00 06 23 1F 44 04 52 50 00 38 E4 1A 1F 40 08 70 6F 73 61 67 65 6E 74 1F 41 03 31 2E 30 1F 42 02 34 32 1F 43 01 00"
	)
	for register, c := range map[string]struct{ before, asks, want string }{
		"not registered":       {"", asks, short},
		"without containers":   {"E 06 00 06 12 34 56 3E 09 78", asks, short},
		"command list alone":   {"E 06 00 10 12 34 56 3E 09 78 03 03 06 06 26 04 0A 02 06 D3", asks, short},
		"containers":           {"E 06 00 0B 12 34 56 3E 09 78 06 03 12 01 40", asks, container},
		"an empty container":   {"E 06 00 08 12 34 56 3E 09 78 06 00", asks, container},
		"one in the enquiry":   {"E 06 00 06 12 34 56 3E 09 78", "E 05 01 07 12 34 56 03 07 06 00", container},
		"containers, no bit":   {"E 06 00 08 12 34 56 3E 09 78 06 00", "E 05 01 05 12 34 56 03 02", short},
		"logged off since":     {"E 06 02 00", asks, short},
		"list in this enquiry": {"E 06 02 00", "E 05 01 0B 12 34 56 03 07 06 04 1F 72 01 00", container},
	} {
		var lines []string
		if c.before != "" {
			lines = append(lines, c.before)
			if c.before[:7] == "E 06 00" {
				lines = append(lines, "< saved", "E 80 00 00")
			}
		}
		require.Equal(t, []string{c.want}, sent(t, append(lines, c.asks, "< health ready")...), register)
	}
}

// TestField_L14CodesFit: an amount of nothing is too small, a refund of more than is left exceeds
// the maximum; B7 reads as a pre-authorisation's to registers, and stays for a reversal of another
// amount. A sale that is being aborted shows "please wait".
func TestField_L14CodesFit(t *testing.T) {
	for command, want := range map[string]string{
		"E 06 01 07 04 00 00 00 00 00 00":                   "P 04 0F 07 27 C8 29 52 50 00 38",
		"E 06 01 00":                                        "P 04 0F 07 27 C8 29 52 50 00 38",
		"E 06 01 07 04 00 00 00 00 12 50":                   "P 04 0F 07 27 B7 29 52 50 00 38",
		"E 06 31 0D 12 34 56 04 00 00 00 00 12 50 87 00 07": "P 04 0F 07 27 C3 29 52 50 00 38",
		"E 06 30 0D 12 34 56 04 00 00 00 00 12 50 87 00 07": "P 04 0F 07 27 B7 29 52 50 00 38",
	} {
		require.Equal(t, []string{"P 80 00 00", want}, sent(t, command, "< refused amount_wrong"), command)
	}
	end := sent(t, "E 06 01 00", "< refused amount_wrong", "E 80 00 00")
	require.Equal(t, []string{"P 06 1E 01 C8"}, end)
	running := []string{"E 06 00 06 12 34 56 08 09 78", "< saved", "E 80 00 00", "E 06 01 07 04 00 00 00 00 12 50", "< begun s1", "< progress reversing"}
	require.Contains(t, sent(t, running...), "P 04 FF 01 17")
}

// TestField_L14LinesBreakBetweenWords: what is longer than the paper is broken between words, a
// word that is longer is cut.
func TestField_L14LinesBreakBetweenWords(t *testing.T) {
	for text, want := range map[string][]string{
		"method list: 12, 3 minutes fresh":             {"method list: 12, 3", "minutes fresh"},
		"exactly twenty-four wide":                     {"exactly twenty-four wide"},
		"exactly twenty-four wide, and more":           {"exactly twenty-four", "wide, and more"},
		"twenty-four characters!! and a word":          {"twenty-four characters!!", "and a word"},
		"https://pay.example/with/a/long/path and so":  {"https://pay.example/with", "/a/long/path and so"},
		"see https://pay.example/with/a/long/path":     {"see", "https://pay.example/with", "/a/long/path"},
		"! receipt 0003 still settling":                {"! receipt 0003 still", "settling"},
		"":                                             {""},
		" Payments of a wallet with a long name\t1.00": {" Payments of a wallet", "with a long name", "                    1.00"},
		"Total\t12.50 EUR":                             {"Total          12.50 EUR"},
	} {
		var got []string
		for _, l := range layOut([]textLine{{attrNormal, text}}, 24) {
			got = append(got, l.text)
		}
		require.Equal(t, want, got)
	}
}
