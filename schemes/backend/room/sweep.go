package room

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"posagent/store"
)

// Due says what happens to things of one kind by time alone.
type Due[ID any] struct {
	What string          // the kind, in errors: "payments"
	Name func(ID) string // names one of them in errors; no secret
	List string          // query of the ids that are due; each ? is the present moment in Unix milliseconds
	Next string          // query of the moment at which the next one will be due, 0 = none
	// Advance lets everything happen to one of them that is due at now.
	Advance func(tx store.Tx, id ID, now int64) error
}

// Sweep advances all that is due, each in a commit of its own. It returns the next due moment, 0 =
// none. It fails with the errors of those that could not move, after the others have moved.
func Sweep[ID any](ctx context.Context, r *Room, d Due[ID]) (next int64, err error) {
	now := r.Now().UnixMilli()
	var ids []ID
	err = r.DB.Read(ctx, func(rd store.Reader) (err error) {
		ids, err = store.Column[ID](rd, d.List, slices.Repeat([]any{now}, strings.Count(d.List, "?"))...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find due %s: %w", d.What, err)
	}
	var errs []error
	for _, id := range ids { // one that cannot move must not hold the others up
		if err := r.DB.Write(ctx, func(tx store.Tx) error { return d.Advance(tx, id, now) }); err != nil {
			errs = append(errs, fmt.Errorf("advance %s: %w", d.Name(id), err))
		}
	}
	if errs != nil {
		return 0, errors.Join(errs...)
	}
	err = r.DB.Read(ctx, func(rd store.Reader) error { return rd.QueryRow(d.Next).Scan(&next) })
	return next, err
}

// loop looks for what is due.
type loop struct {
	now  func() time.Time
	log  *slog.Logger
	look func(context.Context) (next int64, err error)
	wake chan struct{}
}

// atMost is how long run sleeps at most.
const atMost = time.Second

func newLoop(now func() time.Time, log *slog.Logger, look func(context.Context) (next int64, err error)) *loop {
	return &loop{now: now, log: log, look: look, wake: make(chan struct{}, 1)}
}

// run looks until ctx ends; it returns ctx's error. Errors of a look are logged.
func (l *loop) run(ctx context.Context) error {
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

func (l *loop) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
