package zvt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinesForThePrinterAreBounded: a register that never ends a piece of paper ends one all the same,
// and what it was told is stored is.
func TestLinesForThePrinterAreBounded(t *testing.T) {
	for name, text := range map[string]string{"short": "41", "long": strings.Repeat("41", 240)} {
		cfg := testConfig()
		cfg.Prints = true
		s := &script{m: New(cfg, nil), gen: map[string]int{}}
		line := fmt.Sprintf("E 06 D1 %02X 00 %s", 1+len(text)/2, strings.ReplaceAll(text, "41", "41 "))
		sent := 0
		for ; len(s.m.paper) < mostPaper && (len(s.out) == 0 || !strings.HasPrefix(s.out[0], "> print")); sent++ {
			s.out = nil
			s.input(t, line)
		}
		require.True(t, strings.HasPrefix(s.out[0], "> print [A"), name)
		require.Equal(t, sent, strings.Count(s.out[0], "[A"), name)
		require.LessOrEqual(t, sent, mostPaper, name)
		require.Less(t, len(s.out[0]), 12<<10, name)
		s.out = nil
		s.input(t, "< printed")
		require.Equal(t, []string{"P 80 00 00"}, s.out, name)
	}
}
