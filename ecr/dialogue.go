package ecr

import "time"

// Dialogue is the terminal's side of one connection in a register protocol: a pure state machine.
// It reads no clock and does no I/O. A session feeds it with events and performs the actions it
// returns.
type Dialogue interface {
	// Step takes one event and returns what to do, in this order.
	Step(ev Event) []Action
	// Holds reports whether the line's other connections have to wait for this one.
	Holds() bool
	// Waits reports whether this connection waits until another one of the line holds it no longer:
	// it wants Freed.
	Waits() bool
	// Settled reports whether nothing is under way, so that a dialogue without a connection can be
	// thrown away.
	Settled() bool
	// Shown reports whether the register has shown the line's password, or need not.
	Shown() bool
}

// Start is what a dialogue begins with.
type Start struct {
	Line  string // Request.Line
	Cable bool   // the connection is a serial cable: one register, as long as the terminal runs
	Saved []byte // the last Save of the line, nil if there was none
}

// Event is something that happened to a Dialogue.
type Event interface{ event() }

// The events. Gen repeats the number of the action it answers.
type (
	// Received: a message came in. Elsewhere says that another connection of this line holds it;
	// OpenSale is the sale that the line runs, "" if none.
	Received struct {
		Data      []byte
		Elsewhere bool
		OpenSale  string
	}
	// Sent: the transport is done with a message; OK means what Transport.Send says.
	Sent struct {
		Seq int
		OK  bool
	}
	// Begun answers Begin and Last: the sale is durable.
	Begun struct {
		Gen  int
		Sale string
	}
	// Held says of a Begin that the desk is still taking its journal up: its answer comes later.
	Held struct{ Gen int }
	// NotBegun answers Begin and Last: nothing was accepted. Code is "" where Last found no sale.
	NotBegun struct {
		Gen  int
		Code Code
		Text string
	}
	// Progressed is a step of a sale.
	Progressed struct {
		Gen      int
		Progress Progress
	}
	// Ended is the outcome of a sale.
	Ended struct {
		Gen     int
		Outcome Outcome
	}
	// AbortDecided answers Abort; Done means the sale will end aborted, otherwise it is too late.
	AbortDecided struct {
		Gen  int
		Done bool
	}
	// Recorded answers Deliver. OK false: the desk could not say; Outcome is then empty.
	Recorded struct {
		Gen     int
		Outcome Outcome
		OK      bool
	}
	// Totalled answers CloseBatch, Turnover and ClosedDay; Code is OK or the refusal.
	Totalled struct {
		Gen    int
		Totals Totals
		Code   Code
	}
	// Checked answers Check and Report.
	Checked struct {
		Gen    int
		Health Health
		OK     bool
	}
	// Saved answers Save.
	Saved struct {
		Gen    int
		Failed bool // it is not stored
	}
	// Fired is a timer that ran out.
	Fired struct {
		Timer Timer
		Seq   int
	}
	// Gone: the connection is lost.
	Gone struct{}
	// Freed: no other connection holds the line any more, and it is this one's. One dialogue that
	// Waits gets it.
	Freed struct{}
	// Undoing: the terminal takes back an approval that this line never acknowledged.
	Undoing struct{}
	// Learned is what another connection of the line has saved.
	Learned struct{ Profile []byte }
)

func (Received) event()     {}
func (Sent) event()         {}
func (Begun) event()        {}
func (Held) event()         {}
func (NotBegun) event()     {}
func (Progressed) event()   {}
func (Ended) event()        {}
func (AbortDecided) event() {}
func (Recorded) event()     {}
func (Totalled) event()     {}
func (Checked) event()      {}
func (Saved) event()        {}
func (Fired) event()        {}
func (Gone) event()         {}
func (Freed) event()        {}
func (Undoing) event()      {}
func (Learned) event()      {}

// Action is something a session must do, in the order given.
type Action interface{ action() }

// The actions. Those with a Gen are answered by an event with the same Gen, unless it is 0.
type (
	// Send sends a message and answers Sent. Messages go out in order.
	Send struct {
		Seq  int
		Data []byte
	}
	// Begin calls Desk.Begin: Begun or NotBegun, then Progressed and Ended.
	Begin struct {
		Gen     int
		Request Request
	}
	// Last calls Desk.Last, Finder.Find where it has a Sequence, or Copier.Copy where it has a
	// Receipt: Begun or NotBegun, then Progressed and Ended.
	Last struct {
		Gen      int
		Line     string // whose last sale; "" = the session's line
		Receipt  int    // 0 = the line's last sale; else the newest payment with that number
		Listed   bool   // the number is one of several that are asked for together: see Copier.Listed
		Sequence string // the line's sale with that id (see Finder), whatever its kind; "" = the last one
		// Transaction is the payment's transactionId, as the register names it beside the receipt number:
		// one with another is not meant. "" = it does not say.
		Transaction string
	}
	// Abort calls Desk.Abort: AbortDecided.
	Abort struct {
		Gen  int
		Sale string
	}
	// Waits tells the desk that the register has acknowledged an intermediate status of its sale.
	Waits struct{ Sale string }
	// Deliver calls Desk.Delivered: Recorded.
	Deliver struct {
		Gen      int
		Sale     string
		Delivery Delivery
	}
	// CloseBatch calls Till.Close, or Closer.CloseFor where By has a line; Turnover calls Till.Turnover:
	// Totalled.
	CloseBatch struct {
		Gen int
		By  Asker
		// Patience is how long the register waits for the end; 0 = the line's, if it has one. The desk
		// gives up before.
		Patience time.Duration
	}
	Turnover struct{ Gen int }
	// ClosedDay calls Closer.ClosedBy: Totalled, with Code "" where there is none.
	ClosedDay struct {
		Gen int
		By  Asker
	}
	// DayTold calls Closer.DayTold.
	DayTold struct {
		Line  string
		Batch int
	}
	// Check calls Till.Check, Report calls Till.Health: Checked.
	Check  struct{ Gen int }
	Report struct{ Gen int }
	// Save calls Memory.Save and tells the line's other connections (Learned): Saved, whether or
	// not it succeeded. No sale begins on the line before what was saved last is stored.
	Save struct {
		Gen     int
		Profile []byte
		// Must says that a profile which cannot be stored does not count: the one before it does,
		// and no other connection learns of it.
		Must bool
	}
	// StartTimer replaces a running timer of the same name: Fired with Seq.
	StartTimer struct {
		Timer Timer
		Seq   int
		After time.Duration
	}
	// StopTimer stops a timer, if it runs.
	StopTimer struct{ Timer Timer }
	// Warn is a line of the log: the register has asked for something that came to nothing.
	Warn struct{ Text string }
	// Unsend: what has a number up to Through belongs to a dialogue that is over. What of it has
	// not left yet is not to be sent any more, and what waits for the link's acknowledgement is not
	// to be repeated: Sent with OK false.
	Unsend struct{ Through int }
)

func (Send) action()       {}
func (Begin) action()      {}
func (Last) action()       {}
func (Abort) action()      {}
func (Waits) action()      {}
func (Deliver) action()    {}
func (CloseBatch) action() {}
func (Turnover) action()   {}
func (ClosedDay) action()  {}
func (DayTold) action()    {}
func (Warn) action()       {}
func (Check) action()      {}
func (Report) action()     {}
func (Save) action()       {}
func (StartTimer) action() {}
func (StopTimer) action()  {}
func (Unsend) action()     {}

// Timer names a timer. A protocol numbers its own.
type Timer uint8
