package view

import (
	"time"

	"posagent/schemes/wire"
)

// Live is what only the running daemon knows.
type Live struct {
	At      time.Time `json:"at"`
	Schemes Trouble   `json:"schemes"`
	Methods Trouble   `json:"methods"`
	Serial  Trouble   `json:"serial"`

	Services []Service `json:"services,omitempty"` // those the outbox cannot deliver to
}

// Service is one the outbox cannot deliver to.
type Service struct {
	Name    string   `json:"name"`
	Refused bool     `json:"refused,omitempty"` // it does not accept our credentials
	Kinds   []string `json:"kinds"`             // of operation that wait for it
	Trouble
}

// Trouble is why something does not work; the zero value is none.
type Trouble struct {
	Reason string    `json:"reason,omitempty"`
	Code   wire.Code `json:"code,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}
