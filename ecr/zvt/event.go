package zvt

import (
	"time"

	"posagent/ecr"
)

// Event is something that happened to a Machine.
type Event interface{ event() }

// The events. Gen repeats the number of the action it answers.
type (
	// Received: an APDU came in. Elsewhere says that a dialogue runs on another connection of this line; OpenSale is
	// the sale it runs, "" if none.
	Received struct {
		APDU      []byte
		Elsewhere bool
		OpenSale  string
	}
	// Sent: the transport is done with an APDU; OK means the peer's link has it.
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
	// Refused answers Begin and Last: nothing was accepted. Code is "" where Last found no sale.
	Refused struct {
		Gen  int
		Code ecr.Code
		Text string
	}
	// Progressed is a step of a sale.
	Progressed struct {
		Gen      int
		Progress ecr.Progress
	}
	// Ended is the outcome of a sale.
	Ended struct {
		Gen     int
		Outcome ecr.Outcome
	}
	// Aborted answers Abort; Done means the sale will end aborted, otherwise it is too late.
	Aborted struct {
		Gen  int
		Done bool
	}
	// Recorded answers Deliver. OK false: the desk could not say; Outcome is then empty.
	Recorded struct {
		Gen     int
		Outcome ecr.Outcome
		OK      bool
	}
	// Totalled answers CloseBatch and Turnover; Code is OK or the refusal.
	Totalled struct {
		Gen    int
		Totals ecr.Totals
		Code   ecr.Code
	}
	// Checked answers Check and Report.
	Checked struct {
		Gen    int
		Health ecr.Health
		OK     bool
	}
	// Saved answers Save.
	Saved struct{ Gen int }
	// Fired is a timer that ran out.
	Fired struct {
		Timer Timer
		Seq   int
	}
	// Gone: the connection is lost.
	Gone struct{}
	// Freed: the dialogue of the line's other connection is over, and the line is this one's. It goes to one machine that Waits.
	Freed struct{}
	// Undoing: the terminal takes back an approval that this line never acknowledged.
	Undoing struct{}
	// Learned is the registration another connection of the line has saved.
	Learned struct{ Profile []byte }
)

func (Received) event()   {}
func (Sent) event()       {}
func (Begun) event()      {}
func (Held) event()       {}
func (Refused) event()    {}
func (Progressed) event() {}
func (Ended) event()      {}
func (Aborted) event()    {}
func (Recorded) event()   {}
func (Totalled) event()   {}
func (Checked) event()    {}
func (Saved) event()      {}
func (Fired) event()      {}
func (Gone) event()       {}
func (Freed) event()      {}
func (Undoing) event()    {}
func (Learned) event()    {}

// Action is something the shell must do, in the order given.
type Action interface{ action() }

// The actions. Those with a Gen are answered by an event with the same Gen, unless it is 0.
type (
	// Send sends an APDU and answers Sent. Sends go out in order.
	Send struct {
		Seq  int
		APDU []byte
	}
	// Begin calls Desk.Begin: Begun or Refused, then Progressed and Ended.
	Begin struct {
		Gen     int
		Request ecr.Request
	}
	// Last calls Desk.Last: Begun or Refused, then Progressed and Ended.
	Last struct {
		Gen     int
		Receipt int // 0 = the line's last sale; else the newest payment with that number
	}
	// Abort calls Desk.Abort: Aborted.
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
		Delivery ecr.Delivery
	}
	// CloseBatch calls Till.Close, Turnover calls Till.Turnover: Totalled.
	CloseBatch struct{ Gen int }
	Turnover   struct{ Gen int }
	// Check calls Till.Check, Report calls Till.Health: Checked.
	Check  struct{ Gen int }
	Report struct{ Gen int }
	// Save calls Memory.Save and tells the line's other connections (Learned): Saved, whether or not it succeeded.
	Save struct {
		Gen     int
		Profile []byte
	}
	// StartTimer replaces a running timer of the same name: Fired with Seq.
	StartTimer struct {
		Timer Timer
		Seq   int
		After time.Duration
	}
	// StopTimer stops a timer, if it runs.
	StopTimer struct{ Timer Timer }
	// Unsend: what has a number up to Through belongs to a dialogue that is over. What of it has not left yet is not to be sent any
	// more, and what waits for the link's acknowledgement is not to be repeated: Sent with OK false.
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
func (Check) action()      {}
func (Report) action()     {}
func (Save) action()       {}
func (StartTimer) action() {}
func (StopTimer) action()  {}
func (Unsend) action()     {}

// Timer names a timer.
type Timer uint8

// The timers.
const (
	TimerReply    Timer = iota // the register owes an answer
	TimerAnswer                // we owe an answer
	TimerProgress              // the next intermediate status
	TimerAskAgain              // the pause after 84 9C
	TimerFree                  // how long 06 20 waits for another connection's dialogue
	timers
)

// The times of the protocol.
const (
	t3             = 5 * time.Second         // command to answer
	answerWithin   = 4500 * time.Millisecond // our answer, a little sooner
	lostWithin     = 2 * time.Second         // of it, for what must be recorded before
	holdWithin     = 70 * time.Second        // the answer of a terminal that takes its journal up: registers give up at 90 s
	tellWithin     = 30 * time.Second        // answer to 04 0F where BMP 01 says nothing
	progressEvery  = 10 * time.Second        // 04 FF; MONEY A.4 allows 15 s
	askAgainAfter  = 2 * time.Second
	secondWithin   = 2 * time.Second  // the answer to 04 0F, after one that may belong to an older message
	freeWithin     = 11 * time.Second // a connection that is gone is noticed within 10 s; the two must not race
	progressMinute = 0x03             // T4 in a 04 FF that carries a container: the protocol's own 180 s
)
