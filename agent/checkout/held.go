package checkout

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// heldPause is the pause between two questions about a held sale that can hardly change any more.
const heldPause = 5 * time.Minute

// hold keeps a sale that was open in a journal that took another's place. That journal may have sent
// it, told it and ended it since. It is only read: the machine neither approves nor undoes it.
func hold(s State, e Event) (State, []Effect) {
	s = rebase(s, e)
	out := append(hide(&s), Effect{Do: StopReading}, Effect{Do: StopChoosing})
	s.Phase, s.Released, s.Excepted = Held, false, false
	s.LastRead, s.Unheard, s.NoRoute, s.Settling = false, false, false, false
	return s, append(out, Effect{Do: ReadStatus})
}

// holdIdle is hold for a sale whose undo runs in the outbox: its register was told "aborted" for
// good, and the operation is held there.
func holdIdle(s State, e Event) (State, []Effect) {
	if s.UndoOpen {
		return s, nil
	}
	return hold(s, e)
}

func heldAgain(s State, e Event) (State, []Effect) {
	if e.NewBoot {
		s = rebase(s, e)
	}
	return s, []Effect{{Do: ReadStatus}}
}

// letGo notes that a person has let a held sale go on: it ends as the backend says, and is never
// undone.
func letGo(s State, _ Event) (State, []Effect) {
	s.Released = true
	return s, []Effect{{Do: ReadStatus}}
}

// heldRead keeps what was paid, with an alert, and closes what was not.
func heldRead(s State, e Event) (State, []Effect) {
	if foreign(&s, e) {
		return heldUnread(s, e)
	}
	if s.Unfound { // what the merchant was told has proven wrong
		s.Excepted = false
	}
	s = learn(s, e)
	switch {
	case s.Account == aapay.Commit && s.Released && mayKeep(s):
		return keepReleased(s)
	case s.Account == aapay.Commit:
		out := except(&s, "held: the backend says that it was paid. Compare it with the till, nothing is undone by itself", Customer)
		return s, append(out, Effect{Do: StopReading})
	case finalNo(s) && windowOver(s, e):
		return closeHeld(s)
	}
	return s, []Effect{{Do: ReadStatus, After: heldAfter(s, e)}}
}

// heldUnread asks on: silence and "not found" prove nothing of a sale that another journal may have
// driven.
func heldUnread(s State, e Event) (State, []Effect) {
	if e.Name == StatusFailed && e.Failure != NotFound {
		return s, []Effect{{Do: ReadStatus, After: e.Poll.unanswered(e.Silence, watchPause, e.After)}}
	}
	var out []Effect
	if windowOver(s, e) {
		out = except(&s, "held: the backend does not know it. Compare it with the till, nothing is undone by itself", NotKnown)
		s.Unfound = s.Unfound || len(out) > 0
	}
	return s, append(out, Effect{Do: ReadStatus, After: heldAfter(s, e)})
}

func heldAfter(s State, e Event) time.Duration {
	left := untilWindow(s, e.Now)
	if left == 0 {
		return max(heldPause, e.After)
	}
	return e.Poll.watch(left, e.After)
}

// mayKeep says whether a held sale that was paid may count as approved: its register was not told
// that it is not paid, and what was read is not another sale's.
func mayKeep(s State) bool { return !s.ReadFirst && (s.Result == "" || s.Result == ecr.Approved) }

// keepReleased ends a held sale that was paid, and that a person has let go on: the money stays, as
// the register would have been told.
func keepReleased(s State) (State, []Effect) {
	var out []Effect
	if s.Result != ecr.Approved { // else it has its receipt
		out = append(out, Effect{Do: GiveReceipt})
	}
	s.Result, s.Code, s.Text = ecr.Approved, ecr.OK, "paid, and let go on by hand"
	s.Phase = Confirmed
	if s.Kind != ecr.Payment {
		s.Phase = Done
	}
	return s, append(out, Effect{Do: Exception, Text: s.Text, Short: Customer}, Effect{Do: StopReading}, Effect{Do: Tell})
}

// closeHeld ends a held sale of which the backend says that no money moved, and that this can change
// no more: it is not undone, so nothing is told of it before.
func closeHeld(s State) (State, []Effect) {
	var out []Effect
	if s.Result == ecr.Approved { // whatever was said before of a held sale
		s.Excepted = false
		out = except(&s, endedUnpaid(s), Merchant)
	}
	s = decide(s, ecr.Aborted, ecr.AbortedByUser, "the backend says "+string(s.Wire))
	if s.Phase = Done; s.Kind != ecr.Payment {
		out = append(out, Effect{Do: Release})
	}
	return s, append(out, Effect{Do: StopReading}, Effect{Do: Tell})
}
