package checkout

import (
	"cmp"
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// Start is the first state of a sale and what to do once it is durable.
func Start(t Terms, now time.Duration) (State, []Effect) {
	s := State{
		Kind: t.Kind, QR: t.QR, StaleEnds: t.StaleEnds, CanReverse: t.CanReverse, CanRefund: t.CanRefund, OKWords: t.OKWords, Limits: t.Limits,
		Till: t.Till, ReadFirst: t.ReadFirst, StartedAt: now, BaseAt: now, WireAt: now,
	}
	switch {
	case t.Ask:
		s.Phase = Choosing
		return s, nil
	case t.Kind != ecr.Payment:
		s.Phase = Forward
		return s, nil
	}
	return begin(s, now)
}

// ---- before anything was sent ----

func chosen(s State, e Event) (State, []Effect) {
	if s.Kind != ecr.Payment { // its operation is in the outbox, in the same commit
		s.Phase = Forward
		return s, []Effect{{Do: ClearScreen}}
	}
	if t := e.Terms; t != nil {
		s.QR, s.CanReverse, s.CanRefund, s.OKWords = t.QR, t.CanReverse, t.CanRefund, t.OKWords
		limit := s.Limits.Deadline
		s.Limits, s.StaleEnds = t.Limits, t.StaleEnds
		if limit > 0 {
			s.Limits.Deadline = limit
		}
	}
	return begin(s, e.Now)
}

func drop(s State, e Event) (State, []Effect) {
	s.Phase = Done
	s = decide(s, ecr.Aborted, ecr.AbortedByUser, e.Text)
	out := []Effect{{Do: StopChoosing}, {Do: ClearScreen}, {Do: Tell}}
	if s.Kind != ecr.Payment {
		out = append([]Effect{{Do: Release}}, out...)
	}
	return s, out
}

func chooseClock(s State, e Event) (State, []Effect) {
	if s.Kind == ecr.Payment { // a refund is told "in progress" after the register's patience in any case
		s = waits(s, e)
	}
	if expired(s, e.Now) == noLimit {
		return s, nil
	}
	e.Text = "nothing was chosen in time"
	return drop(s, e)
}

// ---- initialize ----

// send counts the attempt before it leaves.
func send(s State, now, after time.Duration) (State, []Effect) {
	s.Phase = Initializing
	s.Sends++
	s.SentAt = clampSum(now, after)
	do := Initialize
	if s.Plain {
		do = SendPlain
	}
	return s, []Effect{{Do: do, After: after}}
}

func replied(s State, e Event) (State, []Effect) {
	s.SentAt = e.Now
	s = learnReply(s, e.Reply)
	switch judgeReply(e.Reply, s.Plain) {
	case answerRejected:
		if s.Plain {
			return twiceSent(s, e)
		}
		return reject(s, ecr.Declined, ecr.RejectedByScheme)
	case answerResend:
		return send(s, e.Now, max(resendPause, e.Poll.floor()))
	}
	s.Phase, s.BaseAt, s.WireAt = Waiting, e.Now, e.Now
	return s, []Effect{{Do: ReadStatus, After: e.Poll.After(0, false, e.After)}}
}

// repliedLate is the answer to an attempt that a limit overtook.
func repliedLate(s State, e Event) (State, []Effect) {
	shown := s.Wire != "" // a status has shown it: a no to an attempt contradicts it, and is another's
	s = learnReply(s, e.Reply)
	if !s.Plain && !shown && judgeReply(e.Reply, s.Plain) == answerRejected {
		return reject(s, ecr.Declined, ecr.RejectedByScheme)
	}
	return s, nil
}

// twiceSent is a 201 on the plain route. It may say no more than that the attempt before it, on the
// other route, has arrived: a 404 on the way back can come from anybody. The status decides.
func twiceSent(s State, e Event) (State, []Effect) {
	s.Phase, s.Unheard, s.BaseAt, s.WireAt = Waiting, true, e.Now, e.Now
	return s, []Effect{{Do: ReadStatus}}
}

// reject tells the no of a 201: created and refused. The 201 names nothing of the request, so it may be
// another's answer: a status by our own reference has to agree before nothing is owed.
func reject(s State, r ecr.Result, c ecr.Code) (State, []Effect) {
	s.Phase, s.Rejected, s.LastRead, s.Unheard = Declined, true, false, false
	s = decide(s, r, c, "refused by the backend")
	out := append(hide(&s), Effect{Do: Tell}, Effect{Do: ReadStatus})
	return s, out
}

func initFailed(s State, e Event) (State, []Effect) {
	s.SentAt = e.Now
	switch {
	case e.Failure == KeyUsed:
		return keyUsed(s, Use{})
	case e.Failure == RouteMissing && firstToArrive(s):
		s.Phase, s.NoRoute, s.BaseAt, s.WireAt = Waiting, true, e.Now, e.Now
		return s, []Effect{{Do: ReadStatus}}
	case e.Failure == NotSent:
		switch s = countUnsent(s, e); {
		case !NeverSent(s):
			s.Lost++
		case tooLong(e):
			return noConnection(s, ecr.NoConnection, AskedToWait)
		case s.Unsent > maxResends, e.Now-s.StartedAt >= noConnectionAfter:
			return noConnection(s, ecr.NoConnection, "no connection to the backend")
		default:
			return send(s, e.Now, resendPause)
		}
	case e.Failure == NoEffect && s.Lost == 0:
		s.Phase = Declined
		s = decide(s, ecr.Aborted, ecr.Processing, e.Text)
		return s, []Effect{{Do: ClearScreen}, {Do: Tell}, {Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), 0)}}
	}
	if e.Failure != NotSent {
		s.Lost++ // else it is counted already
	}
	if e.Failure == Busy && !s.Plain { // it has arrived: asked again until the deadline
		return send(s, e.Now, max(resendPause, min(e.After, longestAfter)))
	}
	if tooLong(e) {
		s.Text = AskedToWait
	} else if tries := s.Lost + s.Unsent; !s.Plain && tries <= maxResends {
		return send(s, e.Now, max(resendPause<<(tries-1), min(e.After, longestAfter)))
	}
	s.Phase, s.Unheard, s.BaseAt, s.WireAt = Waiting, true, e.Now, e.Now
	return s, []Effect{{Do: ReadStatus}}
}

