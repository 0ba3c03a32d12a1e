package outbox

import (
	"errors"
	"fmt"
	"slices"
)

// ErrState is the answer to a verb that does not fit the operation's state.
var ErrState = errors.New("not possible in this state")

// position is where an operation is in its life: all that the table decides by.
type position struct {
	State  State
	Resume State // where a HELD or doubtful operation goes on, and an EXPIRED one that is revived; of another final one it says nothing
}

// event is a verdict on an attempt, or a verb.
type event struct {
	verb    verb    // of a person, a caller or the outbox; "" = a verdict
	verdict State   // what the sender said
	attempt attempt // of which the verdict is
}

// verb is what is done to an operation beside sending it.
type verb string

// The verbs.
const (
	accept        verb = "accept"
	revive        verb = "revive"         // accept again what was withdrawn
	leave         verb = "leave"          // an attempt begins: the state is durable before the first byte leaves
	expire        verb = "expire"         // older than Kind.MaxAge
	forget        verb = "forget"         // sent longer ago than the backend remembers a Key
	distrust      verb = "distrust"       // the row does not verify, cannot be read, or has no sender
	distrustAway  verb = "distrust away"  // the same, found when an attempt ends
	fail          verb = "fail"           // the operation before it failed, and its kind breaks those behind
	hold          verb = "hold"           // set aside
	holdRestored  verb = "hold restored"  // set aside in a journal from an earlier time: it may have been sent since
	release       verb = "release"        // go on
	sendNow       verb = "send now"       // try at once
	askNow        verb = "ask now"        // the same, of a kind that can find out by reading (Kind.Asks)
	resolveDone   verb = "resolve done"   // a person says that it was done
	resolveFailed verb = "resolve failed" // a person says that it was not
	withdraw      verb = "withdraw"       // give up what was never sent
)

// attempt says what an attempt can have done.
type attempt string

// The attempts.
const (
	reading attempt = "reading" // only read: nothing left the terminal
	first   attempt = "first"   // no earlier attempt was sent
	only    attempt = "only"    // the same, of a kind that is never sent again (Never)
	again   attempt = "again"   // an earlier attempt may have had an effect
)

// effect is what belongs to a move, in the same commit.
type effect string

// The effects.
const (
	write     effect = "write"      // the row is written; without this nothing has happened
	sentNow   effect = "sent now"   // the age of the Key counts from now, unless it does already
	sentSince effect = "sent since" // it counts from when the journal was saved last
	unsent    effect = "unsent"     // it does not count: nothing was sent
	rest      effect = "rest"       // the next try comes by the back-off
	restShort effect = "rest short" // by the back-off of what was not sent
	due       effect = "due"        // the next try comes at once
	finish    effect = "finish"     // the payload's key is destroyed
	settle    effect = "settle"     // Kind.Settled, and Kind.After behind the commit
	breaks    effect = "breaks"     // the unsent operations behind it fail too, where Kind.Breaks
)

// move is what becomes of an operation.
type move struct {
	to     State // "" = it stays; or one of the words below
	resume State // "" = as it was; here = the state it is in
	do     []effect
}

// Words of a move that stand for a state.
const (
	here       State = "here"        // the state it is in
	goOn       State = "go on"       // its Resume, which the move may have set
	unlessHeld State = "unless held" // the same, but a HELD one stays HELD until it is released
)

// nothing is the verdict of a sender that said no state: it proves nothing.
const nothing State = "nothing"

// rule is one line of the table: its events make its move in its states.
type rule struct {
	on []event
	in []State
	move
}

var (
	absent   = []State{""} // not stored yet
	sendable = []State{Pending, Sent}
	waiting  = []State{Pending, Sent, Held, Doubt}
	final    = []State{Done, Failed, Expired}

	ends   = []effect{write, finish, settle}
	fails  = []effect{write, finish, settle, breaks}
	doubts = []effect{write, settle}
)

