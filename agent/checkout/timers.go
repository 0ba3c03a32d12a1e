package checkout

import (
	"math"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

const (
	// Patience is how long a register waits for the end of a request without intermediate status:
	// real libraries give up at 90 s.
	Patience = 85 * time.Second
	// LongestSale caps the method's own timers for a register that acknowledges intermediate
	// status.
	LongestSale = 10 * time.Minute
	// LastReadAt is how long before the end of its patience the last status of a sale is asked for.
	LastReadAt = 8 * time.Second

	// answerBefore is how long before the end of its patience a register is told "aborted" without
	// the journal. A journal that works has told it 2 s earlier.
	answerBefore = 2 * time.Second

	lastReadBound = 4 * time.Second // of the status asked for at a limit, and of the one after an abort
	maxResends    = 2               // of an initialize that got no answer
	resendPause   = 2 * time.Second // before the first repetition, doubling
	// atTheCounter is the longest wish of a service to wait that a sale follows (MONEY A.4).
	atTheCounter = 5 * time.Second
	// noConnectionAfter is how old a sale may be before an attempt without a connection is its last
	// one.
	noConnectionAfter = 8 * time.Second
	longestChoice     = 2 * time.Minute  // of method, prompts and amount
	undoPause         = 30 * time.Second // between undo attempts that ended in a no, doubling
	undoPauseMax      = 5 * time.Minute
	loudUndo          = 3 // attempts after which the merchant is told
)

// LimitsOf derives a sale's limits from its method. unit is that of the method's time-outs;
// patience is the register's; progress says that the register is known to acknowledge intermediate
// status.
func LimitsOf(d methods.Definition, unit string, patience time.Duration, progress bool) Limits {
	l := Limits{Stale: methods.StaleAge(d), Deadline: patience - LastReadAt}
	l.StaleTimeout, l.FinalizeTimeout = methods.TimeOuts(d, unit)
	l.Long = min(LongestSale, l.Window())
	if progress {
		l.Deadline = l.longer()
	}
	return l
}

// longer is the deadline of a sale whose register acknowledges intermediate status.
func (l Limits) longer() time.Duration { return max(l.Deadline, l.Long) }

// AnsweredBy is the instant from which on the register of an open payment may have been told
// "aborted" without the journal: it could not wait any longer. deadline is the sale's as the register
// is known to wait; the state's own is never a later one.
func AnsweredBy(s State, deadline time.Duration) time.Duration {
	return clampSum(s.StartedAt, deadline, LastReadAt-answerBefore)
}

// answered says of an open payment that its register may have been told "aborted" by now.
func answered(s State, now time.Duration) bool { return now >= AnsweredBy(s, s.Limits.Deadline) }

// waits takes the longer deadline once the register has acknowledged an intermediate status. The
// state keeps it.
func waits(s State, e Event) State {
	if e.Patient {
		s.Limits.Deadline = s.Limits.longer()
	}
	return s
}

// limit is a timer that ran out.
type limit string

// AskedToWait is the text of a sale that ended because its service asks to be left alone for longer
// than a customer waits.
const AskedToWait = "the service asks to wait"

// tooLong says that the service asks to be left alone for longer than a sale can wait.
func tooLong(e Event) bool { return e.Wish && e.After > atTheCounter }

const (
	noLimit      limit = ""
	hideCode     limit = "code no longer valid"
	staleCode    limit = "code not scanned in time"
	timedOut     limit = "no decision in time"
	pastDeadline limit = "deadline"
	noAnswer     limit = "no answer to the last question"
	notFinalized limit = "reserved, never finalized"
)

// Due is the next instant at which a Tick matters; ok is false when only an event can move the
// sale.
func Due(s State) (at time.Duration, ok bool) {
	at, why := next(s)
	return at, why != noLimit
}

// CodeUntil is when the code has to leave the screen: the earlier of stale age, counted from its
// arrival, and deadline.
func CodeUntil(s State) time.Duration {
	return min(clampSum(s.BaseAt, s.Limits.Stale), clampSum(s.StartedAt, s.Limits.Deadline))
}

// next finds the timer that runs out first.
func next(s State) (at time.Duration, why limit) {
	at = math.MaxInt64
	consider := func(base, d time.Duration, l limit) {
		if end := clampSum(base, d); end < at {
			at, why = end, l
		}
	}
	switch s.Phase {
	case Choosing: // what is chosen late would be sent and undone
		consider(s.StartedAt, min(s.Limits.Deadline/2, longestChoice), pastDeadline)
	case Initializing:
		consider(s.StartedAt, s.Limits.Deadline, pastDeadline)
	case Waiting:
		if s.LastRead {
			consider(s.LimitAt, lastReadBound, noAnswer)
			break
		}
		consider(s.StartedAt, s.Limits.Deadline, pastDeadline)
		switch s.Wire {
		case "", aapay.Initialized, aapay.Stale:
			switch {
			case s.StaleEnds && s.QR && !s.Engaged && s.Wire == aapay.Stale:
				consider(s.WireAt, 0, staleCode)
			case s.StaleEnds && s.QR && !s.Engaged:
				consider(s.BaseAt, s.Limits.Stale, staleCode)
			case s.Wire == aapay.Stale:
				consider(s.WireAt, s.Limits.StaleTimeout, timedOut)
			default: // INITIALIZED turns STALE, and STALE runs out
				consider(s.BaseAt, clampSum(s.Limits.Stale, s.Limits.StaleTimeout), timedOut)
			}
		case aapay.Pending:
			consider(s.WireAt, s.Limits.StaleTimeout, timedOut)
		case aapay.Reserved:
			consider(s.WireAt, s.Limits.FinalizeTimeout, timedOut)
		}
		if s.Shown {
			consider(s.BaseAt, s.Limits.Stale, hideCode)
		}
	case Aborting:
		consider(s.LimitAt, lastReadBound, noAnswer)
	case Approved, Unconfirmed, Confirmed:
		switch {
		case !s.Settling, s.Excepted:
		case s.LastRead:
			consider(s.LimitAt, lastReadBound, noAnswer)
		default:
			consider(s.WireAt, s.Limits.FinalizeTimeout, notFinalized)
		}
	}
	return at, why
}

// expired is the timer that has run out by now.
func expired(s State, now time.Duration) limit {
	if at, why := next(s); why != noLimit && now >= at {
		return why
	}
	return noLimit
}

// windowOver says that the original could no longer change when a status was asked for, after the
// answer to the last undo: an answer that was long on its way proves nothing.
func windowOver(s State, e Event) bool {
	asked := e.Asked
	if asked == 0 {
		asked = e.Now
	}
	return asked >= clampSum(s.SentAt, s.Limits.Window()) && asked >= s.AnswerAt
}

// lapsed says that a payment has been TIMEDOUT for so long that it does not commit any more. A
// reversal, where there is one, proves more.
func lapsed(s State, e Event) bool {
	return Judge(s.Wire, s.Account, nil) == Overdue && e.Now >= clampSum(s.WireAt, s.Limits.FinalizeTimeout)
}

// untilWindow is how long that still takes.
func untilWindow(s State, now time.Duration) time.Duration {
	return max(0, clampSum(s.SentAt, s.Limits.Window())-now)
}
