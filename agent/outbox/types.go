package outbox

import (
	"context"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// State is an operation's state, stored by name.
type State string

// The states. Done, Failed, Expired are final; Doubt waits for proof or for a technician; Held for
// release.
const (
	Pending State = "PENDING" // stored, nothing sent yet
	Sent    State = "SENT"    // sent at least once under its Key, no final answer yet
	Done    State = "DONE"
	Failed  State = "FAILED"  // the backend's final no
	Expired State = "EXPIRED" // never sent: too old, or withdrawn
	Doubt   State = "DOUBT"
	Held    State = "HELD" // by a technician, or because it cannot be trusted or read; Reason says which
)

// Replay is what may be done when the reply to a send was lost.
type Replay string

// The replay classes of the operation table.
const (
	SameKey Replay = "same_key" // the backend honours the Key: send again
	Compare Replay = "compare"  // read the thing and compare, else in doubt
	Safe    Replay = "safe"     // a second effect moves no money
	Never   Replay = "never"    // in doubt at once
)

// New is an operation to accept.
type New struct {
	Key       wire.Key // made by the caller before anything else
	Kind      string
	Aggregate string // FIFO within
	Payload   []byte // opaque; sealed by the outbox
	Note      string // one plain-language word or two for people ("undo of R17"); no secrets
	AmountMin int64  // minor units, 0 where none: for the reconciliation report
	Currency  string
	Owner     string     // the local client it belongs to; "" = the terminal itself
	Trace     wire.Trace // that its requests belong to; "" = that of its Key. It is no part of what makes an operation the same

	digest, sealed, dataKey []byte // of Payload, once Seal was called
}

// Op is a stored operation.
type Op struct {
	New
	ID       int64 // order of acceptance
	State    State
	Attempts int
	Created  time.Time
	NextTry  time.Time     // zero when final
	Memo     []byte        // what the kind's sender wants to remember between attempts; sealed
	Result   []byte        // what the sender returned last; readable
	Reason   string        // last error or outcome for people
	Ran      time.Duration // the terminal's running time as an attempt begins, for a wait that proves something
	Started  time.Duration // the same when this run of the program began: what passed before is not known
	ReadOnly bool          // the backend may have forgotten the Key: the sender may read, it must not send
	Unsure   bool          // the same for now: no true time has said yet how old it is
	Settled  time.Time     // when it became final; zero before
	// SentSince says of an EXPIRED one that it stood in a journal that was put back from an earlier
	// time: it may have been revived and sent since, so that Revive does not take it for unsent.
	SentSince bool
}

// Final tells whether nothing more will happen to an operation in this state.
func (s State) Final() bool { return s == Done || s == Failed || s == Expired }

// Reach is what an attempt learned about the service.
type Reach string

// The reaches. Empty on a final verdict means Reached, on Pending without After it means
// Unreachable.
const (
	Reached     Reach = "reached"     // it answered
	Unreachable Reach = "unreachable" // no answer, or it asks for a pause: probe before sending more
	Refused     Reach = "refused"     // it does not accept our credentials: pause, doctor's case
)

// Verdict is what one attempt came to.
type Verdict struct {
	State  State         // Done, Failed, Doubt; Sent = live, ask again; Pending = provably not sent, try again; Expired = so for ever
	After  time.Duration // when to try again at the earliest; 0 = the back-off decides
	Memo   []byte        // replaces Op.Memo when not nil
	Result []byte        // replaces Op.Result when not nil
	Reason string
	Reach  Reach
}

// Kind is one row of the operation table.
type Kind struct {
	Name   string
	Replay Replay
	MaxAge time.Duration // of running time before an unsent operation expires; 0 = never
	// Send makes one attempt. It must use op.Key as the Idempotency-Key and never block past ctx.
	// Op.State is the state before this attempt: Pending = no earlier attempt can have had an
	// effect. Op.Attempts counts this one and is durable. A verdict Held sets the operation aside
	// (payload unreadable).
	Send func(ctx context.Context, op Op) Verdict
	// Reads says that Send compares with what it has read before anything left. An Op that is
	// PENDING then comes without Memo at first: that call only reads, and the Memo of its verdict
	// is durable with SENT before the next call brings it as Op.Memo. Without Memo in its verdict
	// the attempt is over, and the operation is as unsent as it was.
	Reads bool
	// Settled runs in the commit that makes the operation final or in doubt; nil = nothing to do.
	// An operation that leaves DOUBT for a final state is settled a second time.
	Settled func(tx store.Tx, op Op) error
	// After runs once that commit is durable; nil = nothing to do.
	After func(op Op)
	// Touched says, by Op.Memo, that an attempt of an operation that is PENDING had a connection,
	// so that it may not be withdrawn; nil = PENDING is proof enough.
	Touched func(op Op) bool
	// Purged runs in the commit that deletes a final operation after Options.Retention; nil =
	// nothing else is to be deleted.
	Purged func(tx store.Tx, op Op) error
	// Service groups the kinds that share a backend service and so its outages; "" = the kind's own
	// name.
	Service string
	// Asks says that Send can find the outcome by reading alone; it is then called with Op.ReadOnly
	// when the Key may be forgotten, instead of leaving the operation in doubt.
	Asks bool
	// Urgent says that one sender more is kept for this kind: what owes money back does not wait
	// for what hangs elsewhere. While the service does not answer, its urgent operations are tried
	// one at a time by their own back-off: no probe comes before them.
	Urgent bool
	// Breaks says that the operations behind a failed one of this kind cannot succeed and fail with
	// it.
	Breaks bool
}

// Service is the outbox's view of a backend service, for status and doctor.
type Service struct {
	Name    string
	Down    bool   // does not answer, or asks for a pause: probed
	Refused bool   // does not accept our credentials
	Reason  string // why; "" when up
	Kinds   []string
}

// Since is for how long something of an earlier attempt is known to have been over, by the running
// time at which it was seen. What passed between two runs of the program is not known, and no wait
// that is to prove something is shortened by asking again.
func (op Op) Since(at time.Duration) time.Duration { return op.Ran - max(at, op.Started) }
