package aapay

import (
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/scenario"
)

// life is what the state machine of S1 3.2 knows of a transaction. Times are unix ms, periods ms.
type life struct {
	State   aapay.State
	Account aapay.AccountState
	Since   int64 // when State was entered
	Stale   int64 // INITIALIZED may last
	TimeOut int64 // STALE and PENDING may last
	Final   int64 // RESERVED may last
	Script  []scenario.Step
	Base    int64 // the script's time zero
	Pos     int   // next step of the script
}

// change is the next thing that happens to a transaction.
type change struct {
	At     int64
	Script bool // by the script, else by a timer
	Step   scenario.Step
}

// live says whether the words say that the transaction may still end well by itself.
func live(s aapay.State) bool {
	switch s {
	case aapay.Finalized, aapay.Reported, aapay.Rejected, aapay.Cancelled, aapay.Failed, aapay.TimedOut, reversed:
		return false
	}
	return true
}

// reversed is the word of S1 2.5 for an undo that is done and had no money to move.
const reversed aapay.State = "REVERSED"

// due gives the next change of l, however far in the future. False: nothing ever happens any more by itself.
// On the same millisecond the script (the customer) comes before a timer.
func due(l life) (change, bool) {
	timer, timed := timer(l)
	if l.Pos < len(l.Script) {
		step := l.Script[l.Pos]
		at := l.Base + step.At.Milliseconds()
		// A late step waits for TIMEDOUT; the others need a transaction that is still live.
		if step.Late == (l.State == aapay.TimedOut) && (step.Late || live(l.State)) && (!timed || at <= timer.At) {
			return change{At: at, Script: true, Step: step}, true
		}
	}
	return timer, timed
}

// timer gives the transition of S1 3.2 that time will bring.
func timer(l life) (change, bool) {
	if l.Account == aapay.Commit {
		return change{}, false
	}
	switch l.State {
	case aapay.Initialized:
		return change{At: l.Since + l.Stale, Step: scenario.Step{State: string(aapay.Stale)}}, true
	case aapay.Stale, aapay.Pending:
		return change{At: l.Since + l.TimeOut, Step: scenario.Step{State: string(aapay.TimedOut)}}, true
	case aapay.Reserved:
		return change{At: l.Since + l.Final, Step: scenario.Step{
			State: string(aapay.TimedOut), Account: string(aapay.Rollback), Move: scenario.Release,
		}}, true
	}
	return change{}, false
}

// take applies the words of c; it moves no money.
func take(l life, c change) life {
	if c.Script {
		l.Pos++
	}
	if c.Step.State != "" && aapay.State(c.Step.State) != l.State {
		l.State, l.Since = aapay.State(c.Step.State), c.At
	}
	if c.Step.Account != "" {
		l.Account = aapay.AccountState(c.Step.Account)
	}
	return l
}

// hurry moves the rest of the script so that its next step happens at now: the customer acted before the wallet
// would have. False: there is nothing to hurry.
func hurry(l life, now int64) (life, bool) {
	if l.Pos >= len(l.Script) || l.Script[l.Pos].Late || !live(l.State) {
		return l, false
	}
	if next := l.Base + l.Script[l.Pos].At.Milliseconds(); next > now {
		l.Base -= next - now
	}
	return l, true
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
