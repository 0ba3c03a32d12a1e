package update

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// matrix is the life of an update, written out; "" = the event does not happen in the state.
var matrix = map[State]map[event]State{
	Idle:       {begin: Placing, placed: "", cut: "", healthy: "", sick: "", returned: "", kept: "", foreign: ""},
	Placing:    {begin: "", placed: Trial, cut: Returning, healthy: "", sick: Returning, returned: "", kept: "", foreign: Idle},
	Trial:      {begin: "", placed: "", cut: Trial, healthy: Confirming, sick: Returning, returned: "", kept: "", foreign: Idle},
	Confirming: {begin: "", placed: "", cut: Confirming, healthy: "", sick: "", returned: "", kept: Idle, foreign: Idle},
	Returning:  {begin: "", placed: "", cut: Returning, healthy: "", sick: "", returned: Idle, kept: "", foreign: Idle},
}

func TestTheLifeOfAnUpdate(t *testing.T) {
	events := []event{begin, placed, cut, healthy, sick, returned, kept, foreign}
	for _, s := range []State{Idle, Placing, Trial, Confirming, Returning} {
		require.Len(t, matrix[s], len(events))
		for _, e := range events {
			to, err := next(s, e)
			if want := matrix[s][e]; want != "" {
				require.NoError(t, err, "%s %s", s, e)
				require.Equal(t, want, to, "%s %s", s, e)
				continue
			}
			require.Error(t, err, "%s %s", s, e)
			require.Equal(t, s, to)
		}
	}
}

// Once an update is confirmed, nothing takes it back by itself: the journal may be the new program's alone from then on.
func TestNoWayBackAfterTheTrial(t *testing.T) {
	reached := map[State]bool{}
	var walk func(State)
	walk = func(s State) {
		if s == Idle || reached[s] {
			return
		}
		reached[s] = true
		for _, to := range moves[s] {
			walk(to)
		}
	}
	walk(Confirming)
	require.Equal(t, map[State]bool{Confirming: true}, reached)
}
