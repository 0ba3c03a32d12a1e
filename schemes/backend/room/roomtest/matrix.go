package roomtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Matrix holds a state machine to want, for each state and event. What want does not list is refused
// and changes nothing. It returns how many edges want lists.
func Matrix[S, E ~string](tb testing.TB, states []S, events []E, want map[S]map[E]S, next func(S, E) (S, bool)) (edges int) {
	tb.Helper()
	for _, s := range states {
		for _, e := range events {
			to, ok := next(s, e)
			expect, listed := want[s][e]
			require.Equal(tb, listed, ok, "%s %s", s, e)
			if listed {
				edges++
			} else {
				expect = s
			}
			require.Equal(tb, expect, to, "%s %s", s, e)
		}
	}
	return edges
}
