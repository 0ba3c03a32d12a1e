package sweep

import (
	"context"
	"log/slog"
	"time"
)

// Loop looks for what is due.
type Loop struct {
	now  func() time.Time
	log  *slog.Logger
	look func(context.Context) (next int64, err error)
	wake chan struct{}
}

// atMost is how long Run sleeps at most.
const atMost = time.Second

// New makes a Loop; it starts nothing. look advances everything that is due and gives the next due moment in Unix
// milliseconds, 0 = none.
func New(now func() time.Time, log *slog.Logger, look func(context.Context) (next int64, err error)) *Loop {
	return &Loop{now: now, log: log, look: look, wake: make(chan struct{}, 1)}
}

// Run looks until ctx ends; it returns ctx's error. Errors of a look are logged.
func (l *Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		case <-timer.C:
		}
		wait := atMost
		next, err := l.look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			l.log.Error("sweep", "err", err)
		case next != 0:
			wait = max(0, min(wait, time.UnixMilli(next).Sub(l.now())))
		}
		timer.Reset(wait)
	}
}

// Poke makes Run look now.
func (l *Loop) Poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
