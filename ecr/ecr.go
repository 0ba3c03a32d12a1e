package ecr

import (
	"context"
	"errors"
	"time"

	"posagent/schemes/money"
)

// Kind is the type of a sale.
type Kind string

// The kinds of sale.
const (
	Payment  Kind = "payment"
	Refund   Kind = "refund"   // gives money back for an original named by Original
	Reversal Kind = "reversal" // undoes the whole sale with receipt number Receipt
)

// Request is what a register asks for, once.
type Request struct {
	Kind        Kind
	Line        string           // which register line asked, e.g. "serial", "tcp"; Last looks there
	Sequence    string           // the register's own request id (TLV 1F73, JSON-lines id); "" = none. Same line + same id = same sale
	Reuse       time.Duration    // of running time: for so long an id that begins like Sequence, up to its "/", names nothing else; 0 = an id is itself alone
	Repeat      bool             // nothing new is begun: it joins the sale that has its Sequence, or fails with ErrNone
	Amount      money.Minor      // > 0; 0 on a Reversal means "the amount of the original"; 0 on a Payment means "to come" (delayedAmount)
	Currency    string           // ISO 4217 alpha; "" = the terminal's
	CardType    int              // ZVT card type the register selected; 0 = none
	Method      string           // name of the method definition the register selected; "" = none
	ConsumerID  string           // the customer's wallet code, which the register has scanned; "" = none
	Answers     map[int32]string // to the method's prompts, by the query's id (S1 2.5), which the register has asked for itself
	AskAmount   bool             // a Payment without an amount: the register leaves it to the terminal to ask for it
	Reference   string           // the till's own name of the purchase; "" = none. The same id with another reference is another request
	Part        bool             // Reversal: an Amount below the original's is given back as a refund; else it is refused
	Receipt     int              // Reversal: receipt number of the original in the open batch
	Original    string           // Refund: "R<receipt>", "R<batch>/<receipt>" or "T<transactionId>"; "" = refund the line's last payment, if the terminal allows it. Reversal: "L" = the line's last approved payment, in the open batch, "L<trace>" = that one if it has this trace number; "" = the one of Receipt
	LastReceipt *int             // TLV 1F1F: the last receipt number the register knows; nil = not sent
	Progress    bool             // the register is known to acknowledge intermediate status, so the long deadline applies
	Trace       string           // the till's trace id (W3C Trace Context), "" = none. It is no part of what makes a request the same
	Lines       []Item           // order lines, where the register sends them

	// Patience is how long the register waits for the end of a request; 0 = the terminal's default.
	Patience time.Duration
	// Grace is how long an approval waits for the register's acknowledgement; 0 = the terminal's
	// default.
	Grace time.Duration
	// Keep says that an approval which the register does not acknowledge is kept, with an alert,
	// instead of being undone.
	Keep bool
	// ByTCP says that the register's only acknowledgement of an answer is TCP's: where the terminal dies
	// as an approval leaves, nothing can say whether the register has read it.
	ByTCP bool
	// RefundLast lets a refund that names no original mean the last payment of its line.
	RefundLast bool
}

// Item is one order line of a register. Amounts are minor units of the request's currency.
type Item struct {
	ItemNo, Name, Unit string
	Quantity           int32
	UnitPrice, Gross   money.Minor
	Tax                money.Minor
	TaxRate            int64 // hundredths of a percent
}

// Result is how a sale ended, as far as the register is concerned.
type Result string

// The results a register can be told. A payment is never "unknown" to it.
const (
	Approved   Result = "approved"
	Declined   Result = "declined"
	Aborted    Result = "aborted"
	InProgress Result = "in_progress" // a refund or reversal, which the same request joins again; with OnHold any sale
)

// Code is the reason behind a result: a closed list, which each protocol maps to codes of its own.
type Code string

// The codes.
const (
	OK               Code = "ok"
	RejectedByScheme Code = "rejected"              // the wallet or the backend said no
	AbortedByUser    Code = "aborted"               // register, customer, time-out, or undone
	WrongCurrency    Code = "wrong_currency"        // not the terminal's
	Processing       Code = "processing_error"      // the request contradicts an earlier one, or failed in the terminal
	NoMethod         Code = "no_method"             // nothing is offered for this request
	AmountWrong      Code = "amount_wrong"          // none, out of range, or not what the order lines come to
	AlreadyReversed  Code = "already_reversed"      // the sale is undone
	NotReversible    Code = "not_reversible"        // unknown receipt, or refunded in part
	Busy             Code = "busy"                  // another sale runs: told as a refusal, never as an outcome
	Impossible       Code = "impossible"            // not in this state: told as a refusal, never as an outcome
	StillRunning     Code = "in_progress"           // a refund or reversal goes on
	NoConnection     Code = "no_connection"         // nothing left the terminal
	NoOriginal       Code = "no_original"           // told as an outcome with a text that says what to send
	NotStored        Code = "not_stored"            // the journal cannot write: nothing was accepted
	NotReady         Code = "not_ready"             // starting, no methods yet, settling older sales
	Resuming         Code = "resuming"              // the journal is not taken up yet: ask Begin again, it is no answer for a register
	EODImpossible    Code = "end_of_day_impossible" // a sale is open or not settled
	SystemError      Code = "system_error"          // a fault of the terminal
	Replaced         Code = "journal_replaced"      // a number may be another payment's, of the journal before this one
	OnHold           Code = "held"                  // a person has to look at the sale, told as InProgress: see HeldText
)

