package checkout

import "posagent/ecr"

func abort(s State, e Event) (State, []Effect) {
	if s.ReadFirst { // what is known under its Key is another's: neither asked for nor undone
		return noConnection(s, ecr.AbortedByUser, "aborted")
	}
	asked := s.Phase == Initializing // its answer is on the way; the bound ends the wait
	s.Phase, s.LimitAt, s.Text = Aborting, e.Now, "aborted"
	out := append(hide(&s), Effect{Do: ClearScreen})
	if !asked {
		out = append(out, Effect{Do: ReadStatus})
	}
	return s, out
}

func abortReplied(s State, e Event) (State, []Effect) {
	s.SentAt = e.Now
	s = learnReply(s, e.Reply)
	if !s.Plain && s.Wire == "" && judgeReply(e.Reply, s.Plain) == answerRejected { // on the plain route: see twiceSent
		return reject(s, ecr.Aborted, ecr.AbortedByUser)
	}
	return undoRead(s, e, s.Text)
}

// undoRead undoes a payment, after one status try where no read has found it yet: without it "reversed"
// would prove nothing.
func undoRead(s State, e Event, why string) (State, []Effect) {
	if !unread(s) {
		return undo(s, e, why)
	}
	s.Phase, s.LimitAt, s.Text = Aborting, e.Now, why
	return s, append(hide(&s), Effect{Do: ReadStatus})
}

func abortRead(s State, e Event) (State, []Effect) {
	if !foreign(&s, e) {
		s = learn(s, e)
	}
	return undo(s, e, s.Text)
}

func abortNow(s State, e Event) (State, []Effect) {
	switch {
	case e.Name == Restarted && e.NewBoot:
		s = rebase(s, e)
	case e.Name == ReplyFailed && e.Failure == KeyUsed:
		return keyUsed(s, Use{})
	case e.Name == ReplyFailed:
		if s = countUnsent(s, e); NeverSent(s) {
			return noConnection(s, ecr.AbortedByUser, s.Text)
		}
	}
	return undo(s, e, s.Text)
}

func abortClock(s State, e Event) (State, []Effect) {
	if expired(s, e.Now) == noLimit {
		return s, nil
	}
	return undo(s, e, s.Text)
}
