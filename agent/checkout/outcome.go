package checkout

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// settleWatch is how long after its exception a settling sale is still asked for.
const settleWatch = 24 * time.Hour

// ---- approved ----

func approve(s State, e Event) (State, []Effect) {
	s.Phase, s.LastRead = Approved, false
	s = decide(s, ecr.Approved, ecr.OK, "approved: "+string(s.Wire))
	s.Settling = s.Account != aapay.Commit
	out := append(hide(&s), Effect{Do: GiveReceipt}, Effect{Do: Tell})
	if s.Settling {
		return s, append(out, Effect{Do: ReadStatus, After: e.Poll.watch(0, e.After)})
	}
	return s, append(out, Effect{Do: StopReading})
}

func confirm(s State, _ Event) (State, []Effect) {
	s.Phase = Confirmed
	return s, nil
}

func unacknowledged(s State, e Event) (State, []Effect) {
	s.Phase = Unconfirmed
	if e.Name == Restarted && e.NewBoot {
		s = rebase(s, e)
	}
	s.UntoldAt = e.Now
	return s, settleOn(s)
}

func unacknowledgedAgain(s State, e Event) (State, []Effect) {
	if e.NewBoot {
		s = rebase(s, e)
	}
	return s, settleOn(s)
}

func settleAgain(s State, e Event) (State, []Effect) { return unacknowledgedAgain(s, e) }

func settleOn(s State) []Effect {
	if !s.Settling {
		return nil
	}
	return []Effect{{Do: ReadStatus}}
}

// startUndo undoes an approval that the register does not have.
func startUndo(s State, e Event) (State, []Effect) {
	why := e.Text
	if why == "" {
		why = map[Name]string{
			Refused: "the register refused it", GraceOver: "the register never acknowledged it", EndOfDay: "not acknowledged before the end of day",
		}[e.Name]
	}
	return undo(s, e, why)
}

// nextFinancialCommand confirms the sale if the command shows that the register has it, else undoes it.
func nextFinancialCommand(s State, e Event) (State, []Effect) {
	if e.Sync == Same {
		return confirm(s, e)
	}
	return undo(s, e, "the register went on without it")
}

func closed(s State, _ Event) (State, []Effect) {
	s.Closed = true
	if !s.Settling {
		s.Phase = Done
	}
	return s, nil
}

// settle watches an approval without COMMIT.
func settle(s State, e Event) (State, []Effect) {
	if !s.Settling {
		return s, nil
	}
	if foreign(s, e.Status) {
		return unsettled(s, e)
	}
	s = learn(s, e)
	switch {
	case s.Account == aapay.Commit:
		s.Settling = false
		return ifClosed(s, nil)
	case finalNo(s):
		out := except(&s, "approved, but it ended "+string(s.Wire)+" without COMMIT")
		s.Settling = false
		return ifClosed(s, out)
	case Judge(s.Wire, s.Account, nil) == Overdue:
		out := append(except(&s, "approved, but it timed out without COMMIT"), Effect{Do: ReadStatus, After: e.Poll.watch(0, e.After)})
		return s, out
	case e.Now >= clampSum(s.WireAt, s.Limits.FinalizeTimeout, settleWatch):
		s.Settling = false
		return ifClosed(s, nil)
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(0, e.After)}}
}

func unsettled(s State, e Event) (State, []Effect) {
	if !s.Settling {
		return s, nil
	}
	if e.Name == StatusFailed && e.Failure != NotFound {
		return s, []Effect{{Do: ReadStatus, After: e.Poll.unanswered(e.Silence, watchPause, e.After)}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(0, e.After)}}
}

func settleClock(s State, e Event) (State, []Effect) {
	if expired(s, e.Now) != notFinalized {
		return s, nil
	}
	if s.Wire == aapay.Reserved {
		out := except(&s, "approved and reserved, but not finalized in time")
		return s, out
	}
	s.Settling = false
	return ifClosed(s, []Effect{{Do: StopReading}})
}

func except(s *State, text string) []Effect {
	if s.Excepted {
		return nil
	}
	s.Excepted = true
	return []Effect{{Do: Exception, Text: text}}
}

func ifClosed(s State, out []Effect) (State, []Effect) {
	if s.Phase == Confirmed && s.Closed {
		s.Phase = Done
	}
	return s, out
}

// ---- declined, and watched ----

func declinedRead(s State, e Event) (State, []Effect) {
	if foreign(s, e.Status) {
		return declinedStatusFailed(s, e)
	}
	s = learn(s, e)
	switch {
	case s.Account == aapay.Commit:
		return undo(s, e, "paid after it was declined")
	case !finalNo(s):
		return undo(s, e, "live after it was declined")
	case windowOver(s, e):
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)}}
}

func declinedStatusFailed(s State, e Event) (State, []Effect) {
	if e.Failure == NotFound && windowOver(s, e) {
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	}
	most := watchPause
	if untilWindow(s, e.Now) == 0 {
		most = longestAfter
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.unanswered(e.Silence, most, e.After)}}
}