// Outcome is the definite answer to a Request.
type Outcome struct {
	Sale          string // our id of the sale (its Key)
	Sequence      string // the register's own id of it, "" = none
	Kind          Kind
	Result        Result
	Code          Code
	Text          string // one line for people, in the terminal's language; may be ""
	Amount        money.Minor
	Currency      string // ISO 4217 alpha
	Receipt       int    // 1..9999, approved sales only, 0 otherwise
	Batch         int    // that the receipt's number was given in, 0 where it has none
	Trace         int    // 1..999999
	OriginalTrace int    // reversals and refunds: trace of the original
	Time          time.Time
	TerminalID    string
	TransactionID string   // the backend's
	Method        string   // definition name, e.g. SWISH_E_COM
	Label         string   // what people call it
	Payer         string   // of an approved payment: who paid, masked; "" = the backend has not said it
	Info          string   // likewise: the provider's message, one line
	Loyalty       []string // likewise: the customer's loyalty ids
	MerchantCopy  bool     // a merchant receipt is required
	Settling      bool     // aborted but still being undone, or approved and awaiting COMMIT
	Repeat        bool     // told before: this is a repetition
	// ToldFor is how long ago a register acknowledged it, 0 = none did. ToldLeast says that it may be
	// longer: the box has started since, and no true time tells yet for how long it was off.
	ToldFor   time.Duration
	ToldLeast bool
}

// Refusal is the error of a request that was not accepted: nothing was journalled, no money can
// move.
type Refusal struct {
	Code Code
	Text string
}

func (r *Refusal) Error() string { return "refused: " + string(r.Code) + ": " + r.Text }

// ErrTooLate is Abort's answer when the sale is already decided.
var ErrTooLate = errors.New("too late to abort")

// ErrNone is Last's answer when the line has never had a sale.
var ErrNone = errors.New("no earlier sale on this line")

// Step is a phase of a running sale worth showing to the register.
type Step string

// The steps.
const (
	StepAsking    Step = "asking" // a person is asked at the terminal
	StepStarting  Step = "starting"
	StepShowCode  Step = "show_code" // the QR is on the customer's screen
	StepWaiting   Step = "waiting"   // for the wallet or the backend
	StepConfirm   Step = "confirm"   // the customer has scanned the code and confirms in the app
	StepExpired   Step = "expired"   // the code has left the screen, and no customer is known to have scanned it
	StepApp       Step = "app"       // the code has left the screen, the customer is confirming
	StepReversing Step = "reversing" // the sale was aborted and is being undone
)

// Progress is one intermediate status.
type Progress struct {
	Step Step
	Text string
}

// Sale is a running or finished sale. Both channels belong to the caller alone.
type Sale struct {
	ID       string
	Progress <-chan Progress // latest only, never blocks the teller; closed with the outcome
	Outcome  <-chan Outcome  // exactly one value, already journalled; then closed
}

// Delivery is what became of telling an outcome.
type Delivery string

// The deliveries.
const (
	Told    Delivery = "told"    // the register acknowledged it: an approved sale is CONFIRMED
	Refused Delivery = "refused" // the register refused it: an approved payment is undone
	Lost    Delivery = "lost"    // no acknowledgement: an approved sale is UNCONFIRMED
	Interim Delivery = "interim" // it was no end that was told, whatever became of the telling
)

// Telling is what became of telling this outcome: an acknowledgement of "in progress" is none of the
// end, which another connection may be told at the same time (MONEY A.8).
func (o Outcome) Telling(how Delivery) Delivery {
	if o.Result == InProgress {
		return Interim
	}
	return how
}

// Desk takes register requests. Every method is safe for concurrent use.
type Desk interface {
	// Begin accepts a request. When it returns without error the sale is durable and will be driven
	// to its end even if this process dies. Errors: *Refusal (nothing accepted), ctx.Err(). A
	// request with the Sequence of an earlier one on the same line, or a refund or reversal that
	// repeats a running one, joins it. Cancelling ctx after Begin returned has no effect.
	Begin(ctx context.Context, req Request) (Sale, error)
	// Abort asks a running sale to stop; nil means the abort is durable and the outcome will be
	// Aborted. ErrTooLate: an approval was journalled first, or the sale has ended.
	Abort(ctx context.Context, id string) error
	// Last returns the line's last sale for a repeated telling: at once if it ended, joined if it
	// still runs. Nothing else may undo it while it is being told, until Delivered is called.
	// ErrNone.
	Last(ctx context.Context, line string) (Sale, error)
	// Delivered reports what became of telling sale id's outcome, and returns what the register may
	// now be told: the same outcome, or an Aborted one when the sale is being undone (after
	// Refused, or when undo came first).
	Delivered(ctx context.Context, id string, d Delivery) (Outcome, error)
}

