package checkout

import (
	"errors"
	"time"

	"posagent/agent/intent"
	"posagent/schemes/aapay"
)

// Name is the name of an event.
type Name string

// The events.
const (
	Chosen       Name = "chosen"       // method, prompts and amount are complete
	GaveUp       Name = "gave_up"      // choice or prompts were cancelled
	Replied      Name = "replied"      // initialize was answered 201 or 202
	ReplyFailed  Name = "reply_failed" // initialize failed, see Failure
	StatusRead   Name = "status_read"
	StatusFailed Name = "status_failed" // see Failure
	CodeBroken   Name = "code_broken"   // the payload cannot be shown
	Tick         Name = "tick"
	AbortAsked   Name = "abort_asked"
	Told         Name = "told"
	Refused      Name = "refused"
	Lost         Name = "lost"
	NextCommand  Name = "next_command" // the register's next financial command
	GraceOver    Name = "grace_over"
	EndOfDay     Name = "end_of_day"   // settle what is unconfirmed
	BatchClosed  Name = "batch_closed" // the batch of the sale's receipt is closed
	UndoSettled  Name = "undo_settled"
	ForwardEnded Name = "forward_ended" // the outbox settled a refund or reversal
	Restarted    Name = "restarted"
	ToldAborted  Name = "told_aborted" // the register was told "aborted" while the journal could not be written
	Restored     Name = "restored"     // the journal took another's place, see Text
	Released     Name = "released"     // a person lets a held sale go on
)

// Names lists the events.
func Names() []Name {
	return []Name{Chosen, GaveUp, Replied, ReplyFailed, StatusRead, StatusFailed, CodeBroken, Tick, AbortAsked, Told, Refused, Lost,
		NextCommand, GraceOver, EndOfDay, BatchClosed, UndoSettled, ForwardEnded, Restarted, ToldAborted, Restored, Released}
}

// Failure says what an error proves.
type Failure string

// The failures.
const (
	EffectUnknown Failure = "unknown"  // no answer, or one that says nothing
	NotSent       Failure = "not_sent" // no try of the attempt ever had a connection
	NoEffect      Failure = "refused"  // the service's own no: nothing was created
	RouteMissing  Failure = "no_route" // the idempotent route does not exist here
	NotFound      Failure = "not_found"
	Busy          Failure = "busy"     // the service says that the first request under the sale's Key still runs
	KeyUsed       Failure = "key_used" // the sale's Key names another request: nothing was created
)

// Sync is what the register's next command says about the sale: by the last receipt (TLV 1F1F), or
// by the till's own reference.
type Sync string

// The syncs. Silent also stands for a number that says nothing.
const (
	Silent Sync = ""
	Same   Sync = "same"   // it knows the sale's receipt
	Before Sync = "before" // it knows the one before
	Again  Sync = "again"  // it asks for the same purchase, under another id
)

// Undone is what an undo operation, or a forward one, came to.
type Undone struct {
	OK            bool // proven: REVERSED or REFUNDED, or FINALIZED with COMMIT of the undo itself
	InDoubt       bool // the outbox cannot tell
	Withdrawn     bool // it was never sent, and is not sent any more
	Moved         bool // with OK: the service says COMMIT of the undo itself
	ByHand        bool // with OK: a person has decided so
	Used          *Use // what the journal before this one has made under its Key: nothing was sent
	Over          bool // with Used: that has ended without moving money
	Text          string
	TransactionID int64
}

// Event is something that happened to a sale.
type Event struct {
	Name       Name
	Now        time.Duration // boot clock
	Asked      time.Duration // boot clock: when the question of a status left; 0 = Now
	Reply      aapay.Reply
	Status     aapay.Status
	Whose      intent.Verdict // StatusRead: whether the status is of what was asked, by all that it tells; "" = not judged
	Failure    Failure
	Try        int           // ReplyFailed: which of the attempts (Sends)
	After      time.Duration // Retry-After, 0 = not said
	Wish       bool          // the service itself has said After, now or to a sale before
	Poll       Poll          // pace of status reads
	Sync       Sync
	Undone     Undone
	NewBoot    bool
	Listening  bool   // a register waits for the outcome, on a connection that is not known to be broken
	SameAmount bool   // NextCommand: it asks for a payment of the same amount
	Patient    bool   // the register has acknowledged an intermediate status of the sale
	TakenBack  bool   // a reversal that the register asked for is accepted, and not refused
	Silence    int    // StatusFailed: how many questions in a row got no answer, this one included
	Terms      *Terms // Chosen: what the chosen method brings
	Text       string
}

// Do is the name of an effect.
type Do string

// The effects. Those of the commit are performed inside the transaction that stores the state.
const (
	Initialize   Do = "initialize"    // send under the sale's Key on the idempotent route, After from now
	SendPlain    Do = "send_plain"    // send once on the plain route
	ReadStatus   Do = "read_status"   // After from now; replaces a read that waits
	ShowCode     Do = "show_code"     // check and show the payload
	ShowWaiting  Do = "show_waiting"  // take the code off, and say what can be done now
	ClearScreen  Do = "clear_screen"  // take the sale off the screen, before anything is told
	Tell         Do = "tell"          // the outcome is decided: tell each caller that waits for it
	Reverse      Do = "reverse"       // commit: accept a reversal operation, a new one for every Attempt
	RefundUndo   Do = "refund_undo"   // commit: accept a refund operation for the whole amount
	GiveReceipt  Do = "give_receipt"  // commit: receipt and trace numbers
	Release      Do = "release"       // commit: give the debited amount back to the original's ledger
	Exception    Do = "exception"     // commit: something the merchant must know, see Text and Short
	StopReading  Do = "stop_reading"  // no more status reads
	StopChoosing Do = "stop_choosing" // end the dialogue on the screen
)

// Effect is something to do.
type Effect struct {
	Do      Do
	After   time.Duration
	Attempt int
	Text    string
	Short   Short // of an Exception
}

// Short says who is short of the amount of a sale about which the merchant is told.
type Short string

// The parties.
const (
	Merchant Short = "merchant" // the register may have handed over the goods, and no money came
	Customer Short = "customer" // the customer may have paid for nothing, or waits for money back
	NotKnown Short = "unknown"
	Nobody   Short = "" // the money is where it was asked to be, and the register has not heard that
)

// ErrRefused is Next's answer to an event that cannot happen in a phase, or comes too late for it.
// The state is unchanged.
var ErrRefused = errors.New("not possible in this phase")
