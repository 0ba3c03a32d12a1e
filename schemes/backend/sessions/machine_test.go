package sessions

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole state × event matrix: what is not written here is refused and changes nothing.
func TestMatrix(t *testing.T) {
	states := []State{Choosing, Collecting, Ready, Away, Complete, Expired, Cancelled}
	events := []event{evCard, evOther, evFilled, evSpoilt, evAsk, evSettle, evExpire, evAbandon}
	want := map[State]map[event]State{
		Choosing:   {evCard: Collecting, evOther: Away, evExpire: Expired, evAbandon: Cancelled},
		Collecting: {evFilled: Ready, evSpoilt: Collecting, evExpire: Expired, evAbandon: Cancelled},
		Ready:      {evFilled: Ready, evSpoilt: Collecting, evAsk: Away, evSettle: Complete, evExpire: Expired, evAbandon: Cancelled},
		Away:       {evSettle: Complete, evExpire: Complete, evAbandon: Cancelled},
	}
	n := 0
	for _, s := range states {
		for _, e := range events {
			to, ok := next(s, e)
			expect, listed := want[s][e]
			require.Equal(t, listed, ok, "%s %s", s, e)
			if !listed {
				expect = s
			} else {
				n++
			}
			require.Equal(t, expect, to, "%s %s", s, e)
		}
	}
	require.Len(t, edges, n)
	for _, s := range []State{Complete, Expired, Cancelled} { // no way back over the end
		require.Empty(t, want[s])
	}
}
