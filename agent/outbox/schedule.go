package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"posagent/store"
)

// tick is the longest wait: then the clock is saved and ages are checked.
const tick = time.Minute

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
		o.busy[c.id] = flight{c.service, c.service.asked}
		wg.Go(func() {
			o.work(ctx, c.id, c.service, probe)
			o.mu.Lock()
			if o.busy[c.id].late() {
				c.service.next = 0
			}
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
