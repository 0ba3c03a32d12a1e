package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// op is an undo in the queue, after agent/outbox.
type op struct {
	outbox.Op
	sale      int64
	sentAt    time.Duration // first send, < 0 never
	aggregate string        // what it is queued behind, "" = nothing
}

// acceptUndo puts an undo into the queue, in the commit that decides it.
func (d *desk) acceptUndo(r *row, attempt int, refund bool) {
	typ, original := aapay.Reversal, r.ref
	if refund {
		typ, original = aapay.Refund, strconv.FormatInt(r.state.TransactionID, 10)
	}
	r.undoKey = wire.Key(fmt.Sprintf("%016x-u%d", d.w.rng.Uint64(), len(d.t.j.ops)))
	d.accept(r, r.undoKey, typ, original, "U"+string(r.undoKey), "")
	d.w.note("undo", fmt.Sprintf("owed, %s, attempt %d", typ, attempt), r.id)
}

// undoBegan wakes the queue.
func (d *desk) undoBegan(r row) {
	for _, o := range d.t.j.ops {
		if o.Key == r.undoKey {
			d.t.attemptSoon(o, 0)
		}
	}
	d.progress(r.key, ecr.StepReversing)
}

func (t *terminal) resumeOp(o *op) {
	if !o.State.Final() && o.State != outbox.Doubt {
		t.attemptSoon(o, time.Second)
	}
}

// attemptSoon schedules an attempt unless one is under way.
func (t *terminal) attemptSoon(o *op, after time.Duration) {
	if t.desk.flying[o.Key] {
		return
	}
	t.desk.flying[o.Key] = true
	t.after(after, func() { t.attempt(o) })
}

// attempt takes an undo through one send: made durable before, judged after.
func (t *terminal) attempt(o *op) {
	var now outbox.Op
	if t.waits(o) {
		t.after(5*time.Second, func() { t.attempt(o) })
		return
	}
	t.write(func() error {
		now = o.Op
		if o.State != outbox.Pending && o.State != outbox.Sent {
			return nil
		}
		o.Attempts++
		o.State = outbox.Sent
		if o.sentAt < 0 {
			o.sentAt = t.w.now
		}
		now.Attempts, now.Ran, now.Started = o.Attempts, t.w.now, t.lifeAt
		now.ReadOnly = now.State == outbox.Sent && t.w.now-o.sentAt > 24*time.Hour
		return nil
	}, func(err error) {
		if err != nil {
			t.after(time.Second, func() { t.attempt(o) })
			return
		}
		if now.State != outbox.Pending && now.State != outbox.Sent {
			delete(t.desk.flying, o.Key)
			return
		}
		svc := &direct{n: t.w.net, sale: o.sale}
		kind := gateway.Reversal
		if o.Kind == gateway.KindRefund {
			kind = gateway.Refund
		}
		v := kind(svc, nil, nil).Send(context.Background(), now)
		t.w.note("undo", fmt.Sprintf("attempt %d: %s %s", now.Attempts, v.State, v.Reason), o.sale)
		t.after(svc.took, func() { t.judge(o, now, v) })
	})
}

// judge records a verdict; it does not give up.
func (t *terminal) judge(o *op, sent outbox.Op, v outbox.Verdict) {
	var s *step
	t.write(func() error {
		s = nil
		if v.Memo != nil {
			o.Memo = v.Memo
		}
		if v.Result != nil {
			o.Result = v.Result
		}
		o.Reason = v.Reason
		next := outbox.Sent
		switch v.State {
		case outbox.Done, outbox.Failed, outbox.Doubt:
			o.State = v.State
			s = t.settled(o)
			return nil
		case outbox.Pending:
			if sent.State == outbox.Pending {
				next, o.sentAt = outbox.Pending, -1
			}
		case outbox.Held:
			t.w.fail("an undo is held: %s", v.Reason)
		}
		o.State = next
		return nil
	}, func(err error) {
		if err != nil {
			t.after(time.Second, func() { t.judge(o, sent, v) })
			return
		}
		delete(t.desk.flying, o.Key)
		if s != nil {
			t.desk.perform(*s)
		}
		if !o.State.Final() && o.State != outbox.Doubt {
			wait := min(v.After, 5*time.Minute)
			if v.After <= 0 {
				wait = min(time.Second<<min(sent.Attempts, 10), 20*time.Second)
			}
			t.attemptSoon(o, wait)
		}
	})
}

