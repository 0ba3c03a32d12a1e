package ecr

import (
	"context"
	"time"
)

// Panel is the terminal's own screen, keys and printer, as a register may use them while no sale has
// them. Its methods are safe for concurrent use.
type Panel interface {
	// Notify shows a notice. Where it wants nothing it returns at once; else it returns when a
	// person has answered, when its time is over (KeyTimeout), or when ctx ends. A newer notice
	// takes the place of an older one, a sale that of each. *Refusal: Busy while a sale has the
	// screen, Impossible where there is no screen, or nobody who could answer.
	Notify(ctx context.Context, n Notice) (Pressed, error)
	// Print takes lines for one piece of paper; nil says that they are stored, and will be printed.
	// *Refusal: NotReady where too much waits for paper, Impossible where there is no printer.
	Print(ctx context.Context, lines []PrintLine) error
}

// Wanted is what a notice asks for.
type Wanted uint8

// What a notice can ask for.
const (
	WantsNothing Wanted = iota
	WantsKey            // confirm, correct or stop
	WantsDigits
)

// Notice is a text on the terminal's screen.
type Notice struct {
	Lines  []string      // none = take the last notice off
	For    time.Duration // how long it is shown; 0 = until something else is, where it wants nothing
	Wants  Wanted
	Min    int // digits
	Max    int // digits, at least 1
	Masked bool
}

// PanelKey is how a notice was answered.
type PanelKey uint8

// The keys.
const (
	KeyNone PanelKey = iota
	KeyConfirm
	KeyCorrect
	KeyStop
	KeyTimeout // nobody pressed one
)

// Pressed is the answer to a notice.
type Pressed struct {
	Key    PanelKey
	Digits string // of WantsDigits, where Key is KeyConfirm
}

// PrintLine is a line of text on paper.
type PrintLine struct {
	Text   string `json:"text"`
	Centre bool   `json:"centre,omitempty"`
	Double bool   `json:"double,omitempty"`
	Feed   int    `json:"feed,omitempty"` // empty lines in its place
}

// The actions for a Panel, and the events that answer them.
type (
	// Notify calls Panel.Notify: Noticed. A newer one of the connection ends the one before.
	Notify struct {
		Gen    int
		Notice Notice
	}
	// EndNotice ends the connection's notice that still waits for its answer.
	EndNotice struct{}
	// Print calls Panel.Print: Printed.
	Print struct {
		Gen   int
		Lines []PrintLine
	}

	// Noticed answers Notify; Code is OK or the refusal.
	Noticed struct {
		Gen     int
		Pressed Pressed
		Code    Code
	}
	// Printed answers Print; Code is OK or the refusal.
	Printed struct {
		Gen  int
		Code Code
	}
)

func (Notify) action()    {}
func (EndNotice) action() {}
func (Print) action()     {}
func (Noticed) event()    {}
func (Printed) event()    {}
