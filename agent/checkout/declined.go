package checkout

import "posagent/schemes/aapay"

func declinedRead(s State, e Event) (State, []Effect) {
	if foreign(&s, e) {
		return declinedStatusFailed(s, e)
	}
	s = learn(s, e)
	switch {
	case s.Account == aapay.Commit:
		return undo(s, e, "paid after it was declined")
	case !finalNo(s):
		return undo(s, e, "live after it was declined")
	case windowOver(s, e), s.Rejected: // two answers that agree need no window
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)}}
}

func declinedStatusFailed(s State, e Event) (State, []Effect) {
	switch over := e.Failure == NotFound && windowOver(s, e); {
	case over && (finalNo(s) || s.Rejected && s.Wire == ""): // its own final word was heard
		s.Phase = Done
		return s, []Effect{{Do: StopReading}}
	case over:
		return notFound(s, e)
	}
	if e.Failure == NotFound { // it was answered
		return s, []Effect{{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)}}
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
