package update

import "fmt"

// State is what an update has come to. It is written down before it is entered.
type State string

// The states of an update.
const (
	Idle       State = "IDLE"       // nothing is under way
	Placing    State = "PLACING"    // the new program is being put in place
	Trial      State = "TRIAL"      // it is in place, and may be taken back
	Confirming State = "CONFIRMING" // it stays
	Returning  State = "RETURNING"  // the program before is being put back
)

// event is what takes an update on.
type event string

const (
	begin    event = "begin"    // a newer program is at hand
	placed   event = "placed"   // it is in place
	cut      event = "cut"      // the box or this program ended in the middle
	healthy  event = "healthy"  // the terminal works as before
	sick     event = "sick"     // it does not
	returned event = "returned" // the program before is in place again
	kept     event = "kept"     // nothing says any more that there is a trial
	foreign  event = "foreign"  // somebody else has put another program in place: a package, say
)

// moves says where each event leads. What is not in it does not happen: from the confirmation on there is no way back.
var moves = map[State]map[event]State{
	Idle:       {begin: Placing},
	Placing:    {placed: Trial, sick: Returning, cut: Returning, foreign: Idle},
	Trial:      {healthy: Confirming, sick: Returning, cut: Trial, foreign: Idle},
	Confirming: {kept: Idle, cut: Confirming, foreign: Idle},
	Returning:  {returned: Idle, cut: Returning, foreign: Idle},
}

// next returns the state after an event.
func next(s State, e event) (State, error) {
	to, ok := moves[s][e]
	if !ok {
		return s, fmt.Errorf("update: %s does not happen in %s", e, s)
	}
	return to, nil
}
