package zvt

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// Every code that goes out has a word on what comes next, once, and the README has the same words.
func TestEveryResultSaysWhatComesNext(t *testing.T) {
	require.Empty(t, Next(0x00))
	require.Empty(t, Next(0x64), "this terminal reads no cards")
	for _, code := range []ecr.Code{ecr.RejectedByScheme, ecr.AbortedByUser, ecr.WrongCurrency, ecr.Processing, ecr.NoMethod, ecr.AmountWrong,
		ecr.AlreadyReversed, ecr.NotReversible, ecr.Busy, ecr.Impossible, ecr.StillRunning, ecr.NoConnection, ecr.NoOriginal, ecr.NotStored,
		ecr.NotReady, ecr.EODImpossible, ecr.SystemError} {
		require.NotEmpty(t, Next(codeByte(code)), code)
	}
	for _, sent := range []byte{0x37, 0x83, 0xA0, 0xA3, 0xC3, 0xC8} { // what no code of the desk stands for
		require.NotEmpty(t, Next(sent), "%02X", sent)
	}

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var rows strings.Builder
	seen := map[byte]bool{}
	for _, r := range Results() {
		require.False(t, seen[r.Code], "%02X stands twice", r.Code)
		seen[r.Code] = true
		fmt.Fprintf(&rows, "| %02X | %s | %s |\n", r.Code, apdu.ResultName(r.Code), r.Next)
	}
	require.Contains(t, string(readme), "|---|---|---|\n"+rows.String()+"\n", "the table of codes")
	require.LessOrEqual(t, strings.Count(string(readme), "\n"), 200, "lines")
}
