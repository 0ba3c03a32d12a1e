package scenario

import "time"

// Flow is how a provider's money comes when the customer pays.
type Flow string

// The flows.
const (
	FlowCommit  Flow = "commit"  // FINALIZED with COMMIT at once
	FlowReserve Flow = "reserve" // RESERVED first
	FlowWord    Flow = "word"    // the provider's own word first
)

// Timing is what a script is laid out with. All durations count from the creation of the transaction.
type Timing struct {
	Delay    time.Duration // until the customer pays
	StaleAge time.Duration // S1 2.5
	TimeOut  time.Duration // staleTimeOut
	Finalize time.Duration // finalizeTimeOut
	Flow     Flow
	Word     string // of FlowWord and the provider-word row
}

// Move is what a step asks the books for.
type Move string

// The moves of a wallet.
const (
	NoMove  Move = ""
	Reserve Move = "reserve"
	Commit  Move = "commit"
	Release Move = "release"
	Undo    Move = "undo" // what the reversal or refund is there for
)

// Step is one thing that happens in a wallet.
type Step struct {
	At      time.Duration `json:"at"`                // after the creation
	State   string        `json:"state,omitempty"`   // word of S1 3.2 or the provider's own; empty = keep
	Account string        `json:"account,omitempty"` // COMMIT, ROLLBACK; empty = keep
	Move    Move          `json:"move,omitempty"`
	Late    bool          `json:"late,omitempty"` // happens even after TIMEDOUT
}

// Words of S1 3.2 and 2.4 a script says.
const (
	finalized = "FINALIZED"
	reserved  = "RESERVED"
	commit    = "COMMIT"
	rollback  = "ROLLBACK"
)

// settleMin keeps a word that comes before COMMIT visible to a poll every 2 s.
const settleMin = 3 * time.Second

// lateBy is how long after TIMEDOUT a late commit comes.
const lateBy = 2 * time.Second

// Script lays out what the wallet does for a row's Do. Anything that is not a wallet's doing is an approval.
func Script(do Do, t Timing) []Step {
	done := func(at time.Duration) Step {
		return Step{At: at, State: finalized, Account: commit, Move: Commit}
	}
	settle := t.Delay + min(max(t.Delay, settleMin), t.Finalize/2)
	word := t.Word
	if word == "" {
		word = "APPROVED"
	}
	reserve := []Step{{At: t.Delay, State: reserved, Move: Reserve}, done(settle)}
	worded := []Step{{At: t.Delay, State: word, Move: Reserve}, done(settle)}
	switch do {
	case Decline:
		return []Step{{At: t.Delay, State: "REJECTED"}}
	case Cancel:
		return []Step{{At: t.Delay, State: "CANCELLED"}}
	case Fail:
		return []Step{{At: t.Delay, State: "FAILED"}}
	case SlowCommit:
		return []Step{done(min(max(t.Delay, t.StaleAge/5*4), t.StaleAge-time.Millisecond))}
	case StaleCommit:
		return []Step{done(t.StaleAge + t.TimeOut/2)}
	case Never:
		return nil
	case ReserveFinalize:
		return reserve
	case ReserveTimeout:
		return reserve[:1]
	case ProviderWord:
		return worded
	case LateCommit:
		return []Step{{At: t.StaleAge + t.TimeOut + lateBy, Account: commit, Move: Commit, Late: true}}
	case BadWordCommit:
		return []Step{{At: t.Delay, State: "FAILED", Account: commit, Move: Commit}}
	case Rollback:
		return []Step{{At: t.Delay, State: finalized, Account: rollback}}
	case UnknownWord:
		return []Step{{At: 0, State: "AWAITING_BANK"}, done(max(t.Delay, settleMin))}
	}
	switch t.Flow {
	case FlowReserve:
		return reserve
	case FlowWord:
		return worded
	}
	return []Step{done(t.Delay)}
}

// UndoScript lays out a reversal or refund: at once, unless the row has it otherwise. again says that the payment's
// row has had its turn already.
func UndoScript(do Do, again bool, mean, timeOut time.Duration) []Step {
	done := Step{State: finalized, Account: commit, Move: Undo}
	if again {
		return []Step{done}
	}
	switch do {
	case FailOnce:
		return []Step{{State: "FAILED"}}
	case TimeOutOnce:
		return []Step{{State: "PENDING"}}
	case SlowUndo:
		done.At = min(mean, timeOut-time.Millisecond)
		return []Step{{State: "PENDING"}, done}
	}
	return []Step{done}
}
