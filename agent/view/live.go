package view

import (
	"cmp"
	"fmt"
	"time"

	"posagent/agent/ready"
	"posagent/schemes/wire"
)

// Live is what only the running daemon knows.
type Live struct {
	At      time.Time `json:"at"`
	PID     int       `json:"pid,omitempty"`
	Process string    `json:"process,omitempty"` // of that number: its boot and its start; "" = a terminal of an older version, or one that waits
	Schemes Trouble   `json:"schemes"`
	Methods Trouble   `json:"methods"`
	Serial  Trouble   `json:"serial"`

	Troubles []ready.Said `json:"troubles,omitempty"` // of the register lines and the ways to the backend, each with its remedy

	// What it was started with, which another configuration file may not say.
	Report  ready.Report `json:"report,omitzero"`
	Sandbox bool         `json:"sandbox,omitempty"`
	Names   Names        `json:"names,omitzero"`
	// Grace is how long an approval may stay unconfirmed before it is undone, and Boot the clock that this is measured by, at At.
	Grace  time.Duration `json:"grace,omitzero"`
	Boot   time.Duration `json:"boot,omitzero"`
	Config string        `json:"config,omitempty"` // digest of the configuration

	Zone     string         `json:"zone,omitempty"`     // the time zone it works in
	Answered time.Time      `json:"answered,omitzero"`  // when the backend did last; zero = not since the start, or it was not asked
	Services []Service      `json:"services,omitempty"` // those the outbox cannot deliver to
	Lines    []RegisterLine `json:"lines,omitempty"`    // of registers
	Printer  *Printer       `json:"printer,omitempty"`  // nil = the terminal has none
	Keypad   *Keypad        `json:"keypad,omitempty"`   // nil = the terminal has none, or it is not read
}

// Keypad is what its keys were since the start.
type Keypad struct {
	Name        string `json:"name"`                  // what the device calls itself
	Presses     uint64 `json:"presses"`               // that counted
	Flooded     uint64 `json:"flooded,omitempty"`     // that did not: of a contact that floods
	Unknown     uint64 `json:"unknown,omitempty"`     // of keys that mean nothing here
	UnknownCode uint16 `json:"unknownCode,omitempty"` // the number of the last of them, for [keypad] map
}

// String says it in one line.
func (k Keypad) String() string {
	text := fmt.Sprintf("%s: %d press(es)", cmp.Or(k.Name, "no name"), k.Presses)
	if k.Flooded > 0 {
		text += fmt.Sprintf(", %d of a contact that floods left out", k.Flooded)
	}
	if k.Unknown > 0 {
		text += fmt.Sprintf(", %d of keys that mean nothing here, the last with the number %d ([keypad] map)", k.Unknown, k.UnknownCode)
	}
	return text
}

// Service is one the outbox cannot deliver to.
type Service struct {
	Name    string      `json:"name"`
	Refused bool        `json:"refused,omitempty"` // it does not accept our credentials
	Kinds   []string    `json:"kinds"`             // of operation that wait for it
	Said    *ready.Said `json:"said,omitempty"`    // what is wrong in words, nil = only the reason is known
	Trouble
}

// Names are how a terminal is known.
type Names struct {
	Terminal string `json:"terminalId,omitempty"`
	Backend  string `json:"backend,omitempty"` // "" = embedded
	Serial   string `json:"serial,omitempty"`
	TCP      string `json:"tcp,omitempty"`
	Sellers  int    `json:"sellers,omitempty"`  // local programs that may sell over HTTP
	Patience string `json:"patience,omitempty"` // of the registers, as configured
}

// Trouble is why something does not work; the zero value is none.
type Trouble struct {
	Reason string    `json:"reason,omitempty"`
	Code   wire.Code `json:"code,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// Printer is what waits for the receipt printer. A sale never waits for it.
type Printer struct {
	Waiting int       `json:"waiting"` // documents
	Oldest  time.Time `json:"oldest,omitzero"`
	Reason  string    `json:"reason,omitempty"` // why they wait; "" = they are being printed
	Remedy  string    `json:"remedy,omitempty"`
	Since   time.Time `json:"since,omitzero"` // of the reason
	NearEnd bool      `json:"nearEnd,omitempty"`
	Blind   bool      `json:"blind,omitempty"`  // it does not tell when a document is on the paper
	Behind  int       `json:"behind,omitempty"` // of those that wait: cut off again and again, so that the others come first
}

// String says it in one line.
func (p Printer) String() string {
	switch {
	case p.Reason != "":
		return fmt.Sprintf("%d document(s) wait: %s", p.Waiting, p.Reason)
	case p.Behind > 0:
		return fmt.Sprintf("%d document(s) wait, %d of them cut off again and again", p.Waiting, p.Behind)
	case p.NearEnd:
		return fmt.Sprintf("%d document(s) wait, the paper ends soon", p.Waiting)
	case p.Blind:
		return fmt.Sprintf("%d document(s) wait; it does not tell when one is on the paper, so each ends with its amount once more", p.Waiting)
	}
	return fmt.Sprintf("%d document(s) wait", p.Waiting)
}
