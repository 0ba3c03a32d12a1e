package checkout

import "posagent/ecr"

// forwardEnded is the end of a refund or reversal that the register asked for.
func forwardEnded(s State, e Event) (State, []Effect) {
	u := e.Undone
	switch {
	case u.Used != nil:
		return usedBack(s, *u.Used, u.Over)
	case u.Withdrawn:
		s.Phase = Done
		s = decide(s, ecr.Aborted, ecr.NoConnection, u.Text)
		return s, []Effect{{Do: Release}, {Do: Tell}}
	case u.OK:
		s.Phase, s.TransactionID = Done, u.TransactionID
		s = decide(s, ecr.Approved, ecr.OK, u.Text)
		return s, []Effect{{Do: GiveReceipt}, {Do: Tell}}
	case u.InDoubt:
		out := except(&s, "in doubt: "+u.Text, Customer)
		return s, out
	}
	s.Phase = Done
	s = decide(s, ecr.Declined, ecr.RejectedByScheme, u.Text)
	return s, []Effect{{Do: Release}, {Do: Tell}}
}
