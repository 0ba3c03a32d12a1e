package drive

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// initialize sends once, if the sale still wants it.
func (d *Drive) initialize(ctx context.Context, key wire.Key, after time.Duration) {
	if !pause(ctx, after, nil) {
		return
	}
	d.leaving(key, someTry) // before the phase is read: an abort that comes now waits for what this comes to
	var row *journal.Row
	var body []byte
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		if row, err = d.j.ByKey(r, key); err != nil || row.State.Phase != checkout.Initializing {
			return err
		}
		body, err = d.j.Request(r, row)
		return err
	})
	if err == nil && row.State.Phase != checkout.Initializing {
		d.notSent(ctx, row)
		return
	}
	if err == nil {
		d.leaving(key, row.State.Sends)
	}
	var req aapay.Request
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		d.log.Error("request not readable", "sale", key, "error", err)
		d.insist(ctx, key, checkout.Event{Name: checkout.ReplyFailed, Failure: checkout.NoEffect, Text: "the stored request is not readable"})
		return
	}
	call, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	var reply aapay.Reply
	if row.State.Plain {
		reply, err = d.svc.Initialize(call, aapay.Payment, req)
	} else {
		reply, err = d.svc.InitializeWithIdempotency(call, row.Key, aapay.Payment, req)
	}
	if err != nil && ctx.Err() != nil {
		return // the next start knows that it may have left
	}
	d.reached(err)
	if err == nil {
		d.progress(key, stepWaiting)
		d.insist(ctx, key, checkout.Event{Name: checkout.Replied, Reply: reply})
		return
	}
	d.log.Warn("initialize", "sale", key, "error", err)
	d.insist(ctx, key, checkout.Event{Name: checkout.ReplyFailed, Failure: failureOf(err), Try: row.State.Sends, After: retryAfter(err), Text: "refused: " + string(wire.CodeOf(err))})
}

// someTry is an attempt whose number is not read yet.
const someTry = -1

// leaving notes which attempt of initialize is, or may be, under way; 0 = none.
func (d *Drive) leaving(key wire.Key, try int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live(key).leaving = try
}

// isLeaving says whether the latest attempt has left: one that still rests between two attempts has not.
func (d *Drive) isLeaving(row *journal.Row) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lives[row.Key]
	return l != nil && (l.leaving == someTry || l.leaving == row.State.Sends)
}

// notSent lets an aborted sale go on whose initialize did not leave: no answer is to be waited for.
func (d *Drive) notSent(ctx context.Context, row *journal.Row) {
	d.leaving(row.Key, 0)
	d.insist(ctx, row.Key, checkout.Event{Name: checkout.ReplyFailed, Failure: checkout.NotSent, Try: row.State.Sends})
}

// failureOf says what a failed initialize proves.
func failureOf(err error) checkout.Failure {
	switch {
	case routeMissing(err):
		return checkout.RouteMissing
	case wire.NeverSent(err) && wire.CodeOf(err) == wire.Unavailable:
		return checkout.NotSent
	}
	switch wire.CodeOf(err) {
	case wire.Invalid, wire.Unauthorized, wire.Forbidden, wire.TooLarge:
		return checkout.NoEffect
	}
	return checkout.EffectUnknown
}

// routeMissing says that an initialize met 404 or 405 without the service's own body. The contract has no code for it: the
// client reports an unknown outcome that names the status, which is all there is to go by.
func routeMissing(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.UnknownOutcome && (e.Msg == "reply 404" || e.Msg == "reply 405")
}

func retryAfter(err error) time.Duration {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// reached notes whether the backend answers.
func (d *Drive) reached(err error) {
	switch wire.CodeOf(err) {
	case wire.Unavailable, wire.UnknownOutcome, wire.Internal:
		d.offline.Store(true)
	default:
		d.offline.Store(err != nil && wire.CodeOf(err) == "")
	}
}

// scheduleRead schedules the next read. That of the newest commit takes the place of one that waits. A sale is never read faster
// than the floor.
func (d *Drive) scheduleRead(row *journal.Row, after time.Duration, seq uint64) {
	floor := d.cfg.Poll
	if floor <= 0 {
		floor = 2 * time.Second
	}
	d.mu.Lock()
	l := d.live(row.Key)
	if l.readStop != nil && seq < l.seq {
		d.mu.Unlock()
		return
	}
	shut(&l.readStop)
	stop := make(chan struct{})
	l.readStop = stop
	l.readGen++
	gen := l.readGen
	if l.lastRead > 0 {
		after = max(after, l.lastRead+floor-d.boot())
	}
	d.mu.Unlock()
	key := row.Key
	d.later(func(ctx context.Context) { d.readStatus(ctx, key, after, stop, gen) })
}

// stopReading ends the watch, unless a newer commit has begun it anew.
func (d *Drive) stopReading(key wire.Key, seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.live(key)
	if seq < l.seq {
		return
	}
	shut(&l.readStop)
	l.readGen++
}

func (d *Drive) readStatus(ctx context.Context, key wire.Key, after time.Duration, stop chan struct{}, gen int) {
	if !pause(ctx, after, stop) {
		return
	}
	d.mu.Lock()
	l := d.live(key)
	l.lastRead = d.boot()
	if l.readStop == stop {
		l.readStop = nil
	}
	d.mu.Unlock()
	row, err := d.j.Sale(ctx, key)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("status not asked for", "sale", key, "error", err)
			d.insist(ctx, key, checkout.Event{Name: checkout.StatusFailed, Failure: checkout.EffectUnknown})
		}
		return
	}
	call, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	asked := d.boot()
	st, err := d.svc.Status(call, statusID(row), row.Method.Name)
	if err != nil && ctx.Err() != nil {
		return
	}
	d.reached(err)
	if err == nil {
		d.silence(key, true)
		d.insist(ctx, key, checkout.Event{Name: checkout.StatusRead, Asked: asked, Status: st})
		return
	}
	d.mu.Lock()
	newer := d.live(key).readGen != gen
	d.mu.Unlock()
	if newer { // another question is on its way, or none is wanted: this one's silence says nothing
		return
	}
	failure := checkout.EffectUnknown
	if wire.CodeOf(err) == wire.NotFound {
		failure = checkout.NotFound
	}
	silence := d.silence(key, failure == checkout.NotFound)
	d.insist(ctx, key, checkout.Event{Name: checkout.StatusFailed, Asked: asked, Failure: failure, Silence: silence, After: retryAfter(err)})
}

// silence counts the questions about a sale that got no answer in a row.
func (d *Drive) silence(key wire.Key, answered bool) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.live(key)
	if l.silence++; answered {
		l.silence = 0
	}
	return l.silence
}

// statusID is what the backend is asked by: its own name of the transaction where it is known.
func statusID(row *journal.Row) string {
	switch {
	case row.State.PPRef != "":
		return row.State.PPRef
	case row.State.TransactionID != 0:
		return strconv.FormatInt(row.State.TransactionID, 10)
	}
	return row.Reference
}