// firstToArrive says that nothing under the sale's Key may have arrived before the attempt that has
// just ended. Only then the plain route may follow it; after any other attempt the same Key goes alone.
func firstToArrive(s State) bool {
	return !s.Plain && !s.NoRoute && !s.Heard && s.Lost == 0 && s.Sends == s.Unsent+1
}

// countUnsent counts the end of an attempt without a connection, once, and only behind attempts
// that ended so too.
func countUnsent(s State, e Event) State {
	if e.Failure == NotSent && e.Try == s.Unsent+1 {
		s.Unsent = e.Try
	}
	return s
}

// noConnection ends a sale of which nothing left the terminal: no undo is owed.
func noConnection(s State, c ecr.Code, why string) (State, []Effect) {
	s.Phase, s.LastRead, s.Unheard = Done, false, false
	s = decide(s, ecr.Aborted, c, why)
	return s, append(hide(&s), Effect{Do: StopReading}, Effect{Do: Tell})
}

// failedLate is the end of an attempt that a limit overtook.
func failedLate(s State, e Event) (State, []Effect) {
	if e.Failure == KeyUsed {
		return keyUsed(s, Use{})
	}
	if s = countUnsent(s, e); NeverSent(s) {
		return noConnection(s, ecr.NoConnection, "no connection to the backend")
	}
	return s, nil
}

func initClock(s State, e Event) (State, []Effect) {
	if s = waits(s, e); expired(s, e.Now) == noLimit {
		return s, nil
	}
	if s.ReadFirst {
		return noConnection(s, ecr.NoConnection, string(pastDeadline))
	}
	s.Phase, s.WireAt = Waiting, e.Now
	return readLast(s, e.Now, string(pastDeadline))
}

func initAgain(s State, e Event) (State, []Effect) {
	switch {
	case s.ReadFirst && e.NewBoot:
		return noConnection(s, ecr.AbortedByUser, "restart")
	case s.ReadFirst:
		return s, []Effect{{Do: ReadStatus}}
	case e.NewBoot:
		return undoRead(rebase(s, e), e, "restart")
	case answered(s, e.Now):
		return answeredAborted(s, e)
	case s.Plain: // never resent
		s.Phase, s.Unheard, s.WireAt, s.Lost = Waiting, true, e.Now, s.Lost+1
		return s, []Effect{{Do: ReadStatus}}
	}
	s.Lost++ // the attempt before the restart may have arrived
	return send(s, e.Now, 0)
}

// ---- live at the backend ----

