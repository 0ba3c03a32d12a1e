package view

import (
	"context"
	"time"

	"posagent/schemes/wire"
)

// Check is one check of the doctor that found something.
type Check struct {
	ID      string // PA-GROUP-NNN
	Failed  bool   // false = a warning
	Title   string // what is so when it passes
	Seen    string
	Remedy  string
	Command string
}

// Checks is what the terminal finds when it looks at itself, without a question to the network.
type Checks struct {
	At     time.Time
	Found  []Check
	Passed int // of those that were made
	Made   int
}

// Checks is the newest examination, or a new one. wire.Forbidden where the caller does not see
// everything.
func (h *Daemon) Checks(ctx context.Context) (v Checks, err error) {
	if err = wire.Allow(ctx, "", wire.MayRead); err == nil {
		err = wire.Everything(ctx, "", "see the checks")
	}
	if err != nil || h.Examine == nil {
		return v, err
	}
	return h.Examine(ctx)
}
