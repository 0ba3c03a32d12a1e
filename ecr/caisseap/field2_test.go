package caisseap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/money"
)

// A field that the terminal does not look at may have any length: CZ and CJ are echoed, the others left out of the answer.
// Those that decide something have the protocol's length.
func TestField2_R11_OnlyLengthsThatMatterAreChecked(t *testing.T) {
	long := strings.Repeat("7", 256)
	euro, known := money.Lookup("EUR")
	require.True(t, known)
	for _, tag := range []string{"CZ", "CJ", "CK", "BF", "CI", "BB", "BH", "BI", "AA", "AB", "AL", "AI", "AC", "CG", "ZZ"} {
		for _, v := range []string{"1", "012", "24730012345678", long} {
			text := pay
			if field := fmt.Sprintf("%s%03d%s", tag, len(v), v); tag == "CZ" {
				text = field + pay[9:]
			} else if tag == "CJ" {
				text = pay[:9] + field + pay[26:]
			} else {
				text = strings.Replace(pay, "BF0010", "", 1) + field
			}
			r := read([]byte(text), euro, false)
			require.Empty(t, r.no, "%s %s", tag, v)
			answer := string(r.approval(ecr.Outcome{Receipt: 1}))
			require.Equal(t, tag == "CZ" || tag == "CJ" || tag == "AC", strings.Contains(answer, tag), "%s %s: %s", tag, v, answer)
			require.LessOrEqual(t, len(answer), MaxAnswer)
		}
	}
	for tag, wrong := range map[string]string{
		"CA": "CA003123", "CB": "CB0130000000001250", "CD": "CD00200", "CE": "CE0040978", "CC": "CC002CB", "CF": "CF100" + strings.Repeat("1", 100), "CZ": "CZ257" + long + "7", "CJ": "CJ257" + long + "7",
	} {
		fields := map[string]string{"CZ": "CZ0040300", "CJ": "CJ0011", "CA": "CA00201", "CB": "CB0041250", "CD": "CD0010", "CE": "CE003978"}
		fields[tag] = wrong
		text := ""
		for _, name := range []string{"CZ", "CJ", "CA", "CB", "CD", "CE", "CC", "CF"} {
			text += fields[name]
		}
		require.Equal(t, formatError, read([]byte(text), euro, false).no, tag)
	}
}

// A register that has ended its sending side before the answer is told why it gets none. That is no final no for a refund
// that may go on, nor for a request with a name, which may have been paid before.
func TestField2_R2_WhoLeftIsToldWhy(t *testing.T) {
	for _, c := range []struct {
		data       string
		identified bool
		begun      bool
		want       string
	}{
		{pay, false, false, "06 CONNECTION ENDED BEFORE THE ANSWER"}, {pay, false, true, "06 CONNECTION ENDED BEFORE THE ANSWER"},
		{refund, false, false, "06 CONNECTION ENDED BEFORE THE ANSWER"}, {refund, false, true, "07 RUNNING, DO NOT REPEAT"},
		{pay + "CF001a", true, true, ""}, {refund + "CF001a", true, false, ""}, {"CZ0040300CJ", false, false, "09"},
	} {
		got := string(Left([]byte(c.data), Config{Language: "en", Identified: c.identified}, c.begun))
		if c.want == "" {
			require.Empty(t, got, c.data)
			continue
		}
		require.True(t, strings.HasSuffix(got, fmt.Sprintf("AE00201AF%03d%s", len(c.want), c.want)), "%s: %s", c.data, got)
	}
}