// Undoer is a Desk that says when it begins to undo, by its grace timer, an approval that a line
// never acknowledged, so that a register which is still connected can be told.
type Undoer interface {
	// OnUndo sets what is called for a line, at any time and from any goroutine; it must not block.
	OnUndo(line string, tell func())
}

// Finder is a Desk that finds a sale by the register's own id.
type Finder interface {
	// Find returns the newest sale of a line with that Sequence: at once if it ended, joined if it
	// still runs, with the promise of Last. ErrNone: nothing was accepted under it, and nothing will
	// be done. *Refusal: the terminal cannot say, because its journal was replaced. A sequence that
	// ends with "/" and AnyEnd stands for each one that begins with what is before AnyEnd.
	Find(ctx context.Context, line, sequence string) (Sale, error)
}

// AnyEnd is no character of an id, so that no register can mean another one's sale by its own id.
const AnyEnd = "\x00"

// Copier is a Desk that tells an earlier payment again by its receipt number.
type Copier interface {
	// Copy returns the newest payment with a receipt number, whose approval a register has
	// acknowledged, or whose approval was undone: then its outcome is Aborted. The outcome is at
	// hand. What becomes of telling it changes nothing. transaction is its transactionId where the
	// register names that too, "" = it does not. ErrNone: no such payment.
	Copy(ctx context.Context, receipt int, transaction string) (Sale, error)
	// Listed is Copy for one number of a range: that does not show that its register has heard of it, so
	// an approval that waits for its acknowledgement goes on waiting, and is none.
	Listed(ctx context.Context, receipt int) (Sale, error)
}

// Waiter is a Desk that takes its time for a register that acknowledges intermediate status.
type Waiter interface {
	// Waits says that the register has acknowledged an intermediate status of a running sale; it
	// must not block.
	Waits(id string)
}

// Listener is a Desk that wants to know whether a register listens. Until it is told, it takes whoever
// began or joined a sale for one that does.
type Listener interface {
	// Listens says whether a connection is there on which the outcome of a running sale can leave; it
	// must not block.
	Listens(id string, yes bool)
}

// MethodTotal is one line of the totals.
type MethodTotal struct {
	Method, Label string
	CardType      int
	Currency      string
	Payments      int
	PaymentSum    money.Minor
	Refunds       int // refunds and reversals
	RefundSum     money.Minor
}

// Totals is the end of day, or the turnover so far.
type Totals struct {
	Batch        int
	FirstReceipt int
	LastReceipt  int
	Trace        int
	Time         time.Time
	Currency     string
	Count        int
	Net          money.Minor // payments minus refunds and reversals
	Methods      []MethodTotal
	Exceptions   []string // one line each: merchant exceptions and carried-over lines
}

// Health is what status-enquiry and diagnosis report.
type Health struct {
	Ready      bool
	Busy       bool // a sale is open
	NoMethods  bool
	Offline    bool // the backend did not answer last time
	TerminalID string
	Currency   string
	Version    string
	Time       time.Time // the terminal's clock
	Lines      []string  // diagnosis text, one line each
}

// Till is the administrative side of the terminal.
type Till interface {
	// Close ends the batch. *Refusal{EODImpossible} when open or unconfirmed sales cannot be
	// settled in 60 s, or before ctx ends. Beside an error the batch is open, and stays so: who asks
	// while another closes it is told what that comes to.
	Close(ctx context.Context) (Totals, error)
	// Turnover reports without closing.
	Turnover(ctx context.Context) (Totals, error)
	// Health reports; it never blocks on the network.
	Health(ctx context.Context) Health
	// Check contacts the backend (diagnosis, initialisation) and refreshes the methods.
	Check(ctx context.Context) (Health, error)
}

// Asker names who asks for an end of day, so that a lost answer can be asked for again.
type Asker struct {
	Line  string        // "" = nobody who could ask again
	ID    string        // the request's own; "" = it has none
	Reuse time.Duration // of running time: after that the ID is another request's; 0 = when a sale's would be
}

// Closer is a Till that remembers which request closed which day, in the commit that closes it.
type Closer interface {
	// CloseFor is Till.Close for a request. Asked again it closes nothing and returns the day that was
	// closed then: under the same ID; without one as long as its totals were not told (DayTold) and nothing
	// has been sold since.
	CloseFor(ctx context.Context, by Asker) (Totals, error)
	// ClosedBy returns the day that a request with an ID closed; that of the zero Asker is the newest day.
	// ErrNone.
	ClosedBy(ctx context.Context, by Asker) (Totals, error)
	// DayTold says that the register of a line has acknowledged the totals of a batch.
	DayTold(ctx context.Context, line string, batch int) error
}

// Memory keeps what a line must remember over a restart (a register's registration).
type Memory interface {
	Load(ctx context.Context, line string) ([]byte, error) // nil, nil when there is nothing
	Save(ctx context.Context, line string, data []byte) error
}
