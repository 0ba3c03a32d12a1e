package zvt_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr/zvt"
)

// An outline names command, result, status and fields. Amounts, passwords, cards and texts stay out of it.
func TestOutlineTellsNoValue(t *testing.T) {
	for message, want := range map[string]string{
		"06 00 06 94 82 13 BA 09 78":             "06 00 registration",
		"06 01 07 04 00 00 00 00 12 50":          "06 01 authorisation, fields 04",
		"06 01 0A 04 00 00 00 00 12 50 49 09 78": "06 01 authorisation, fields 04 49",
		"80 00 00":                               "80 00 acknowledge",
		"84 00 00":                               "84 00 acknowledge",
		"84 83 00":                               "84 83 refused, function not possible",
		"06 1E 01 6C":                            "06 1E abort, result 6C aborted",
		"04 FF 01 0E":                            "04 FF intermediate-status, status 0E please wait",
		"04 0F 0D 27 00 22 F0 F8 41 11 11 11 11 11 11 11": "04 0F status-information, result 00 ok, fields 27 22",
		"06 D1 06 00 41 6E 6E 61 21":                      "06 D1 print-line",
		"FF FF 00":                                        "FF FF unknown",
		"06":                                              "06 not understood",
		"":                                                "not understood",
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(message, " ", ""))
		require.NoError(t, err)
		got := zvt.Outline(data)
		require.Equal(t, want, got, message)
		for _, value := range []string{"948213", "1250", "12.50", "4111", "Anna", "978"} {
			require.NotContains(t, got, value, message)
		}
	}
}
