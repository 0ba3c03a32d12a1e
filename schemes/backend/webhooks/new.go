package webhooks

import (
	"log/slog"
	"time"
)

// New makes a Deliver; it starts nothing. It panics without a DB.
func New(opt Options) *Deliver {
	if opt.DB == nil {
		panic("deliver: no store")
	}
	d := &Deliver{opt: opt, db: opt.DB, now: opt.Now, log: opt.Log, allow: allowed(opt.Allow), closed: ranges(), wake: make(chan struct{}, 1)}
	if d.now == nil {
		d.now = time.Now
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.log = d.log.With("sys", "deliver")
	if d.opt.Retention <= 0 {
		d.opt.Retention = 90 * 24 * time.Hour
	}
	for _, s := range opt.Sign {
		d.keys = append(d.keys, signingKey(s))
	}
	d.client = d.newClient()
	return d
}
