package checkout

import (
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// begin sends a payment, or asks first what the backend knows under its Key.
func begin(s State, now time.Duration) (State, []Effect) {
	if s.ReadFirst {
		s.Phase = Initializing
		return s, []Effect{{Do: ReadStatus}}
	}
	return send(s, now, 0)
}

// keyRead ends a sale under whose Key the backend knows something, although nothing was sent yet:
// the journal that this one replaced has used it. It is another sale's, so it is neither an approval
// nor to be undone, whatever its amount is.
func keyRead(s State, e Event) (State, []Effect) {
	if !s.ReadFirst { // a question from before it was sent
		return s, nil
	}
	return keyUsed(s, UsedBefore(e.Status))
}

// UsedBefore is what a status says of a transaction that the journal before this one has made.
func UsedBefore(st aapay.Status) Use {
	use := Use{At: st.TimeStamp, Replaced: true}
	if r := st.Receipt; r != nil {
		use.Amount, use.Currency = r.Amount, r.Currency
		if use.At == "" {
			use.At = r.Time
		}
	}
	return use
}

// keyNotRead sends the sale once the backend knows nothing under its Key.
func keyNotRead(s State, e Event) (State, []Effect) {
	switch {
	case !s.ReadFirst:
		return s, nil
	case e.Failure == NotFound:
		s.ReadFirst = false
		return send(s, e.Now, 0)
	case e.Now-s.StartedAt >= noConnectionAfter:
		return noConnection(s, ecr.NoConnection, "nothing was sent: whether the journal before used the id cannot be read: "+e.Text)
	}
	return s, []Effect{{Do: ReadStatus, After: max(resendPause, min(e.After, longestAfter))}}
}

const usedByLost = "the journal was replaced, and the one before it has used the id"

// usedBack ends a refund or reversal under whose Key the journal before this one has made one. Nothing
// of this one was sent. What went back then stays debited; over says that nothing did.
func usedBack(s State, use Use, over bool) (State, []Effect) {
	s.Phase, s.Used, s.ReadFirst = Done, &use, false
	s = decide(s, ecr.Aborted, ecr.SystemError, usedByLost)
	var out []Effect
	if over {
		out = append(out, Effect{Do: Release})
	}
	return s, append(out, Effect{Do: Tell}, Effect{Do: Exception, Text: usedByLost + ": compare the backend's portal before anything is given back again", Short: NotKnown})
}

// keyUsed ends a sale whose Key names another request. Nothing of the sale was made, so no undo is
// owed: one by the reference of that Key would reverse the other's payment.
func keyUsed(s State, use Use) (State, []Effect) {
	s.Phase, s.Used, s.ReadFirst, s.LastRead, s.Unheard = Done, &use, false, false, false
	why := "the backend knows its id from another request"
	if use.Replaced {
		why = usedByLost
	}
	s = decide(s, ecr.Aborted, ecr.SystemError, why)
	out := append(hide(&s), Effect{Do: StopReading}, Effect{Do: Tell})
	return s, append(out, Effect{Do: Exception, Text: why + ": compare the backend's portal before anything is paid again", Short: NotKnown})
}
