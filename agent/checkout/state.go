package checkout

import (
	"math"
	"time"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// Phase is where a sale stands. It is stored by name; names are never reused for another meaning.
type Phase string

// The phases. A payment uses all of them but FORWARD; a refund or reversal uses CHOOSING, FORWARD and
// DONE. Each may be HELD.
const (
	Choosing     Phase = "CHOOSING"     // accepted, waits for a choice, prompts or the amount; nothing was sent
	Initializing Phase = "INITIALIZING" // the initialize may be on its way
	Waiting      Phase = "WAITING"      // live at the backend, or may be
	Aborting     Phase = "ABORTING"     // the register's abort is durable; one status try before the undo
	Approved     Phase = "APPROVED"     // success is durable, the register has not been told yet
	Unconfirmed  Phase = "UNCONFIRMED"  // told, no acknowledgement
	Confirmed    Phase = "CONFIRMED"    // told and acknowledged
	Declined     Phase = "DECLINED"     // a final no; watched until it can no longer change
	Reversing    Phase = "REVERSING"    // the undo is durable and runs
	Done         Phase = "DONE"         // nothing is left to do
	Forward      Phase = "FORWARD"      // refund or reversal; the outbox sends it until it is final
	Held         Phase = "HELD"         // was open in a journal that took another's place; it is read, and a person decides
)

// Phases lists them in the order of a sale's life.
func Phases() []Phase {
	return []Phase{Choosing, Initializing, Waiting, Aborting, Approved, Unconfirmed, Confirmed, Declined, Reversing, Done, Forward, Held}
}

// Limits are the durations a sale lives under, fixed when it is accepted.
type Limits struct {
	Stale           time.Duration `json:"stale"`    // stale age (S1 2.5)
	StaleTimeout    time.Duration `json:"staleOut"` // STALE or PENDING to TIMEDOUT
	FinalizeTimeout time.Duration `json:"finOut"`   // RESERVED to TIMEDOUT
	Deadline        time.Duration `json:"deadline"` // of the whole sale, from Started: its last status is asked for then
	// Long replaces Deadline once the register has acknowledged an intermediate status.
	Long time.Duration `json:"long,omitempty"`
}

// Window is how long after the last send the original may still change.
func (l Limits) Window() time.Duration { return clampSum(l.Stale, l.StaleTimeout, l.FinalizeTimeout) }

// clampSum adds durations; the longest there is stands for a longer one.
func clampSum(ds ...time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range ds {
		if d > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += d
	}
	return sum
}

// Till is what a sale keeps of its register.
type Till struct {
	Trace     string        `json:"traceId,omitempty"`   // its trace id, "" = none
	Reference string        `json:"reference,omitempty"` // its own name of the purchase, "" = none
	Spelled   string        `json:"spelled,omitempty"`   // sealed: its id of the request as it wrote it, where a card number may stand in it
	Patience  time.Duration `json:"patience,omitempty"`  // it waits so long for an answer; 0 = the terminal's default
	Grace     time.Duration `json:"grace,omitempty"`     // an approval waits so long for its acknowledgement; 0 = the terminal's default
	Keep      bool          `json:"keep,omitempty"`      // an approval that it does not acknowledge is kept
	Kept      bool          `json:"kept,omitempty"`      // one was, and the merchant was told
	ByTCP     bool          `json:"byTcp,omitempty"`     // its only acknowledgement of an answer is TCP's
}

// Use is what the backend knows under a Key that another request has used.
type Use struct {
	At       string `json:"at,omitempty"`       // RFC 3339, as the backend says it; "" = it does not say
	Amount   int64  `json:"amount,omitempty"`   // hundredths; 0 = it does not say
	Currency string `json:"currency,omitempty"` // of Amount
	Replaced bool   `json:"replaced,omitempty"` // the journal took another's place
}

// State is a sale as the decisions need it. Durations named …At are instants of the boot clock.
type State struct {
	Kind   ecr.Kind   `json:"kind"`
	Phase  Phase      `json:"phase"`
	Result ecr.Result `json:"result,omitempty"` // "" until decided
	Code   ecr.Code   `json:"code,omitempty"`
	Text   string     `json:"text,omitempty"` // why, in a few words for people

	// What the method can do.
	QR         bool     `json:"qr,omitempty"`
	CanReverse bool     `json:"canReverse,omitempty"`
	CanRefund  bool     `json:"canRefund,omitempty"`
	StaleEnds  bool     `json:"staleEnds,omitempty"` // a code that was not scanned in time ends the sale
	OKWords    []string `json:"okWords,omitempty"`   // okCodes for the sale's type
	Limits     Limits   `json:"limits"`

	Till Till `json:"till,omitzero"`

	// What was sent.
	// ReadFirst: a journal before this one may have used the sale's Key. Nothing is sent under it
	// until the backend has said that it knows nothing of it.
	ReadFirst bool `json:"readFirst,omitempty"`
	Used      *Use `json:"used,omitempty"` // what had used the Key: nothing of this sale was made

	NoRoute bool `json:"noRoute,omitempty"` // the idempotent route is missing: one status says whether anything has arrived all the same
	Plain   bool `json:"plain,omitempty"`   // it has not: sent plainly, once
	Sends   int  `json:"sends,omitempty"`   // initialize attempts, counted before each
	Unsent  int  `json:"unsent,omitempty"`  // attempts 1 to Unsent have ended without ever having a connection
	Lost    int  `json:"lost,omitempty"`    // attempts whose effect is not known
	Heard   bool `json:"heard,omitempty"`   // a reply to an attempt, or a status, was heard: the sale was sent
	Taken   bool `json:"taken,omitempty"`   // a reply said that the service has it
	Unheard bool `json:"unheard,omitempty"` // no answer to any attempt: one status try decides

	// What was seen.
	Rejected      bool               `json:"rejected,omitempty"` // the answer was a 201 that refuses; a status has to agree
	Wire          aapay.State        `json:"wire,omitempty"`     // last state word read
	Account       aapay.AccountState `json:"account,omitempty"`
	Committed     bool               `json:"committed,omitempty"` // a COMMIT was seen, ever
	Engaged       bool               `json:"engaged,omitempty"`   // the customer has reacted: past INITIALIZED
	TransactionID int64              `json:"transactionId,omitempty"`
	PPRef         string             `json:"ppref,omitempty"`
	PPRefRead     bool               `json:"pprefRead,omitempty"`   // a status has shown it; else it is from the answer to an initialize alone
	Contradicts   int64              `json:"contradicts,omitempty"` // the transaction of a status that contradicted that answer
	Payload       string             `json:"payload,omitempty"`     // of the code
	Payer         string             `json:"payer,omitempty"`       // who paid, masked
	Info          string             `json:"info,omitempty"`        // the provider's message to the customer
	Loyalty       []string           `json:"loyalty,omitempty"`     // loyalty ids
	Shown         bool               `json:"shown,omitempty"`       // the code is on the screen, as far as we decide
	AwaitingApp   bool               `json:"veiled,omitempty"`      // the code is hidden; the screen says that the customer's app is awaited

	// What runs.
	LastRead   bool `json:"lastRead,omitempty"` // a limit was reached: the next status decides
	Settling   bool `json:"settling,omitempty"` // approved, awaiting COMMIT
	Excepted   bool `json:"excepted,omitempty"` // a merchant exception was raised
	Leaves     bool `json:"leaves,omitempty"`   // the answer leaves with the commit that approved, and nothing is known of it yet
	Left       bool `json:"left,omitempty"`     // a start has found it so: the till may have heard, so the approval is kept
	Twice      bool `json:"twice,omitempty"`    // the merchant was told that the till may have charged again
	Closed     bool `json:"closed,omitempty"`   // the batch of its receipt is closed
	Released   bool `json:"released,omitempty"` // a person has let it go on as the backend says
	UndoTries  int  `json:"undoTries,omitempty"`
	UndoOpen   bool `json:"undoOpen,omitempty"`   // an undo operation is in the outbox
	UndoRefund bool `json:"undoRefund,omitempty"` // that operation is a refund
	UndoNo     bool `json:"undoNo,omitempty"`     // the last undo operation ended in a no: the original decides
	Found      bool `json:"found,omitempty"`      // a read by its own reference has found it, whatever names it told
	Missing    bool `json:"missing,omitempty"`    // at the last read the service did not know the sale any more
	Unfound    bool `json:"unfound,omitempty"`    // the merchant was told so

	// Instants of the boot clock.
	StartedAt time.Duration `json:"startedAt"`
	Rebased   bool          `json:"rebased,omitempty"`  // they are of another boot than the sale's beginning: its age is not known
	SentAt    time.Duration `json:"sentAt,omitempty"`   // last time an initialize may have left
	BaseAt    time.Duration `json:"baseAt,omitempty"`   // the stale age counts from here: answer, or arrival of the code
	WireAt    time.Duration `json:"wireAt,omitempty"`   // the wire state was first seen
	LimitAt   time.Duration `json:"limitAt,omitempty"`  // LastRead or ABORTING began
	UntoldAt  time.Duration `json:"untoldAt,omitempty"` // UNCONFIRMED began
	AnswerAt  time.Duration `json:"answerAt,omitempty"` // the last undo operation ended
	ToldAt    time.Duration `json:"toldAt,omitempty"`   // a register acknowledged the outcome
	ToldBoot  string        `json:"toldBoot,omitempty"` // the boot that ToldAt is of
	ToldMS    int64         `json:"toldMs,omitempty"`   // the true time then, unix ms; 0 = none was known
}

// Terms are what a sale starts with.
type Terms struct {
	Kind                  ecr.Kind
	QR                    bool
	StaleEnds             bool
	CanReverse, CanRefund bool
	OKWords               []string
	Limits                Limits
	Till                  Till
	ReadFirst             bool // see State
	Ask                   bool // choice, prompts or the amount are still to come
}

// Age is how long ago the sale began, by a clock that runs evenly; 0 = it is not known.
func Age(s State, now time.Duration) time.Duration {
	if s.Rebased {
		return 0
	}
	return now - s.StartedAt
}

// NeverSent says whether no attempt under the sale's Key, in any run, ever had a connection. An
// attempt whose end is not in the state counts as sent, and so does a sale of which anything was
// heard. It reads the state alone: what a run knows in memory is gone after a restart.
func NeverSent(s State) bool {
	return s.Sends == s.Unsent && !s.Heard && s.Wire == "" && s.TransactionID == 0 && s.PPRef == ""
}

// SeenAlive says whether the service has ever known the sale: it has taken it, given it an id, or told
// a state of it. From then on the sale ends by the service's own final word alone. That it is not found
// later proves nothing: data may lag, or another site may answer under the same name (MONEY law V).
func SeenAlive(s State) bool {
	return s.Taken || s.Wire != "" || s.TransactionID != 0 || s.PPRef != "" || s.Committed
}

// Owed says whether an undo is owed for the sale as it stands: it was, or may have been, sent, it
// is not approved, and nothing proves yet that no money moved.
func Owed(s State) bool {
	switch s.Phase {
	case Initializing, Waiting, Aborting, Declined, Reversing:
		return s.Kind == ecr.Payment
	}
	return false
}

// Open says whether the sale occupies the terminal: no other may begin.
func Open(s State) bool {
	switch s.Phase {
	case Choosing, Initializing, Waiting, Aborting, Approved:
		return true
	}
	return false
}

// Running says whether a refund or reversal has no end yet: a register that cannot wait is told so.
func Running(s State) bool {
	return s.Phase == Forward || s.Phase == Choosing && s.Kind != ecr.Payment
}

// Active says whether something can still happen to the sale by itself, so that a start must resume
// it.
func Active(s State) bool {
	switch s.Phase {
	case Done:
		return false
	case Confirmed:
		return s.Settling
	}
	return true
}

// Paid says whether the backend said last that the money has moved.
func Paid(s State) bool { return s.Account == aapay.Commit }

// Good says whether the sale counts: money moved as the register asked.
func Good(s State) bool {
	return s.Result == ecr.Approved && s.Phase != Reversing && s.Phase != Forward && s.Phase != Held
}
