package drive

import (
	"context"
	"errors"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/schemes/wire"
)

// apply applies one event and performs its effects. It returns journal.ErrUnknown, journal.ErrQuarantined, checkout.ErrRefused, and
// errors of the store.
func (d *Drive) apply(ctx context.Context, key wire.Key, e checkout.Event) (*journal.Row, error) {
	s, ok := d.j.NothingNew(ctx, key, e, d.seqOf(key))
	if !ok {
		var err error
		if s, err = d.j.Apply(ctx, key, e); err != nil {
			return s.Row, err
		}
	}
	d.perform(s)
	return s.Row, nil
}

// insist applies an event that must not be lost while the store is in trouble.
func (d *Drive) insist(ctx context.Context, key wire.Key, e checkout.Event) {
	e.Now = d.boot()
	for {
		_, err := d.apply(context.WithoutCancel(ctx), key, e)
		switch {
		case err == nil, errors.Is(err, checkout.ErrRefused):
			return
		case journal.Hopeless(err):
			d.log.Error("event not applied", "sale", key, "event", e.Name, "error", err)
			return
		}
		d.log.Error("event waits for the store", "sale", key, "event", e.Name, "error", err)
		if !pause(ctx, storeRetry, nil) {
			return
		}
	}
}

// perform does what follows a commit. Their order counts: what an older one would start is left alone.
func (d *Drive) perform(s journal.Step) {
	row, effects, seq := s.Row, s.Effects, s.Seq
	key := row.Key
	d.arm(row, seq)
	if row.State.UndoOpen || row.State.Phase == checkout.Forward { // beside the next sale: it waits for nothing
		if row.State.Phase == checkout.Reversing {
			d.progress(key, stepReversing)
		}
		d.box.Wake()
	}
	if row.State.Phase == checkout.Waiting && row.State.Engaged && !row.State.Veiled {
		d.progress(key, stepConfirm)
	}
	for _, f := range effects {
		switch f.Do {
		case checkout.Initialize, checkout.SendPlain:
			d.progress(key, stepStarting)
			d.later(func(ctx context.Context) { d.initialize(ctx, key, f.After) })
		case checkout.ReadStatus:
			// One overtaken by a newer commit does not replace that one's read; but where none waits it must go on, or an
			// acknowledgement that comes while a status is being decided would end the watch.
			d.scheduleRead(row, f.After, seq)
		case checkout.StopReading:
			d.stopReading(key, seq)
		case checkout.ShowCode:
			shown := *row // the caller's may change
			d.later(func(ctx context.Context) { d.showCode(ctx, &shown) })
		case checkout.ShowWaiting:
			d.showWaiting(row)
		case checkout.ClearScreen:
			d.clearScreen(key)
		case checkout.StopChoosing:
			d.stopPrompt(key)
		case checkout.Tell:
			d.tell(row)
		}
	}
	d.forget(row)
	d.announce()
}

// arm sets the timer of the sale's next limit, unless a newer commit has set its own.
func (d *Drive) arm(row *journal.Row, seq uint64) {
	at, ok := checkout.Due(row.State)
	name := checkout.Tick
	if row.State.Phase == checkout.Unconfirmed {
		if grace := row.State.UntoldAt + d.cfg.Grace; !ok || grace < at {
			at, ok, name = grace, true, checkout.GraceOver
		}
	}
	stop, fresh := d.advance(row, seq, ok)
	if !ok || !fresh {
		return
	}
	key := row.Key
	d.later(func(ctx context.Context) {
		wait := max(0, at-d.boot())
		for pause(ctx, wait, stop) {
			if name != checkout.GraceOver {
				d.insist(ctx, key, checkout.Event{Name: name})
				return
			}
			done, err := d.graceOver(ctx, key)
			if err != nil {
				d.log.Error("grace timer", "sale", key, "error", err)
			}
			if done || journal.Hopeless(err) {
				return
			}
			wait = time.Second
		}
	})
}
