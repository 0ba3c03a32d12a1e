package checkout

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// settleWatch is how long after its exception a settling sale is still asked for.
const settleWatch = 24 * time.Hour

func approve(s State, e Event) (State, []Effect) {
	s.Phase, s.LastRead = Approved, false
	s = decide(s, ecr.Approved, ecr.OK, "approved: "+string(s.Wire))
	s.Settling = s.Account != aapay.Commit
	s.Leaves = s.Till.ByTCP && e.Listening
	out := append(hide(&s), Effect{Do: GiveReceipt}, Effect{Do: Tell})
	if s.Settling {
		return s, append(out, Effect{Do: ReadStatus, After: e.Poll.watch(0, e.After)})
	}
	return s, append(out, Effect{Do: StopReading})
}

func confirm(s State, _ Event) (State, []Effect) {
	s.Phase, s.Leaves = Confirmed, false
	return s, nil
}

func unacknowledged(s State, e Event) (State, []Effect) {
	s.Phase = Unconfirmed
	if e.Name == Restarted && e.NewBoot {
		s = rebase(s, e)
	}
	s.UntoldAt = e.Now
	left := s.Leaves && e.Name == Restarted
	if s.Leaves = false; !left { // else the line was seen to break
		return s, settleOn(s)
	}
	s.Left, s.Till.Keep, s.Till.Kept = true, true, true
	out := []Effect{{Do: Exception, Text: "approved as the terminal stopped, and kept: the till may not have heard it, compare with the till", Short: Customer}}
	return s, append(out, settleOn(s)...)
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

// nextFinancialCommand confirms the sale if the command shows that the register has it, else undoes
// it. What is kept is undone only where the till asks for the same purchase again, and what may have
// been heard as the terminal stopped never is.
func nextFinancialCommand(s State, e Event) (State, []Effect) {
	switch {
	case e.Sync == Same:
		return confirm(s, e)
	case s.Left && e.SameAmount && !s.Twice:
		s.Twice = true
		return s, []Effect{{Do: Exception, Text: "possibly charged twice: the till may not have heard the approval, and has asked for the same amount again", Short: Customer}}
	case s.Left, s.Till.Keep && e.Sync != Again:
		return s, nil
	case e.Sync == Again:
		return undo(s, e, "the till asked for the same purchase again")
	}
	return undo(s, e, "the register went on without it")
}

// graceOver undoes an approval that the register never acknowledged, or keeps it and says so once.
func graceOver(s State, e Event) (State, []Effect) {
	if !s.Till.Keep {
		return startUndo(s, e)
	}
	out := keep(&s)
	return s, out
}

// endOfDay undoes what is not acknowledged, or keeps it for good.
func endOfDay(s State, e Event) (State, []Effect) {
	if !s.Till.Keep {
		return startUndo(s, e)
	}
	out := keep(&s)
	s.Phase = Confirmed
	return s, out
}

func keep(s *State) []Effect {
	if s.Till.Kept {
		return nil
	}
	s.Till.Kept = true
	return []Effect{{Do: Exception, Text: "approved and kept, but the till never fetched the outcome: compare with the till", Short: Customer}}
}

func closeBatch(s State, _ Event) (State, []Effect) {
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
	if foreign(&s, e) {
		return unsettled(s, e)
	}
	s = learn(s, e)
	switch {
	case s.Account == aapay.Commit:
		s.Settling, s.LastRead = false, false
		return ifClosed(s, nil)
	case finalNo(s):
		var out []Effect
		if !e.TakenBack { // else that is what the register wanted
			out = except(&s, endedUnpaid(s), Merchant)
		}
		s.Settling, s.LastRead = false, false
		return ifClosed(s, out)
	case s.LastRead:
		return notSettled(s, e)
	case Judge(s.Wire, s.Account, nil) == Overdue:
		out := append(except(&s, timedOutUnpaid, Merchant), Effect{Do: ReadStatus, After: e.Poll.watch(0, e.After)})
		return s, out
	case e.Now >= clampSum(s.WireAt, s.Limits.FinalizeTimeout, settleWatch):
		s.Settling = false
		return ifClosed(s, nil)
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(0, e.After)}}
}

func endedUnpaid(s State) string {
	return "approved, but it ended " + string(s.Wire) + " without COMMIT"
}

// Unexplained is what the merchant has to be told of an approved payment once its reversal was refused: it has ended without COMMIT, and
// the reversal seemed to be the reason. "" = nothing.
func Unexplained(s State) string {
	if s.Result != ecr.Approved || s.Settling || s.Excepted || s.Committed || !finalNo(s) {
		return ""
	}
	return endedUnpaid(s)
}

func unsettled(s State, e Event) (State, []Effect) {
	switch {
	case !s.Settling:
		return s, nil
	case s.LastRead:
		return notSettled(s, e)
	case s.Excepted && e.Now >= clampSum(s.WireAt, s.Limits.FinalizeTimeout, settleWatch): // the alert stays
		s.Settling = false
		return ifClosed(s, nil)
	case e.Name == StatusFailed && e.Failure != NotFound:
		return s, []Effect{{Do: ReadStatus, After: e.Poll.unanswered(e.Silence, watchPause, e.After)}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(0, e.After)}}
}

// settleClock asks once more when the time to finalize is over; the answer, or its absence, decides.
func settleClock(s State, e Event) (State, []Effect) {
	switch expired(s, e.Now) {
	case notFinalized:
		s.LastRead, s.LimitAt = true, e.Now
		return s, []Effect{{Do: ReadStatus}}
	case noAnswer:
		return notSettled(s, e)
	}
	return s, nil
}

// notSettled is an approval that was not finalized in time, nor found to be at the last read. One that
// is reserved is asked for further: a COMMIT that comes later withdraws the exception.
func notSettled(s State, e Event) (State, []Effect) {
	s.LastRead = false
	if s.Wire == aapay.Reserved {
		out := append(except(&s, "approved and reserved, but not finalized in time", Merchant), Effect{Do: ReadStatus, After: e.Poll.watch(0, e.After)})
		return s, out
	}
	if Judge(s.Wire, s.Account, nil) == Overdue {
		out := append(except(&s, timedOutUnpaid, Merchant), Effect{Do: ReadStatus, After: e.Poll.watch(0, e.After)})
		return s, out
	}
	s.Settling = false
	return ifClosed(s, []Effect{{Do: StopReading}})
}

// timedOutUnpaid is the exception of an approval whose transaction has run out.
const timedOutUnpaid = "approved, but it timed out without COMMIT"

func except(s *State, text string, short Short) []Effect {
	if s.Excepted {
		return nil
	}
	s.Excepted = true
	return []Effect{{Do: Exception, Text: text, Short: short}}
}

// Explained says that a step has put right what the merchant was told of a sale: the money is where
// the register was told.
func Explained(was, now State, by Name) bool {
	switch {
	case by == Told && was.Phase == Unconfirmed && now.Phase == Confirmed: // the till has heard after all
		return now.Committed || !now.Excepted
	case now.Result == ecr.Approved && now.Kind == ecr.Payment:
		return now.Committed && !was.Committed && !now.Till.Kept
	}
	return now.Phase == Done && (was.Phase == Reversing || was.Phase == Forward)
}

func ifClosed(s State, out []Effect) (State, []Effect) {
	if s.Phase == Confirmed && s.Closed {
		s.Phase = Done
	}
	return s, out
}
