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
}

// Trouble is why something does not work; the zero value is none.
type Trouble struct {
	Reason string    `json:"reason,omitempty"`
	Code   wire.Code `json:"code,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}
