package drive

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"posagent/agent/checkout"
	"posagent/schemes/wire"
	"posagent/store"
)

// transit applies one event to a row inside a transaction and writes what belongs to the decision. The effects it returns are to
// be performed once the transaction is durable.
func (d *Drive) transit(tx store.Tx, r *Row, e checkout.Event) ([]checkout.Effect, error) {
	if e.Name != checkout.ToldAborted && d.isToldAborted(r.Key) { // whatever has happened meanwhile
		first, err := d.transit(tx, r, checkout.Event{Name: checkout.ToldAborted})
		if err != nil {
			return nil, err
		}
		rest, err := d.transitOne(tx, r, e)
		return append(first, rest...), err
	}
	return d.transitOne(tx, r, e)
}

func (d *Drive) transitOne(tx store.Tx, r *Row, e checkout.Event) ([]checkout.Effect, error) {
	before := *r
	e = d.complete(r, e)
	next, effects, err := checkout.Next(r.State, e)
	if err != nil {
		return nil, fmt.Errorf("sale %s: %w", r.Key, err)
	}
	r.State, r.Boot = next, d.bootID
	if r.DecidedMS == 0 && next.Result != "" {
		r.DecidedMS = d.now().UnixMilli()
	}
	if next.Phase != before.State.Phase {
		r.Resumes = 0
	}
	var rest []checkout.Effect
	for _, f := range effects {
		switch f.Do {
		case checkout.Reverse:
			err = d.acceptUndo(tx, r, f.Attempt, false)
		case checkout.RefundUndo:
			err = d.acceptUndo(tx, r, f.Attempt, true)
		case checkout.GiveReceipt:
			err = d.giveReceipt(tx, r)
		case checkout.Release:
			err = d.release(tx, r)
		case checkout.Exception:
			err = d.note(tx, r.Key, true, title(r)+": "+f.Text)
		default:
			rest = append(rest, f)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := d.ended(tx, &before, r); err != nil {
		return nil, err
	}
	if text := describe(&before, r, e); text != "" {
		if err := d.note(tx, r.Key, false, text); err != nil {
			return nil, err
		}
	}
	if err := d.update(tx, r); err != nil {
		return nil, err
	}
	if d.record != nil && (r.State.Result != before.State.Result || r.State.Phase != before.State.Phase) {
		err = d.record(tx, e.Name, &before, r)
	}
	return rest, err
}

// ended does what the end of a sale asks for.
func (d *Drive) ended(tx store.Tx, before, r *Row) error {
	if r.State.Phase != checkout.Done || before.State.Phase == checkout.Done {
		return nil
	}
	r.request = nil
	if err := d.db.Shred(tx, "checkout_sales", string(r.Key)); err != nil {
		return fmt.Errorf("end sale %s: %w", r.Key, err)
	}
	open, err := batch(tx)
	if err != nil {
		return err
	}
	if before.State.Phase == checkout.Reversing && r.Batch != open {
		return d.note(tx, r.Key, true, fmt.Sprintf("%s: carried over from batch %d, undone", title(r), r.Batch))
	}
	return nil
}

// complete adds what every event carries.
func (d *Drive) complete(r *Row, e checkout.Event) checkout.Event {
	if e.Now == 0 {
		e.Now = d.boot()
	}
	e.Poll, e.Patient = checkout.PollOf(r.Method, d.cfg.Poll), d.isPatient(r.Key)
	return e
}

// title names a sale for people.
func title(r *Row) string {
	s := fmt.Sprintf("%s of %s", r.Kind, amountText(r.Amount, r.Currency))
	if r.Receipt != 0 {
		s += fmt.Sprintf(", receipt %d", r.Receipt)
	}
	return s
}

// apply applies one event and performs its effects. Errors: ErrUnknown, ErrQuarantined, checkout.ErrRefused, those of the store.
func (d *Drive) apply(ctx context.Context, key wire.Key, e checkout.Event) (*Row, error) {
	if row, effects, seq, ok := d.nothingNew(ctx, key, e); ok {
		d.perform(row, effects, seq)
		return row, nil
	}
	var row *Row
	var effects []checkout.Effect
	var seq uint64
	err := d.db.Write(ctx, func(tx store.Tx) error {
		var err error
		if row, err = d.byKey(tx, key); err != nil {
			return err
		}
		effects, err = d.transit(tx, row, e)
		seq = d.nextSeq()
		return err
	})
	if err != nil {
		return row, fmt.Errorf("apply %s: %w", e.Name, err)
	}
	d.perform(row, effects, seq)
	return row, nil
}

// nothingNew decides without writing: most answers to a poll say what the last one said.
func (d *Drive) nothingNew(ctx context.Context, key wire.Key, e checkout.Event) (row *Row, effects []checkout.Effect, seq uint64, ok bool) {
	switch e.Name {
	case checkout.StatusRead, checkout.StatusFailed, checkout.Tick:
	default:
		return
	}
	seq = d.seqOf(key)
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		row, err = d.byKey(r, key)
		return err
	})
	if err != nil {
		return
	}
	next, effects, err := checkout.Next(row.State, d.complete(row, e))
	if err != nil || !reflect.DeepEqual(next, row.State) {
		return
	}
	for _, f := range effects {
		switch f.Do {
		case checkout.Reverse, checkout.RefundUndo, checkout.GiveReceipt, checkout.Release, checkout.Exception:
			return
		}
	}
	return row, effects, seq, true
}

// insist applies an event that must not be lost while the store is in trouble.
func (d *Drive) insist(ctx context.Context, key wire.Key, e checkout.Event) {
	e.Now = d.boot()
	for {
		_, err := d.apply(context.WithoutCancel(ctx), key, e)
		switch {
		case err == nil, errors.Is(err, checkout.ErrRefused):
			return
		case hopeless(err):
			d.log.Error("event not applied", "sale", key, "event", e.Name, "error", err)
			return
		}
		d.log.Error("event waits for the store", "sale", key, "event", e.Name, "error", err)
		if !pause(ctx, storeRetry, nil) {
			return
		}
	}
}

// hopeless says that an error of the journal will not go away.
func hopeless(err error) bool {
	return errors.Is(err, ErrUnknown) || errors.Is(err, ErrQuarantined) || errors.Is(err, store.ErrClosed)
}

// perform does what follows a commit. seq orders the commits of a sale: what an older one would start is left alone.
func (d *Drive) perform(row *Row, effects []checkout.Effect, seq uint64) {
	key := row.Key
	d.arm(row, seq)
	if row.State.UndoOpen || row.State.Phase == checkout.Forward { // beside the next sale: it waits for nothing (MONEY B.14)
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
func (d *Drive) arm(row *Row, seq uint64) {
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
			if done || hopeless(err) {
				return
			}
			wait = time.Second
		}
	})
}