// settled tells the sale, in the commit that settles its undo.
func (t *terminal) settled(o *op) *step {
	res := gateway.ResultOf(o.Op)
	u := checkout.Undone{OK: res.OK && o.State == outbox.Done, InDoubt: o.State == outbox.Doubt, Withdrawn: o.State == outbox.Expired, Text: o.Reason}
	for _, r := range t.j.rows {
		e := checkout.Event{Name: checkout.UndoSettled, Undone: u}
		switch o.Key {
		case r.undoKey:
		case r.key:
			e.Name = checkout.ForwardEnded
		default:
			continue
		}
		effects, err := t.desk.transit(r, e)
		if err != nil {
			return nil
		}
		return &step{*r, effects, t.desk.nextSeq()}
	}
	return nil // of an attempt that a later one has replaced
}

// ---- start and end of day ----

// resume takes every sale up again, then lets sales begin.
func (d *desk) resume() {
	var open []wire.Key
	for _, r := range d.t.j.rows {
		if checkout.Active(r.state) {
			open = append(open, r.key)
		}
	}
	d.resumeNext(open)
}

func (d *desk) resumeNext(open []wire.Key) {
	if len(open) == 0 {
		d.ready = true
		return
	}
	var s step
	d.t.write(func() error {
		r := d.row(open[0])
		tries := r.resumes + 1
		if tries > 20 {
			d.w.fail("sale %d was resumed too often", r.id)
		}
		effects, err := d.transit(r, checkout.Event{Name: checkout.Restarted, NewBoot: r.boot != d.t.boot})
		r.resumes = tries
		s = step{*r, effects, d.nextSeq()}
		return err
	}, func(err error) {
		if err != nil {
			d.t.after(time.Second, func() { d.resumeNext(open) })
			return
		}
		d.perform(s)
		if s.r.state.Phase == checkout.Forward {
			d.withdrawal(s.r.key)
		}
		d.resumeNext(open[1:])
	})
}

// close implements ecr.Till.
func (d *desk) close(done func(ecr.Totals, ecr.Code)) {
	if !d.ready {
		done(ecr.Totals{}, ecr.NotReady)
		return
	}
	if d.closing {
		done(ecr.Totals{}, ecr.EODImpossible)
		return
	}
	d.closing = true
	d.settle(d.t.clock()+time.Minute, map[wire.Key]bool{}, func(t ecr.Totals, c ecr.Code) {
		d.closing = false
		done(t, c)
	})
}

func (d *desk) settle(until time.Duration, waited map[wire.Key]bool, done func(ecr.Totals, ecr.Code)) {
	var steps []step
	open := false
	d.t.write(func() error {
		open, steps = false, nil
		if d.locked {
			open = true
			return nil
		}
		for _, r := range d.t.j.rows {
			if r.state.Phase == checkout.Unconfirmed && d.live(r.key).holds == 0 {
				waited[r.key] = true
				effects, err := d.transit(r, checkout.Event{Name: checkout.EndOfDay})
				if err != nil {
					return err
				}
				steps = append(steps, step{*r, effects, d.nextSeq()})
			}
			open = open || checkout.Open(r.state) || r.state.Phase == checkout.Unconfirmed || r.state.Phase == checkout.Reversing && waited[r.key]
		}
		if open {
			return nil
		}
		for _, r := range d.t.j.rows {
			if r.receipt != 0 && r.batch == d.t.j.batch {
				effects, err := d.transit(r, checkout.Event{Name: checkout.BatchClosed})
				if err != nil {
					return err
				}
				steps = append(steps, step{*r, effects, d.nextSeq()})
			}
		}
		d.t.j.batch++
		d.w.note("till", fmt.Sprintf("batch %d closed", d.t.j.batch-1), 0)
		return nil
	}, func(err error) {
		for _, s := range steps {
			d.perform(s)
		}
		switch {
		case err != nil:
			done(ecr.Totals{}, ecr.NotStored)
		case !open:
			done(ecr.Totals{Time: d.w.clock(), Currency: "EUR"}, ecr.OK)
		case d.t.clock() >= until:
			done(ecr.Totals{}, ecr.EODImpossible)
		default:
			d.t.after(time.Second, func() { d.settle(until, waited, done) })
		}
	})
}
