package webhooks

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"posagent/store"
)

// How long Run sleeps at most. A wall clock that jumped is noticed within it.
const (
	whileQueued = time.Minute
	whileIdle   = time.Hour
	whileShared = time.Second
)

// afterTrouble is how long a sender rests when the store does not take its attempt.
const afterTrouble = 5 * time.Second

// Run sends what is due until ctx ends and its senders have recorded their attempts; it returns ctx's error.
func (d *Deliver) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	done := make(chan ended, senders+lane)
	way := newTraffic()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var purged, recalled time.Time
	look := firstLook
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.wake:
		case <-timer.C:
		case e := <-done:
			way.end(e, time.Now())
		}
		now := d.now()
		if now.Sub(purged).Abs() >= purgeEvery {
			purged = now
			way.forget()
			if err := d.purge(ctx, now); err != nil && ctx.Err() == nil {
				d.log.Error("old deliveries stay", "err", err)
			}
		}
		if now.Sub(recalled).Abs() >= whileQueued {
			recalled = now
			if err := d.recall(ctx, now); err != nil && ctx.Err() == nil {
				d.log.Error("deliveries of a wrong clock wait", "err", err)
			}
		}
		jobs, next, err := d.pick(ctx, now.UnixMilli(), way)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			d.log.Error("deliveries cannot be read", "err", err)
			timer.Reset(afterTrouble)
			continue
		}
		for _, j := range jobs {
			wg.Go(func() { done <- ended{j.id, d.try(ctx, j.id)} }) // there is room for every sender
		}
		wait := whileIdle
		if d.opt.Shared {
			wait = whileShared
		}
		if at, ok := way.slowAt(); ok {
			wait = min(wait, max(time.Until(at), time.Millisecond))
		}
		if next != 0 { // what is due and waits for a sender is looked for again when one is done
			wait = min(wait, whileQueued, max(time.UnixMilli(next).Sub(now), time.Millisecond))
		}
		if d.warm.Load() > 0 {
			if d.warm.Add(-1) == looks-1 {
				look = firstLook
			}
			wait = min(wait, look)
			look *= 3
		}
		timer.Reset(wait)
	}
}

// farthest is above the longest interval of a schedule, and above a pause: what is due later than that was queued, or paused, while the
// clock of a process was ahead.
const farthest = 25 * time.Hour

// recall makes due what a wrong clock put off, which would wait until that clock's time has come.
func (d *Deliver) recall(ctx context.Context, now time.Time) error {
	far, late := now.Add(farthest).UnixMilli(), false
	err := d.db.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM deliver_delivery WHERE due_ms > ?) OR EXISTS (SELECT 1 FROM deliver_endpoint WHERE until_ms > ?)`, far, far).Scan(&late)
	})
	if err != nil || !late {
		return err
	}
	d.log.Warn("the clock was ahead when deliveries were queued: they are sent now")
	return d.db.Write(ctx, func(tx store.Tx) error {
		if _, err := tx.Exec(`DELETE FROM deliver_endpoint WHERE until_ms > ?`, far); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE deliver_delivery SET due_ms = ? WHERE due_ms > ?`, now.UnixMilli(), far)
		return err
	})
}

// pick chooses what is sent now, the endpoint that waits longest first, and says when the next delivery will be due; 0 =
// nothing is queued. It costs a few steps per endpoint, however much is queued.
func (d *Deliver) pick(ctx context.Context, now int64, way *traffic) (jobs []due, next int64, err error) {
	err = d.db.Read(ctx, func(r store.Reader) error {
		for _, j := range jobs { // of a reading that is made again
			way.drop(j.id)
		}
		jobs, next = nil, 0
		if err := r.QueryRow(`SELECT coalesce(min(due_ms), 0) FROM deliver_delivery WHERE due_ms > ?`, now).Scan(&next); err != nil {
			return err
		}
		waiting, err := endpoints(r, now)
		if err != nil {
			return err
		}
		at := time.Now()
		for _, w := range waiting {
			if !way.takes(w.origin, at) {
				continue
			}
			list, err := dueAt(r, w.origin, now)
			if err != nil {
				return err
			}
			for _, j := range list {
				if way.takes(w.origin, at) && way.begin(j, at) {
					jobs = append(jobs, j)
				}
			}
		}
		return nil
	})
	if err != nil {
		for _, j := range jobs {
			way.drop(j.id)
		}
	}
	return jobs, next, err
}

