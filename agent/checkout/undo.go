package checkout

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// undo makes the undo durable and tells: from here no edge leads to an approval.
func undo(s State, e Event, why string) (State, []Effect) {
	s.Phase, s.LastRead, s.Unheard, s.Settling = Reversing, false, false, false
	s = decide(s, ecr.Aborted, ecr.AbortedByUser, why)
	out := hide(&s)
	s, next := attempt(s, e)
	return s, append(append(out, next...), Effect{Do: Tell})
}

// attempt starts an undo operation where the method has one that can be sent now; else the original
// is asked again.
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
	case u.OK && unread(s) && !s.UndoRefund && !u.Moved && !u.ByHand:
		// "Reversed" from a service that did not know the sale a read before says nothing of the sale.
		s.UndoOpen, s.AnswerAt = false, e.Now
		return s, []Effect{{Do: ReadStatus}}
	case u.OK:
		s.Phase, s.UndoOpen = Done, false
		return s, []Effect{{Do: StopReading}}
	case u.InDoubt && s.UndoRefund: // a second refund could give back twice: a person decides
		return s, []Effect{{Do: Exception, Text: "undo by refund is in doubt: " + u.Text, Short: Customer}}
	}
	s.UndoOpen, s.UndoNo, s.AnswerAt = false, true, e.Now
	out := []Effect{{Do: ReadStatus, After: undoBackoff(s.UndoTries)}}
	if s.UndoTries == loudUndo {
		out = append(out, Effect{Do: Exception, Text: "undo did not succeed: " + u.Text, Short: Customer})
	}
	return s, out
}

// unread says of what was once seen alive that the service did not know it at the last read, or that
// no read has found it yet: who answers now need not be who has taken it (MONEY law V).
func unread(s State) bool { return s.Missing || !s.Found && s.Wire == "" && SeenAlive(s) }

// undoBackoff is the pause after an undo attempt that ended in a no: none, then 30 s doubling to 5
// minutes.
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
	if foreign(&s, e) {
		return originalStatusFailed(s, e)
	}
	return originalKnown(learn(s, e), e)
}

func originalKnown(s State, e Event) (State, []Effect) {
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
		return notFound(s, e)
	}
	// Money is owed: it goes on within a minute of the network's return (the other watches may take
	// five).
	if e.Name == StatusFailed && e.Failure != NotFound {
		return s, []Effect{{Do: ReadStatus, After: e.Poll.unanswered(e.Silence, watchPause, e.After)}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)}}
}

// notFound ends what the service has never known, now that it can arrive no more. What it has known it
// may know again: that is asked for further, slowly, and the merchant is told once.
func notFound(s State, e Event) (State, []Effect) {
	if !SeenAlive(s) {
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	}
	out := []Effect{{Do: ReadStatus, After: max(longestAfter, e.Poll.floor())}}
	if !s.Unfound {
		s.Unfound = true
		out = append(out, Effect{Do: Exception, Short: Customer,
			Text: "the backend knew it and does not find it any more: no proof that the money went back, compare the backend's portal"})
	}
	return s, out
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
