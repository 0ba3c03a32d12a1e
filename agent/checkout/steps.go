package checkout

import (
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/aapay"
)

// decide fixes the result; only an approval can be replaced, by its undo.
func decide(s State, r ecr.Result, c ecr.Code, text string) State {
	if s.Result == "" || s.Result == ecr.Approved && r == ecr.Aborted {
		s.Result, s.Code = r, c
	}
	if text != "" {
		s.Text = text
	}
	return s
}

// awaitApp takes the code off the screen of a sale that goes on.
func awaitApp(s State, out []Effect) (State, []Effect) {
	s.Shown, s.AwaitingApp = false, true
	return s, append(out, Effect{Do: ShowWaiting})
}

func hide(s *State) []Effect {
	if !s.Shown && !s.AwaitingApp {
		return nil
	}
	s.Shown, s.AwaitingApp = false, false
	return []Effect{{Do: ClearScreen}}
}

// learn keeps what a status says.
func learn(s State, e Event) State {
	st := e.Status
	s.Heard, s.Missing, s.Unfound = true, false, false
	if st.State != s.Wire {
		s.Wire, s.WireAt = st.State, e.Now
	}
	s.Account = st.AccountState
	s.Committed = s.Committed || st.AccountState == aapay.Commit
	switch st.State {
	case "", aapay.Initialized, aapay.Stale:
	default:
		s.Engaged = true
	}
	if s.TransactionID == 0 {
		s.TransactionID = st.TransactionID
	}
	if st.NAA2ECR != nil && st.NAA2ECR.PPRef != "" {
		s.PPRef, s.PPRefRead = st.NAA2ECR.PPRef, true
	}
	s.hear(st.NAA2ECR, st.PayerID)
	if st.QRCodePayload != "" {
		s.Payload = st.QRCodePayload
	}
	return s
}

// learnReply keeps what the answer to an initialize says. It tells nothing of our request, so its
// ppref names the transaction only once a status has shown it.
func learnReply(s State, r aapay.Reply) State {
	s.Heard = true
	switch judgeReply(r, false) { // a wish to hear it again says on no route that the service has it
	case answerLive:
		s.Taken, s.Missing = true, false
	case answerRejected: // what it names was not made of this request
		return s
	}
	if r.Response == nil || r.Response.NAA2ECR == nil {
		return s
	}
	s.hear(r.Response.NAA2ECR, "")
	if s.PPRef == "" {
		s.PPRef = r.Response.NAA2ECR.PPRef
	}
	return s
}

// foreign says that a status speaks of another transaction. One that contradicts the answer to the
// initialize counts where it tells our own reference, and the one before it has named the same
// transaction: then that answer was another's.
func foreign(s *State, e Event) bool {
	st := e.Status
	if e.Whose == intent.Anothers || s.TransactionID != 0 && st.TransactionID != 0 && s.TransactionID != st.TransactionID {
		return true
	}
	if s.PPRef == "" || st.NAA2ECR == nil || st.NAA2ECR.PPRef == "" || st.NAA2ECR.PPRef == s.PPRef {
		return false
	}
	if s.PPRefRead || e.Whose != intent.Ours || st.TransactionID == 0 {
		return true
	}
	again := s.Contradicts == st.TransactionID
	s.Contradicts = st.TransactionID
	return !again
}

// rebase starts the clocks anew: the boot clock that measured them is gone.
func rebase(s State, e Event) State {
	s.StartedAt, s.SentAt, s.BaseAt, s.WireAt, s.LimitAt, s.UntoldAt, s.AnswerAt = e.Now, e.Now, e.Now, e.Now, e.Now, e.Now, e.Now
	return s
}