// dueAt lists an endpoint's deliveries that are due, the oldest first, as far as one look chooses among them.
func dueAt(r store.Reader, origin string, now int64) (list []due, err error) {
	rows, err := r.Query(`SELECT v.id, h.subject FROM deliver_delivery v JOIN deliver_hook h ON h.id = v.hook
		WHERE v.origin = ? AND v.due_ms <= ? ORDER BY v.due_ms, v.id LIMIT ?`, origin, now, choice)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		j := due{origin: origin}
		if err := rows.Scan(&j.id, &j.subject); err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

// overdue is an endpoint and the moment since which it waits.
type overdue struct {
	origin string
	since  int64
}

// endpoints steps over the index from one endpoint to the next and keeps those with something due.
func endpoints(r store.Reader, now int64) (list []overdue, err error) {
	var e overdue
	for {
		err := r.QueryRow(`SELECT origin, due_ms FROM deliver_delivery WHERE due_ms IS NOT NULL AND origin > ? ORDER BY origin, due_ms LIMIT 1`, e.origin).
			Scan(&e.origin, &e.since)
		if errors.Is(err, sql.ErrNoRows) {
			slices.SortFunc(list, func(a, b overdue) int { return cmp.Compare(a.since, b.since) })
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if e.since <= now {
			list = append(list, e)
		}
	}
}

// try makes one attempt and records it; it says whether there was a reply. An attempt that ctx cut off is not recorded: it is made
// again.
func (d *Deliver) try(ctx context.Context, id int64) (replied bool) {
	p, s, err := d.load(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return true // no longer due
	}
	if err != nil {
		d.trouble(ctx, id, err)
		return true
	}
	at := d.now()
	a := d.send(ctx, p, s, at)
	replied = a.Status != 0
	if ctx.Err() != nil && !replied {
		return replied
	}
	a.At, a.Took = at.UnixMilli(), max(0, d.now().Sub(at).Milliseconds())
	for {
		err := d.db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error { return d.record(tx, id, p, a) })
		if err == nil && d.opt.Tried != nil {
			d.opt.Tried(a.Status == acknowledged)
		}
		if err == nil || !d.trouble(ctx, id, err) {
			return replied
		}
	}
}

// trouble reports what the store refused and rests; false = ctx has ended.
func (d *Deliver) trouble(ctx context.Context, id int64, err error) bool {
	d.log.Error("delivery not recorded", "delivery", id, "err", err)
	select {
	case <-time.After(afterTrouble):
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *Deliver) load(ctx context.Context, id int64) (p parcel, s secret, err error) {
	err = d.db.Read(ctx, func(r store.Reader) error {
		if p, err = parcels.One(r, "WHERE v.id = ? AND v.due_ms IS NOT NULL", id); err != nil || p.sealed == nil {
			return err
		}
		plain, err := d.db.Unseal(r, cell(p.subject, p.hook), p.sealed)
		if err != nil {
			return err
		}
		return json.Unmarshal(plain, &s)
	})
	p.message.Schedule = Schedule(p.schedule)
	return p, s, err
}

// pauseAfter deliveries of one endpoint that died in a row pause it for pauseFor.
const (
	pauseAfter = 20
	pauseFor   = time.Hour
)

// record writes an attempt down and decides what follows from it.
func (d *Deliver) record(tx store.Tx, id int64, p parcel, a Attempt) error {
	n := p.tries + 1
	var tries int
	switch err := tx.QueryRow(`SELECT tries FROM deliver_delivery WHERE id = ? AND due_ms IS NOT NULL`, id).Scan(&tries); {
	case errors.Is(err, sql.ErrNoRows), err == nil && tries != p.tries:
		d.log.Warn("another process has made this attempt, too", "delivery", id, "attempt", n)
		return nil
	case err != nil:
		return err
	}
	if _, err := tx.Exec(`INSERT INTO deliver_attempt (delivery, n, at_ms, took_ms, status, note) VALUES (?, ?, ?, ?, ?, ?)`,
		id, n, a.At, a.Took, a.Status, a.Note); err != nil {
		return err
	}
	var dead, until int64
	var reason string
	rows, err := tx.Query(`SELECT dead, until_ms, reason FROM deliver_endpoint WHERE origin = ?`, p.origin)
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(&dead, &until, &reason); err != nil {
			return err
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	gaps := p.message.Schedule.Gaps()
	settled := a.At + a.Took
	switch {
	case a.Status == acknowledged:
		if _, err := tx.Exec(`UPDATE deliver_delivery SET state = ?, tries = ?, due_ms = NULL, settled_ms = ? WHERE id = ?`, Done, n, settled, id); err != nil {
			return err
		}
		if dead == 0 && until == 0 {
			return nil
		}
		return d.resume(tx, p.origin)
	case p.step < len(gaps):
		at := max(a.At+gaps[p.step].Milliseconds(), until)
		_, err := tx.Exec(`UPDATE deliver_delivery SET tries = ?, step = ?, due_ms = ? WHERE id = ?`, n, p.step+1, at, id)
		return err
	}
	if _, err := tx.Exec(`UPDATE deliver_delivery SET state = ?, tries = ?, due_ms = NULL, settled_ms = ? WHERE id = ?`, Dead, n, settled, id); err != nil {
		return err
	}
	dead++
	if dead >= pauseAfter {
		until = settled + pauseFor.Milliseconds()
		reason = fmt.Sprintf("%d deliveries in a row were given up, the last one after %s", dead, a.outcome())
		if _, err := tx.Exec(`UPDATE deliver_delivery SET due_ms = ? WHERE origin = ? AND due_ms < ?`, until, p.origin, until); err != nil {
			return err
		}
	}
	_, err = tx.Exec(`INSERT INTO deliver_endpoint (origin, dead, until_ms, reason) VALUES (?, ?, ?, ?)
		ON CONFLICT (origin) DO UPDATE SET dead = excluded.dead, until_ms = excluded.until_ms, reason = excluded.reason`, p.origin, dead, until, reason)
	return err
}

// resume ends an endpoint's pause: what waits for its end is due now.
func (d *Deliver) resume(tx store.Tx, origin string) error {
	if _, err := tx.Exec(`UPDATE deliver_delivery SET due_ms = ? WHERE origin = ? AND due_ms = (SELECT until_ms FROM deliver_endpoint WHERE origin = ?)`,
		d.now().UnixMilli(), origin, origin); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM deliver_endpoint WHERE origin = ?`, origin)
	return err
}

// purgeAtOnce bounds what one commit forgets.
const (
	purgeEvery  = 24 * time.Hour
	purgeAtOnce = 1000
)

// purge forgets deliveries that settled longer than the retention ago, then the messages without any.
func (d *Deliver) purge(ctx context.Context, now time.Time) error {
	old := now.Add(-d.opt.Retention).UnixMilli()
	for {
		var gone int64
		found := false
		err := d.db.Read(ctx, func(r store.Reader) error {
			return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM deliver_delivery WHERE settled_ms < ?)`, old).Scan(&found)
		})
		if err != nil || !found {
			return err
		}
		err = d.db.Write(ctx, func(tx store.Tx) error {
			const which = `(SELECT id FROM deliver_delivery WHERE settled_ms < ? ORDER BY settled_ms LIMIT ?)`
			if _, err := tx.Exec(`DELETE FROM deliver_attempt WHERE delivery IN `+which, old, purgeAtOnce); err != nil {
				return err
			}
			res, err := tx.Exec(`DELETE FROM deliver_delivery WHERE id IN `+which, old, purgeAtOnce)
			if err != nil {
				return err
			}
			if gone, err = res.RowsAffected(); err != nil || gone == 0 {
				return err
			}
			_, err = tx.Exec(`DELETE FROM deliver_message WHERE created_ms < ?
				AND NOT EXISTS (SELECT 1 FROM deliver_delivery v WHERE v.message = deliver_message.id)`, old)
			return err
		})
		if err != nil || gone < purgeAtOnce {
			return err
		}
	}
}
