package gateway

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"posagent/agent/intent"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// ask reads the status and judges it.
func (u *undoing) ask(ctx context.Context) outbox.Verdict {
	// By our own name: an id may have come with another's answer.
	st, err := u.svc.Status(ctx, u.p.Request.TerminalReference, u.p.Request.Method)
	if errors.Is(err, &wire.Error{Code: wire.NotFound}) {
		return u.missing()
	}
	if err != nil { // a read proves nothing when it fails
		v := outbox.FromError(u.op, outbox.SameKey, err)
		v.State, v.After = outbox.Sent, max(v.After, u.rhythm()) // a Retry-After may be shorter than the pace of reads
		return u.wait(v)
	}
	q := u.request()
	if u.reversed(st) {
		q.OriginalID = 0
	}
	whose := q.Status(st)
	if u.m.Names.Other(whose, st) {
		return u.strange()
	}
	u.m.Gone, u.m.Strange = nil, nil
	ends := u.judge(st)
	if ends == outbox.Done && whose != intent.Ours && u.maybePayment(st) {
		return u.live("done, and read once more: it may be the payment that was read")
	}
	u.m.Answered, u.m.NoRoute = true, false
	res := UndoResult{State: st.State, AccountState: st.AccountState}
	if st.TransactionID != 0 {
		res.TransactionID = strconv.FormatInt(st.TransactionID, 10)
	}
	if st.Response != nil {
		res.ResponseCode = st.Response.ResponseCode
	}
	if st.NAA2ECR != nil {
		res.PPRef = st.NAA2ECR.PPRef
	}
	if u.op.Kind != KindLinkReversal { // it gives back one payment after the other, and shows each
		u.m.Names.Learn(st)
	}
	switch ends {
	case outbox.Done:
		res.OK = true
		return u.end(outbox.Done, res)
	case outbox.Failed:
		if u.late(st) {
			break
		}
		if u.m.Refused != nil {
			res.HTTPStatus = u.m.Refused.HTTPStatus
		}
		return u.end(outbox.Failed, res)
	case outbox.Doubt:
		why := "it cannot be told whether money went back"
		if st.Error != nil && st.Error.Message != "" {
			why = st.Error.Message
		}
		return u.wait(outbox.Verdict{State: outbox.Doubt, Reach: outbox.Reached, Reason: why})
	}
	return u.live(string(st.State))
}

// reversed says that a status shows a payment that was reversed: a service may show it at the payment itself.
func (u *undoing) reversed(st aapay.Status) bool {
	return u.typ == aapay.Reversal && string(st.State) == wordReversed
}

// maybePayment says of a good end that tells nothing of the request that it may be the payment's own, whose number was not known when
// the reversal was asked for. A second reading of the same transaction settles that.
func (u *undoing) maybePayment(st aapay.Status) bool {
	if u.op.Kind != KindReversal || u.p.OriginalID != 0 || u.reversed(st) || u.m.Good == st.TransactionID {
		return false
	}
	u.m.Good = st.TransactionID
	return true
}

// request is what was asked, for judging whose an answer is.
func (u *undoing) request() intent.Request {
	q := intent.Request{Reference: u.p.Request.TerminalReference, Original: u.p.Request.OriginalReference, OriginalID: u.p.OriginalID}
	if a := u.p.Request.PurchaseAmount; a != nil {
		q.Hundredths, q.Currency = a.TotalAmount, a.CurrencyCode
	}
	if u.m.First != nil && *u.m.First >= u.op.Started { // else the age is not known
		q.Age = max(u.op.Ran-*u.m.First, 1)
	}
	return q
}

// strange handles a status of another transaction: it says nothing of this one.
func (u *undoing) strange() outbox.Verdict {
	if u.since(&u.m.Strange) >= u.p.Window {
		return u.wait(outbox.Verdict{State: outbox.Doubt, Reach: outbox.Reached, Reason: "the backend answers with another transaction"})
	}
	return u.live("the backend answered with another transaction")
}

// late says that a refund that timed out may still commit. A second one would give back twice, so it is not called failed before the
// end of its window.
func (u *undoing) late(st aapay.Status) bool {
	if u.typ != aapay.Refund || st.State != aapay.TimedOut {
		u.m.Late = nil
		return false
	}
	return u.since(&u.m.Late) < u.p.Window
}

// since is for how long something has been so, and notes since when. It is running time: asking more often proves nothing sooner.
func (u *undoing) since(at **time.Duration) time.Duration {
	if *at == nil {
		*at = &u.op.Ran
	}
	return u.op.Since(**at)
}

// judge is MONEY A.1 and B.2 for an undo: Done, Failed, Doubt, or Sent while it lives.
func (u *undoing) judge(st aapay.Status) outbox.State {
	if st.State == InDoubt {
		return outbox.Doubt
	}
	commit, rollback := st.AccountState == aapay.Commit, st.AccountState == aapay.Rollback
	ok := string(st.State) == u.word || slices.Contains(u.p.OKWords, string(st.State)) && !waiting(st.State)
	bad := st.State == aapay.Rejected || st.State == aapay.Cancelled || st.State == aapay.Failed || st.State == aapay.TimedOut
	good := st.State == aapay.Finalized || st.State == aapay.Reported
	switch {
	case commit && (good || bad || st.State == aapay.Stale), ok && !bad && !rollback:
		return outbox.Done
	case bad, (good || ok) && rollback:
		return outbox.Failed
	}
	return outbox.Sent
}

// waiting are the words that mean "not yet" for an undo, whatever the method's list says.
func waiting(s aapay.State) bool {
	switch s {
	case "", aapay.Initialized, aapay.Pending, aapay.Stale, aapay.Reserved:
		return true
	}
	return false
}

// missing handles the service's own "not found".
func (u *undoing) missing() outbox.Verdict {
	wait, gone := u.rhythm(), u.since(&u.m.Gone)
	switch {
	case u.m.NoRoute && !u.op.Unsure: // the service itself does not know it: nothing has arrived
		u.m.NoRoute, u.m.PlainAt, u.m.Gone, u.m.Asked = false, u.op.Attempts+1, nil, 0
		return u.wait(outbox.Verdict{State: outbox.Pending, After: 100 * time.Millisecond, Reason: "no idempotent route, the plain one is next"})
	case u.m.Refused != nil && !u.m.Answered && u.m.PlainAt == 0 && gone >= quiet && !u.m.Lost:
		return u.end(outbox.Failed, *u.m.Refused)
	}
	if gone >= u.p.Window && (u.m.Answered || !u.op.Unsure) {
		if u.m.Answered { // what was alive ends by its own final word alone, and sent again it could be a second one
			return u.wait(outbox.Verdict{State: outbox.Doubt, Reach: outbox.Reached, Reason: "the backend knew it and does not find it any more"})
		}
		if u.m.Refused != nil && u.m.PlainAt == 0 {
			return u.end(outbox.Failed, *u.m.Refused)
		}
		if u.m.PlainAt != 0 || u.op.ReadOnly || u.m.Refused != nil {
			return u.end(outbox.Failed, UndoResult{NotFound: true, Text: "the backend does not know it"})
		}
		u.m = undoMemo{Free: u.m.Free} // the Key is safe to use again
	}
	return u.wait(outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: wait, Reason: "not found yet"})
}

// rhythm is 2 s at first, 5 s and 15 s later.
func (u *undoing) rhythm() time.Duration {
	u.m.Asked++
	switch {
	case u.m.Asked <= 10:
		return firstPoll
	case u.m.Asked <= 30:
		return 5 * time.Second
	}
	return 15 * time.Second
}
