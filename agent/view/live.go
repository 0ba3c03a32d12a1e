package view

import (
	"time"

	"posagent/agent/ready"
	"posagent/schemes/wire"
)

// Live is what only the running daemon knows.
type Live struct {
	At      time.Time `json:"at"`
	PID     int       `json:"pid,omitempty"`
	Schemes Trouble   `json:"schemes"`
	Methods Trouble   `json:"methods"`
	Serial  Trouble   `json:"serial"`

	Troubles []ready.Said `json:"troubles,omitempty"` // of the register lines and the ways to the backend, each with its remedy

	// What it was started with, which another configuration file may not say.
	Report  ready.Report `json:"report,omitzero"`
	Sandbox bool         `json:"sandbox,omitempty"`
	Names   Names        `json:"names,omitzero"`

	Services []Service      `json:"services,omitempty"` // those the outbox cannot deliver to
	Lines    []RegisterLine `json:"lines,omitempty"`    // of registers
}

// RegisterLine is what a register line has counted since the start.
type RegisterLine struct {
	Name           string    `json:"name"` // serial, tcp
	Open           bool      `json:"open"`
	Connections    int       `json:"connections"`
	LastContact    time.Time `json:"lastContact,omitzero"` // when a register's message came last
	Carrier        string    `json:"carrier,omitempty"`    // up, lost; "" where the cable does not show it
	Received       uint64    `json:"framesReceived"`
	Sent           uint64    `json:"framesSent"`
	Unsent         uint64    `json:"framesNotAcknowledged"`
	Repeated       uint64    `json:"framesRepeated"` // by us
	Naks           uint64    `json:"naks"`
	Bad            uint64    `json:"badFrames"` // checksum, length or a pause inside
	Noise          uint64    `json:"noiseBytes"`
	WrongPasswords uint64    `json:"wrongPasswords"`
	WrongFrom      string    `json:"wrongFrom,omitempty"` // where the last one came from
	WrongAt        time.Time `json:"wrongAt,omitzero"`
	Turned         uint64    `json:"turnedAway"`     // connections from addresses that are not allowed
	Strange        uint64    `json:"otherProtocols"` // connections that spoke another protocol
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
	Patience string `json:"patience,omitempty"` // of the registers, as configured
}

// Trouble is why something does not work; the zero value is none.
type Trouble struct {
	Reason string    `json:"reason,omitempty"`
	Code   wire.Code `json:"code,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}
