package entry

// Phase is where an entry stands.
type Phase uint8

// The phases. All but Typing are ends.
const (
	Typing Phase = iota
	Accepted
	Cancelled
	TimedOut
)

// event is what can happen to an entry.
type event uint8

const (
	digit event = iota
	correct
	confirm
	cancel
	choice // a key that means nothing here
	gap
	timeout
	events
)

// eventOf returns what a key means.
func eventOf(k Key) event {
	if _, ok := k.Digit(); ok {
		return digit
	}
	switch k {
	case Correct:
		return correct
	case Confirm:
		return confirm
	case Cancel:
		return cancel
	case Gap:
		return gap
	}
	return choice
}

// action is what an entry does.
type action uint8

const (
	ignore  action = iota
	add            // the digit, where there is room for it
	remove         // the last digit
	accept         // where the value is within its bounds
	restart        // wipe, and say why
	end            // wipe
)

// step is a cell of the table.
type step struct {
	do action
	to Phase
}

// table is every step while an entry is typed. An entry that has ended ignores everything. accept leads to its phase only
// where the value is within its bounds.
var table = [events]step{
	digit:   {add, Typing},
	correct: {remove, Typing},
	confirm: {accept, Accepted},
	cancel:  {end, Cancelled},
	choice:  {ignore, Typing},
	gap:     {restart, Typing},
	timeout: {end, TimedOut},
}