// moves is the table: the whole life of an operation. What it does not name is refused.
var moves = []rule{
	{verbs(accept), absent, move{Pending, Pending, []effect{write}}},
	{verbs(accept), slices.Concat(waiting, final), move{}}, // the Key decides: the operation is there
	{verbs(revive), []State{Expired}, move{goOn, "", []effect{write, due}}},

	// An attempt begins, or nothing may leave any more.
	{verbs(leave), sendable, move{Sent, Sent, []effect{write, sentNow}}},
	{verbs(leave), []State{Held, Doubt, Done, Failed, Expired}, move{}}, // held, or at its end, meanwhile
	{verbs(expire, withdraw), []State{Pending}, move{Expired, "", fails}},
	{verbs(fail), []State{Pending}, move{Failed, "", fails}},
	{verbs(forget), []State{Sent}, move{Doubt, Sent, doubts}},

	// An attempt ends. A HELD operation ends by a final answer too: it is known now.
	{verdicts(Done, reading, first, only, again), waiting, move{Done, "", ends}},
	{verdicts(Failed, reading, first, only, again), waiting, move{Failed, "", fails}},
	{verdicts(Expired, reading, first, only), waiting, move{Expired, Pending, append([]effect{unsent}, fails...)}},
	{verdicts(Doubt, first, only, again), waiting, move{Doubt, Sent, doubts}},
	{verdicts(Sent, only), waiting, move{Doubt, Sent, doubts}}, // nothing may be sent again to find out
	{verdicts(Pending, reading, first, only), waiting, move{unlessHeld, Pending, []effect{write, unsent, restShort}}},
	{verdicts(Doubt, reading), waiting, move{unlessHeld, Pending, []effect{write, unsent, restShort}}}, // a reading proves nothing
	{verdicts(Pending, again), waiting, move{unlessHeld, "", []effect{write, restShort}}},              // the earlier attempt may have had an effect
	{verdicts(Expired, again), waiting, move{unlessHeld, "", []effect{write, rest}}},                   // likewise
	{verdicts(Sent, reading, first, again), waiting, move{unlessHeld, "", []effect{write, rest}}},
	{verdicts(nothing, reading, first, only, again), waiting, move{unlessHeld, "", []effect{write, rest}}},
	{verdicts(Held, reading, first, only, again), waiting, move{Held, "", []effect{write}}},
	{everyVerdict(), final, move{}}, // resolved by a person while it was under way

	// Set aside, and taken up again.
	{verbs(hold, distrust), sendable, move{Held, here, []effect{write}}},
	{verbs(holdRestored), []State{Pending, Sent, Held}, move{Held, Sent, []effect{write, sentSince}}},
	{verbs(holdRestored), []State{Expired}, move{"", Sent, []effect{write, sentSince}}}, // it may have been revived, and sent
	{verbs(distrust), final, move{Held, Sent, []effect{write}}},                         // its state may have been altered: then it is money that waits
	{verbs(distrustAway), []State{Pending, Sent, Doubt}, move{Held, Sent, []effect{write}}},
	{verbs(distrustAway), []State{Held}, move{Held, "", []effect{write}}},
	{verbs(distrustAway), final, move{}},
	{verbs(release), []State{Held}, move{goOn, "", []effect{write, due}}},
	{verbs(sendNow, askNow), sendable, move{"", "", []effect{write, due}}},
	{verbs(askNow), []State{Doubt}, move{Sent, Sent, []effect{write, due}}},
	{verbs(resolveDone), []State{Doubt, Held}, move{Done, "", ends}},
	{verbs(resolveFailed), []State{Doubt, Held}, move{Failed, "", fails}},
}

// next returns where an operation is after an event, and what belongs to the move. No effects mean
// that nothing has happened. It returns ErrState, and the operation stays, where the event does not
// fit the state.
func next(p position, e event) (position, []effect, error) {
	for i := range moves {
		if r := &moves[i]; slices.Contains(r.in, p.State) && slices.Contains(r.on, e) {
			return r.move.of(p), r.do, nil
		}
	}
	return p, nil, fmt.Errorf("%w: %s", ErrState, p.State)
}

// of returns the position behind the move.
func (m move) of(p position) position {
	was := p.State
	switch m.resume {
	case "":
	case here:
		p.Resume = was
	default:
		p.Resume = m.resume
	}
	switch m.to {
	case "":
	case goOn:
		p.State = p.Resume
	case unlessHeld:
		if was != Held {
			p.State = p.Resume
		}
	default:
		p.State = m.to
	}
	return p
}

// answered is the event of a verdict.
func answered(v State, a attempt) event {
	if !slices.Contains(waiting, v) && !slices.Contains(final, v) {
		v = nothing
	}
	return event{verdict: v, attempt: a}
}

func verbs(list ...verb) (on []event) {
	for _, v := range list {
		on = append(on, event{verb: v})
	}
	return on
}

func verdicts(v State, of ...attempt) (on []event) {
	for _, a := range of {
		on = append(on, event{verdict: v, attempt: a})
	}
	return on
}

func everyVerdict() (on []event) {
	for _, v := range []State{Done, Failed, Expired, Doubt, Pending, Sent, Held, nothing} {
		on = append(on, verdicts(v, reading, first, only, again)...)
	}
	return on
}
