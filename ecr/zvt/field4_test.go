package zvt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField4_TillsARangeOfReceiptsNamesNone: 06 12 asks for the receipts of a range as such; for one alone it
// asks as 06 20 with its number does, which shows that the register has heard of it.
func TestField4_TillsARangeOfReceiptsNamesNone(t *testing.T) {
	for command, want := range map[string][]ecr.Last{
		"06 12 05 12 34 56 00 07":          {{Receipt: 7}},
		"06 12 07 12 34 56 00 07 00 07":    {{Receipt: 7}},
		"06 12 07 12 34 56 00 07 00 09":    {{Receipt: 7, Listed: true}, {Receipt: 8, Listed: true}, {Receipt: 9, Listed: true}},
		"06 20 08 12 34 56 03 03 87 00 07": {{Receipt: 7}},
	} {
		m := New(testConfig(), nil)
		var got []ecr.Last
		for queue := []ecr.Event{ecr.Received{Data: unhex(t, command)}}; len(queue) > 0; queue = queue[1:] {
			for _, a := range m.Step(queue[0]) {
				if a, ok := a.(ecr.Last); ok {
					queue = append(queue, ecr.NotBegun{Gen: a.Gen})
					a.Gen = 0
					got = append(got, a)
				}
			}
		}
		require.Equal(t, want, got, command)
	}
}
