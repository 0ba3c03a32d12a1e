package zvt

import (
	"time"

	"posagent/ecr/zvt/apdu"
)

// Reaction is how the register answers one message of the terminal. The zero value answers 80 00 00.
type Reaction struct {
	Code       byte          // answer 84 Code instead; 0 = 80 00
	Fields     []apdu.Field  // with the answer
	After      time.Duration // wait before answering
	Silent     bool          // no answer at all
	Disconnect bool          // close the line instead of answering
}

// React chooses the reaction to a message; nil means Accept always. It is called on the command's goroutine, one
// message after the other.
type React func(m apdu.Message) Reaction

// On reacts to the first messages of cmd with the given reactions in order, and accepts everything else.
func On(cmd apdu.Command, reactions ...Reaction) React {
	next := 0
	return func(m apdu.Message) Reaction {
		if m.Cmd != cmd || next >= len(reactions) {
			return Reaction{}
		}
		next++
		return reactions[next-1]
	}
}
