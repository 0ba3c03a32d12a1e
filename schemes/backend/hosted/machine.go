package hosted

import "posagent/schemes/hosted"

// State is where a session stands. It is stored by name.
type State string

// The states: those of S2 3, and the two that answer nothing any more.
const (
	Choosing   State = hosted.MethodSelection
	Collecting State = hosted.CardCollection
	Ready      State = hosted.Ready
	Away       State = hosted.Redirected
	Complete   State = hosted.Complete
	Expired    State = "EXPIRED"
	Cancelled  State = "CANCELLED"
)

// event is what happens to a session.
type event string

const (
	evCard    event = "card"    // the customer chooses a card
	evOther   event = "other"   // or an alternative method
	evFilled  event = "filled"  // every field is good
	evSpoilt  event = "spoilt"  // one no longer is
	evAsk     event = "ask"     // the bank asks the cardholder
	evSettle  event = "settle"  // the payment has its result
	evExpire  event = "expire"  // the five minutes are over
	evAbandon event = "abandon" // the merchant cancels
)

type edge struct {
	from State
	on   event
	to   State
}

// edges is the state machine of a session. What it does not list is refused.
var edges = [...]edge{
	{Choosing, evCard, Collecting}, {Choosing, evOther, Away}, {Choosing, evExpire, Expired}, {Choosing, evAbandon, Cancelled},
	{Collecting, evFilled, Ready}, {Collecting, evSpoilt, Collecting}, {Collecting, evExpire, Expired}, {Collecting, evAbandon, Cancelled},
	{Ready, evFilled, Ready}, {Ready, evSpoilt, Collecting}, {Ready, evAsk, Away}, {Ready, evSettle, Complete}, {Ready, evExpire, Expired}, {Ready, evAbandon, Cancelled},
	{Away, evSettle, Complete}, {Away, evExpire, Complete}, {Away, evAbandon, Cancelled},
}

// next gives the state after an event; false: it is refused in this state.
func next(s State, e event) (State, bool) {
	for _, x := range edges {
		if x.from == s && x.on == e {
			return x.to, true
		}
	}
	return s, false
}

// refusal is why a session in this state answers nothing; "" = it answers.
func (s State) refusal() string {
	switch s {
	case Expired:
		return hosted.SessionExpired
	case Cancelled:
		return hosted.SessionCanceled
	}
	return ""
}
