package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"posagent/store"
)

// Run sends until ctx ends, then lets the attempts in flight finish for a few seconds. It returns
// nil at ctx's end and an error only when it is already running or the tables cannot be read at the
// start.
func (o *Outbox) Run(ctx context.Context) error {
	o.mu.Lock()
	if o.running {
		o.mu.Unlock()
		return errors.New("outbox: already running")
	}
	o.running = true
	o.mu.Unlock()
	var wg sync.WaitGroup
	defer func() {
		wg.Wait()
		o.mu.Lock()
		o.running = false
		o.mu.Unlock()
	}()
	if err := o.retrySoon(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var lastTick, nextPurge int64
	troubles := 0
	for {
		wait, err := o.schedule(ctx, &wg)
		if err == nil && o.clock.run()-lastTick >= tick.Milliseconds() {
			lastTick = o.clock.run()
			err = o.housekeeping(ctx)
		}
		if err == nil && o.clock.run() >= nextPurge {
			nextPurge = o.clock.run() + purgeEvery.Milliseconds()
			var more bool
			if err = o.db.Write(ctx, o.clock.save); err == nil { // it says up to when a copy of the journal knows
				more, err = o.purge(ctx)
			}
			if more { // the rest a little later: sending goes on
				nextPurge, wait = o.clock.run()+purgePause.Milliseconds(), min(wait, purgePause)
			}
		}
		if err != nil && ctx.Err() == nil {
			troubles++
			o.log.Error("outbox cannot use its tables", "err", err)
			wait = o.backoff(troubles, shortCap)
		} else {
			troubles = 0
		}
		timer.Reset(min(max(wait, time.Millisecond), tick))
		select {
		case <-ctx.Done():
			wg.Wait()
			o.saveClock(ctx)
			return nil
		case <-o.wake:
		case <-o.turn:
		case <-timer.C:
		}
	}
}

// retrySoon brings waits left over from before the restart near, so that a restart is a retry.
func (o *Outbox) retrySoon(ctx context.Context) error {
	if err := o.db.Read(ctx, o.clock.load); err != nil {
		return fmt.Errorf("start outbox: %w", err)
	}
	if err := o.db.Read(ctx, o.strangers); err != nil {
		return fmt.Errorf("start outbox: %w", err)
	}
	soon := o.clock.run() + firstWait.Milliseconds()
	err := o.db.Write(ctx, func(tx store.Tx) error {
		for _, kind := range o.order {
			if _, err := tx.Exec(`UPDATE outbox_ops SET next_run = ? WHERE ready = 1 AND kind = ? AND next_run > ?`, soon, kind, soon); err != nil {
				return err
			}
		}
		return o.clock.save(tx)
	})
	if err != nil { // disk full: sending cannot start either, the loop reports it
		o.log.Error("outbox cannot write", "err", err)
	}
	return nil
}

// strangers warns of operations whose kind has no sender: they stay where they are, visibly.
func (o *Outbox) strangers(r store.Reader) error {
	lines, err := Report(r)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if o.kinds[l.Kind] == nil && !l.State.Final() {
			o.log.Warn("nobody sends these operations", "kind", l.Kind, "state", l.State, "count", l.Count)
		}
	}
	return nil
}

func (o *Outbox) saveClock(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	if err := o.db.Write(ctx, o.clock.save); err != nil {
		o.log.Warn("outbox clock not saved", "err", err)
	}
}

// housekeeping saves the clock and ends what was never sent and is too old.
func (o *Outbox) housekeeping(ctx context.Context) error {
	open := false
	err := o.db.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM outbox_ops WHERE ready = 1)`).Scan(&open)
	})
	if err != nil || !open {
		return err
	}
	if err := o.db.Write(ctx, o.clock.save); err != nil {
		return err
	}
	for _, name := range o.order {
		if k := o.kinds[name]; k.MaxAge > 0 {
			if err := o.expire(ctx, k); err != nil {
				return err
			}
		}
	}
	return nil
}