func read(s State, e Event) (State, []Effect) {
	if foreign(&s, e) {
		e.Failure = EffectUnknown
		return statusFailed(s, e)
	}
	fresh := e.Status.QRCodePayload != "" && e.Status.QRCodePayload != s.Payload
	engaged := s.Engaged
	s = waits(learn(s, e), e)
	if s.Unheard {
		s.Text = ""
	}
	s.Unheard, s.NoRoute = false, false
	switch Judge(s.Wire, s.Account, s.OKWords) {
	case Success:
		return approve(s, e)
	case Bad:
		s.Phase = Declined
		s = decide(s, ecr.Declined, ecr.RejectedByScheme, "the backend says "+string(s.Wire))
		out := append(hide(&s), Effect{Do: Tell}, Effect{Do: ReadStatus, After: e.Poll.watch(untilWindow(s, e.Now), e.After)})
		return s, out
	case Overdue:
		return undo(s, e, "timed out at the backend")
	}
	if s.LastRead {
		return undo(s, e, s.Text)
	}
	var out []Effect
	if fresh && s.QR {
		if s.BaseAt = e.Now; !s.Engaged && s.Wire != aapay.Stale {
			s.Shown, s.AwaitingApp = true, false
			out = append(out, Effect{Do: ShowCode})
		}
	}
	switch {
	case s.Shown && s.Wire == aapay.Stale: // the code is good for nothing any more, the customer may be confirming
		s, out = awaitApp(s, out)
	case s.AwaitingApp && s.Engaged && !engaged: // the customer is
		out = append(out, Effect{Do: ShowWaiting})
	}
	if why := expired(s, e.Now); why != noLimit && why != hideCode {
		if why == staleCode && s.Wire == aapay.Stale { // just read: no need to ask again
			return undo(s, e, string(why))
		}
		return readLast(s, e.Now, string(why))
	}
	out = append(out, Effect{Do: ReadStatus, After: e.Poll.After(e.Now-s.StartedAt, s.Payload != "" || !s.QR, e.After)})
	return s, out
}

func statusFailed(s State, e Event) (State, []Effect) {
	switch {
	case s.LastRead:
		return undo(s, e, s.Text)
	case s.NoRoute && e.Failure == NotFound: // the service itself does not know it: whoever answered, nothing has arrived
		s.NoRoute, s.Plain = false, true
		return send(s, e.Now, 0)
	case s.Unheard, s.NoRoute:
		return undo(s, e, cmp.Or(s.Text, "no answer from the backend"))
	case tooLong(e) && !mayPay(s, e):
		return readLast(s, e.Now, AskedToWait)
	}
	return s, []Effect{{Do: ReadStatus, After: e.Poll.After(e.Now-s.StartedAt, s.Payload != "" || !s.QR, e.After)}}
}

// mayPay says that the customer can, or may have, before the service is to be asked again.
func mayPay(s State, e Event) bool {
	at, why := next(s)
	return (s.Payload != "" || !s.QR || s.Engaged) && (why == noLimit || clampSum(e.Now, min(e.After, longestAfter)) < at)
}

func waitClock(s State, e Event) (State, []Effect) {
	s = waits(s, e)
	switch why := expired(s, e.Now); why {
	case noLimit:
		return s, nil
	case hideCode:
		s, out := awaitApp(s, nil)
		if expired(s, e.Now) != noLimit { // another timer has run out too
			return waitClock(s, e)
		}
		return s, out
	case noAnswer:
		return undo(s, e, s.Text)
	default:
		return readLast(s, e.Now, string(why))
	}
}

// readLast takes the code off and asks once more: the answer, or its absence, decides.
func readLast(s State, now time.Duration, why string) (State, []Effect) {
	s.LastRead, s.LimitAt, s.Text = true, now, why
	out := append(hide(&s), Effect{Do: ReadStatus})
	return s, out
}

func broken(s State, e Event) (State, []Effect) {
	return undo(s, e, "the code cannot be shown: "+e.Text)
}

func waitAgain(s State, e Event) (State, []Effect) {
	switch {
	case e.NewBoot:
		return undoRead(rebase(s, e), e, "restart")
	case answered(s, e.Now):
		return answeredAborted(s, e)
	}
	var out []Effect
	switch {
	case s.Shown:
		out = append(out, Effect{Do: ShowCode})
	case s.AwaitingApp:
		out = append(out, Effect{Do: ShowWaiting})
	}
	return s, append(out, Effect{Do: ReadStatus})
}

// answeredAborted undoes a sale whose register was told "aborted" before the journal could store
// it, or may have been before a start. It is never approved after that.
func answeredAborted(s State, e Event) (State, []Effect) {
	if s.ReadFirst {
		return noConnection(s, ecr.AbortedByUser, "the journal could not be written in time")
	}
	return undo(s, e, "the journal could not be written in time")
}

func dropAnswered(s State, e Event) (State, []Effect) {
	e.Text = "the journal could not be written in time"
	return drop(s, e)
}
