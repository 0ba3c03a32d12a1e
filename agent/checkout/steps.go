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
	n := s.names()
	n.Learn(st)
	s.named(n)
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

// foreign says that a status speaks of another transaction, by what it tells of the request and by the
// names that the service has given this one.
func foreign(s *State, e Event) bool {
	n := s.names()
	other := n.Other(e.Whose, e.Status)
	s.named(n)
	s.Found = s.Found || e.Whose != intent.Anothers
	return other
}

func (s *State) names() intent.Names {
	return intent.Names{ID: s.TransactionID, PPRef: s.PPRef, Shown: s.PPRefRead, Contradicts: s.Contradicts}
}

func (s *State) named(n intent.Names) {
	s.TransactionID, s.PPRef, s.PPRefRead, s.Contradicts = n.ID, n.PPRef, n.Shown, n.Contradicts
}

// rebase starts the clocks anew: the boot clock that measured them is gone.
func rebase(s State, e Event) State {
	s.Rebased = true
	s.StartedAt, s.SentAt, s.BaseAt, s.WireAt, s.LimitAt, s.UntoldAt, s.AnswerAt = e.Now, e.Now, e.Now, e.Now, e.Now, e.Now, e.Now
	return s
}