func watchAgain(s State, e Event) (State, []Effect) {
	if e.NewBoot {
		s = rebase(s, e)
	}
	return s, []Effect{{Do: ReadStatus}}
}

// ---- undo ----

// undo makes the undo durable and tells: from here no edge leads to an approval.
func undo(s State, e Event, why string) (State, []Effect) {
	s.Phase, s.LastRead, s.Unheard, s.Settling = Reversing, false, false, false
	s = decide(s, ecr.Aborted, ecr.AbortedByUser, why)
	out := hide(&s)
	s, next := attempt(s, e)
	return s, append(append(out, next...), Effect{Do: Tell})
}

// attempt starts an undo operation where the method has one that can be sent now; else the original is asked again.
func attempt(s State, e Event) (State, []Effect) {
	switch {
	case s.CanReverse:
		s.UndoTries++
		s.UndoOpen, s.UndoRefund, s.UndoNo = true, false, false
		return s, []Effect{{Do: StopReading}, {Do: Reverse, Attempt: s.UndoTries}}
	case s.CanRefund && s.Account == aapay.Commit && s.TransactionID != 0:
		s.UndoTries++
		s.UndoOpen, s.UndoRefund, s.UndoNo = true, true, false
		return s, []Effect{{Do: StopReading}, {Do: RefundUndo, Attempt: s.UndoTries}}
	}
	after := time.Duration(0)
	if e.Name == StatusRead || e.Name == StatusFailed {
		after = e.Poll.watch(untilWindow(s, e.Now), e.After)
	}
	return s, []Effect{{Do: ReadStatus, After: after}}
}

// undone is the end of an undo operation.
func undone(s State, e Event) (State, []Effect) {
	u := e.Undone
	switch {
	case !s.UndoOpen:
		return s, nil
	case u.OK:
		s.Phase, s.UndoOpen = Done, false
		return s, []Effect{{Do: StopReading}}
	case u.InDoubt && s.UndoRefund: // a second refund could give back twice: a person decides
		return s, []Effect{{Do: Exception, Text: "undo by refund is in doubt: " + u.Text}}
	}
	s.UndoOpen, s.UndoNo, s.AnswerAt = false, true, e.Now
	out := []Effect{{Do: ReadStatus, After: undoBackoff(s.UndoTries)}}
	if s.UndoTries == loudUndo {
		out = append(out, Effect{Do: Exception, Text: "undo did not succeed: " + u.Text})
	}
	return s, out
}

// undoBackoff is the pause after an undo attempt that ended in a no: none, then 30 s doubling to 5 minutes.
func undoBackoff(tries int) time.Duration {
	if tries <= 1 {
		return 0
	}
	if tries > 6 {
		return undoPauseMax
	}
	return min(undoPause<<(tries-2), undoPauseMax)
}

// originalRead looks at the original while no undo operation runs.
func originalRead(s State, e Event) (State, []Effect) {
	if foreign(s, e.Status) {
		return originalStatusFailed(s, e)
	}
	s = learn(s, e)
	switch {
	case s.UndoOpen:
		return s, nil
	case !finalNo(s) && !(lapsed(s, e) && !s.CanReverse):
		return attempt(s, e)
	case windowOver(s, e):
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)}}
}

func originalStatusFailed(s State, e Event) (State, []Effect) {
	switch {
	case s.UndoOpen:
		return s, nil
	case e.Failure == NotFound && windowOver(s, e):
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	}
	// Money is owed: it goes on within a minute of the network's return (the other watches may take five).
	if e.Name == StatusFailed && e.Failure != NotFound {
		return s, []Effect{{Do: ReadStatus, After: e.Poll.unanswered(e.Silence, watchPause, e.After)}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)}}
}

func undoAgain(s State, e Event) (State, []Effect) {
	if e.NewBoot {
		s = rebase(s, e)
	}
	if s.UndoOpen {
		return s, nil
	}
	return s, []Effect{{Do: ReadStatus}}
}

// ---- refunds and reversals the register asked for ----

func forwardEnded(s State, e Event) (State, []Effect) {
	u := e.Undone
	switch {
	case u.Withdrawn:
		s.Phase = Done
		s = decide(s, ecr.Aborted, ecr.NoConnection, u.Text)
		return s, []Effect{{Do: Release}, {Do: Tell}}
	case u.OK:
		s.Phase, s.TransactionID = Done, u.TransactionID
		s = decide(s, ecr.Approved, ecr.OK, u.Text)
		return s, []Effect{{Do: GiveReceipt}, {Do: Tell}}
	case u.InDoubt:
		out := except(&s, "in doubt: "+u.Text)
		return s, out
	}
	s.Phase = Done
	s = decide(s, ecr.Declined, ecr.RejectedByScheme, u.Text)
	return s, []Effect{{Do: Release}, {Do: Tell}}
}
