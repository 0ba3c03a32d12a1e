package hosted

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room/roomtest"
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
	n := roomtest.Matrix(t, states, events, want, next)
	require.Len(t, edges, n)
	for _, s := range []State{Complete, Expired, Cancelled} { // no way back over the end
		require.Empty(t, want[s])
	}
}
