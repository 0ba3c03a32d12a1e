package view

import (
	"context"
	"time"

	"posagent/schemes/wire"
)

// Deed is one line of the audit log.
type Deed struct {
	At       time.Time
	Actor    string // register, client, person, program
	Name     string
	Address  string
	Deed     string
	Subject  string
	Amount   int64 // minor units, 0 = none
	Currency string
	Detail   string
}

// Audit is the newest lines of the audit log, the newest first. wire.Forbidden where the caller
// does not see everything.
func (h *Daemon) Audit(ctx context.Context, limit int) ([]Deed, error) {
	err := wire.Allow(ctx, "", wire.MayRead)
	if err == nil {
		err = wire.Everything(ctx, "", "read the audit log")
	}
	if err != nil || h.Deeds == nil {
		return nil, err
	}
	return h.Deeds(ctx, limit)
}
