package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"posagent/store"
)

const (
	tick     = time.Minute     // clock saved, ages checked
	stopWait = 5 * time.Second // what a stop leaves an attempt in flight and its commit
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
	if err := o.resume(ctx); err != nil {
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
		case <-timer.C:
		}
	}
}

// resume brings waits left over from before the restart near, so that a restart is a retry.
func (o *Outbox) resume(ctx context.Context) error {
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

// candidate is an operation that may be sent.
type candidate struct {
	id, next int64
	service  *service
	urgent   bool
}

// schedule starts what can be started and tells how long nothing else will be due.
func (o *Outbox) schedule(ctx context.Context, wg *sync.WaitGroup) (time.Duration, error) {
	run, wait := o.clock.run(), tick.Milliseconds()
	var kinds []string // of which something can be sent
	o.mu.Lock()
	free, limit := o.par-len(o.busy), o.par+len(o.busy)+1
	for _, kind := range o.order {
		k := o.kinds[kind]
		s := o.services[k.Service]
		switch {
		case free == 0 && !k.Urgent:
		case k.Urgent && s.down && s.urgent: // its end wakes us
		case k.Urgent:
			kinds = append(kinds, kind)
		case s.down && s.probing: // its end wakes us
		case s.down && s.next > run:
			wait = min(wait, s.next-run)
		default:
			kinds = append(kinds, kind)
		}
	}
	o.mu.Unlock()
	if free < 0 {
		return tick, nil // a worker's end wakes us
	}
	var found []candidate
	if len(kinds) > 0 {
		err := o.db.Read(ctx, func(r store.Reader) error {
			found = found[:0]
			for kind := ""; ; { // most kinds have nothing
				var next sql.NullString
				if err := r.QueryRow(`SELECT MIN(kind) FROM outbox_ops WHERE ready = 1 AND kind > ?`, kind).Scan(&next); err != nil || !next.Valid {
					return err
				}
				if kind = next.String; !slices.Contains(kinds, kind) {
					continue
				}
				if err := o.first(r, kind, limit, &found); err != nil {
					return err
				}
			}
		})
		if err != nil {
			return 0, fmt.Errorf("find due operations: %w", err)
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.next, b.next), cmp.Compare(a.id, b.id))
	})

	run = o.clock.run()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range found {
		if _, ok := o.busy[c.id]; ok {
			continue
		}
		due := c.next
		probe, alone := c.service.down && !c.urgent, c.service.down && c.urgent
		switch {
		case probe && c.service.probing, alone && c.service.urgent:
			continue
		case probe:
			due = max(due, c.service.next)
		case alone: // an undo waits for no probe, and it waits by its own back-off
			due = max(due, c.service.after)
		}
		if due > run {
			wait = min(wait, due-run)
			continue
		}
		if free < 0 || free == 0 && !c.urgent {
			continue
		}
		free--
		if probe {
			c.service.probing = true
		}
		if alone {
			c.service.urgent = true
		}
		o.busy[c.id] = c.service.name
		wg.Go(func() {
			o.work(ctx, c.id, c.service, probe)
			o.mu.Lock()
			delete(o.busy, c.id)
			if probe {
				c.service.probing = false
			}
			if alone {
				c.service.urgent, c.service.after = false, o.clock.run()+urgentGap.Milliseconds()
			}
			o.mu.Unlock()
			o.Wake()
		})
	}
	return time.Duration(wait) * time.Millisecond, nil
}

// first adds the earliest ready operations of a kind. SQLite reads a statement anew whenever
// another number is bound to its LIMIT, so it has none.
func (o *Outbox) first(r store.Reader, kind string, limit int, found *[]candidate) error {
	rows, err := r.Query(`SELECT id, next_run FROM outbox_ops WHERE ready = 1 AND kind = ? ORDER BY next_run, id`, kind)
	if err != nil {
		return err
	}
	defer rows.Close()
	for range limit {
		if !rows.Next() {
			break
		}
		c := candidate{service: o.services[o.kinds[kind].Service], urgent: o.kinds[kind].Urgent}
		if err := rows.Scan(&c.id, &c.next); err != nil {
			return err
		}
		*found = append(*found, c)
	}
	return rows.Err()
}

// work makes one attempt: probe if the service was down, then send and settle.
func (o *Outbox) work(ctx context.Context, id int64, s *service, probe bool) {
	if probe && o.probe != nil && !s.refused {
		pctx, cancel := context.WithTimeout(ctx, shortCap)
		err := o.probe(pctx, s.name)
		cancel()
		if err != nil {
			o.mu.Lock()
			o.fail(s, o.clock.run(), false, 0, err.Error())
			o.mu.Unlock()
			return
		}
	}
	if err := o.attempt(ctx, id, s); err != nil && ctx.Err() == nil {
		o.log.Error("operation not handled", "op", id, "err", err)
		o.mu.Lock()
		o.fail(s, o.clock.run(), false, 0, err.Error())
		o.mu.Unlock()
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

// expire ends unsent operations of a kind past their age, a hundred per commit.
func (o *Outbox) expire(ctx context.Context, k *Kind) error {
	for {
		var ended []Op
		err := o.db.Write(ctx, func(tx store.Tx) error {
			ended = ended[:0]
			ids, err := o.old(tx, k)
			if err != nil {
				return err
			}
			for _, id := range ids {
				more, err := o.expireOne(tx, id)
				if err != nil {
					return err
				}
				ended = append(ended, more...)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("expire %s: %w", k.Name, err)
		}
		if len(ended) == 0 {
			return nil
		}
		o.after(ended)
	}
}

func (o *Outbox) old(r store.Reader, k *Kind) ([]int64, error) {
	return store.Column[int64](r, `SELECT id FROM outbox_ops WHERE state = 'PENDING' AND kind = ?1 AND accepted_run < ?2 AND revived_run < ?2
		ORDER BY accepted_run LIMIT 100`, k.Name, o.clock.run()-k.MaxAge.Milliseconds())
}

func (o *Outbox) expireOne(tx store.Tx, id int64) ([]Op, error) {
	r, err := byID(tx, id)
	if err != nil {
		return nil, err
	}
	if err := o.verify(&r); err != nil {
		r.reason = err.Error()
		return o.apply(tx, &r, event{verb: distrust})
	}
	r.reason = "never sent, too old"
	return o.apply(tx, &r, event{verb: expire})
}
