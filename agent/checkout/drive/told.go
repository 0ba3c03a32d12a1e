package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// outcome is what a register is told of a row as it stands.
func (d *Drive) outcome(r *journal.Row, repeat bool) ecr.Outcome {
	s := r.State
	o := ecr.Outcome{
		Sale: string(r.Key), Kind: r.Kind, Result: s.Result, Code: s.Code, Text: publicText(s, d.cfg.Language), Amount: r.Amount, Currency: r.Currency,
		OriginalTrace: r.OriginalTrace, TerminalID: d.cfg.TerminalID, Method: r.Method.Name, Label: r.Method.Label, Repeat: repeat,
		Time: time.UnixMilli(r.DecidedMS), Settling: s.Phase == checkout.Reversing || s.Settling,
	}
	if s.TransactionID != 0 {
		o.TransactionID = fmt.Sprint(s.TransactionID)
	}
	switch s.Result {
	case "": // only a refund or reversal is told before its end
		o.Result, o.Code, o.Text, o.Settling, o.Time = ecr.InProgress, ecr.StillRunning, "in progress", true, d.now()
	case ecr.Approved:
		o.Receipt, o.Trace = r.Receipt, r.Trace
		o.MerchantCopy = methods.ReceiptRequired(r.Method, txnType(r.Kind))
	}
	return o
}

func txnType(k ecr.Kind) methods.TransactionType {
	switch k {
	case ecr.Refund:
		return methods.Refund
	case ecr.Reversal:
		return methods.Reversal
	}
	return methods.Payment
}

// Abort implements ecr.Desk.
func (d *Drive) Abort(ctx context.Context, id string) error {
	row, err := d.apply(ctx, wire.Key(id), checkout.Event{Name: checkout.AbortAsked})
	if errors.Is(err, checkout.ErrRefused) {
		if row.State.Phase == checkout.Forward {
			if err := d.box.Withdraw(ctx, row.Key, nil, withdrawn); err == nil {
				return nil
			}
			d.unwanted(row.Key)
		}
		return ecr.ErrTooLate
	}
	if err == nil && row.State.Phase == checkout.Aborting && !d.isLeaving(row) {
		d.later(func(ctx context.Context) { d.notSent(ctx, row) })
	}
	return err
}

// Last implements ecr.Desk.
func (d *Drive) Last(ctx context.Context, line string) (ecr.Sale, error) {
	var key wire.Key
	err := d.db.Read(ctx, func(r store.Reader) error {
		row, err := d.j.LastOf(r, line)
		if err != nil && !errors.Is(err, journal.ErrUnknown) {
			return err
		}
		known := row
		if err == nil {
			key = row.Key
		} else {
			known = nil
		}
		old, fault := journal.BeforeLoss(r, known)
		if old {
			fault = unsaid(r)
		}
		return cmp.Or(fault, err)
	})
	if errors.Is(err, journal.ErrUnknown) {
		return ecr.Sale{}, ecr.ErrNone
	}
	if err != nil {
		return ecr.Sale{}, d.inLanguage(err)
	}
	return d.joinRow(ctx, key)
}

// Copy implements ecr.Copier.
func (d *Drive) Copy(ctx context.Context, receipt int) (ecr.Sale, error) {
	var row *journal.Row
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		if row, err = d.j.Newest(r, receipt); errors.Is(err, journal.ErrUnknown) {
			err = cmp.Or(unsaid(r), err)
		}
		return err
	})
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return ecr.Sale{}, d.inLanguage(err)
	case errors.Is(err, journal.ErrUnknown), errors.Is(err, journal.ErrQuarantined):
		return ecr.Sale{}, ecr.ErrNone
	case err != nil:
		return ecr.Sale{}, err
	case row.State.Result != ecr.Approved, row.State.Phase != checkout.Confirmed && row.State.Phase != checkout.Done:
		return ecr.Sale{}, ecr.ErrNone
	}
	outcome := make(chan ecr.Outcome, 1)
	outcome <- d.outcome(row, true)
	close(outcome)
	return ecr.Sale{ID: string(row.Key), Outcome: outcome}, nil
}

var _ ecr.Copier = (*Drive)(nil)

// Delivered implements ecr.Desk.
func (d *Drive) Delivered(ctx context.Context, id string, what ecr.Delivery) (ecr.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	key := wire.Key(id)
	name, ok := map[ecr.Delivery]checkout.Name{ecr.Told: checkout.Told, ecr.Refused: checkout.Refused, ecr.Lost: checkout.Lost}[what]
	if !ok {
		return ecr.Outcome{}, fmt.Errorf("delivery %q is not known", what)
	}
	defer d.announce()
	if o := d.toldAborted(key); o != nil { // the journal hears of it when it can
		d.released(key)
		return *o, nil
	}
	interim := d.toldInterim(key)
	if interim != nil { // no end, whatever became of the telling; it may have ended meanwhile: that is for the repetition of the request
		d.released(key)
		return d.outcome(interim, false), nil
	}
	var s journal.Step
	err := d.db.Write(ctx, func(tx store.Tx) error {
		row, err := d.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		if row.State.Result == "" && row.State.Phase == checkout.Forward {
			s = d.j.Step(row, nil)
			return nil
		}
		again := row.Told == string(ecr.Told)
		if !again {
			row.Told = string(what)
		}
		s, err = d.j.Transit(tx, row, checkout.Event{Name: name})
		if err != nil || again {
			return err
		}
		text := fmt.Sprintf("register told %s: %s", row.State.Result, what)
		return d.j.Note(tx, key, false, text)
	})
	switch {
	case err == nil, journal.Hopeless(err):
		d.released(key) // not before: what is not journalled yet must not be undone meanwhile
	default:
		d.unrecorded(key, what)
	}
	if err != nil {
		return ecr.Outcome{}, fmt.Errorf("delivered %s: %w", id, err)
	}
	d.perform(s)
	return d.outcome(s.Row, false), nil
}

// graceOver undoes an approval that was never acknowledged, unless it is being told just now. done is false when the timer has to
// come again.
func (d *Drive) graceOver(ctx context.Context, key wire.Key) (done bool, err error) {
	var s journal.Step
	busy := false
	err = d.db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
		if busy = d.isHeld(key); busy {
			return nil
		}
		row, err := d.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		s, err = d.j.Transit(tx, row, checkout.Event{Name: checkout.GraceOver})
		return err
	})
	if err != nil || busy {
		return false, err
	}
	d.perform(s)
	d.mu.Lock()
	tell := d.onUndo[s.Row.Line]
	d.mu.Unlock()
	if tell != nil && s.Row.State.Phase == checkout.Reversing {
		tell()
	}
	return true, nil
}

// OnUndo implements ecr.Undoer.
func (d *Drive) OnUndo(line string, tell func()) {
	d.mu.Lock()
	d.onUndo[line] = tell
	d.mu.Unlock()
}
