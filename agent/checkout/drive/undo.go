package drive

import (
	"errors"
	"fmt"
	"strconv"

	"posagent/agent/checkout"
	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// acceptUndo puts an undo operation into the outbox, in the commit that decides it. Every attempt has its own Key and
// terminalReference, and the original's reference (MONEY B.3).
func (d *Drive) acceptUndo(tx store.Tx, r *Row, attempt int, refund bool) error {
	typ, original := aapay.Reversal, r.Reference
	if refund {
		typ, original = aapay.Refund, strconv.FormatInt(r.State.TransactionID, 10)
	}
	aggregate := r.Reference
	if attempt > 1 { // an earlier attempt may be in doubt and hold its queue
		aggregate += "." + strconv.Itoa(attempt)
	}
	r.UndoKey = wire.NewKey()
	op, err := d.operation(r, r.UndoKey, typ, original, aggregate)
	if err != nil {
		return err
	}
	op.Note = "undo of " + title(r)
	if err := d.box.Accept(tx, op); err != nil {
		return fmt.Errorf("undo %s: %w", r.Key, err)
	}
	return nil
}

// UndoSettled is the Settled hook of the kinds of offline.Undos: it advances the sale in the commit that
// settles the operation.
func (d *Drive) UndoSettled(tx store.Tx, op outbox.Op, res offline.UndoResult) error {
	u := checkout.Undone{OK: res.OK && op.State == outbox.Done, InDoubt: op.State == outbox.Doubt, Withdrawn: op.State == outbox.Expired, Text: res.Text}
	if u.Text == "" {
		u.Text = op.Reason
	}
	u.TransactionID, _ = strconv.ParseInt(res.TransactionID, 10, 64) // "" is none
	e := checkout.Event{Name: checkout.UndoSettled, Undone: u}
	row, err := d.one(tx, byUndo, string(op.Key))
	if errors.Is(err, ErrUnknown) {
		e.Name = checkout.ForwardEnded
		row, err = d.byKey(tx, op.Key)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return nil // of an attempt that a later one has replaced
	case errors.Is(err, ErrQuarantined):
		return d.note(tx, row.Key, true, "the undo ended, but the sale is quarantined: "+u.Text)
	case err != nil:
		return err
	}
	effects, err := d.transit(tx, row, e)
	if errors.Is(err, checkout.ErrRefused) {
		return nil // told again about something settled before
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.stash[op.Key] = step{row, effects, d.nextSeq()}
	d.mu.Unlock()
	return nil
}

// UndoAfter is the After hook of the same kinds.
func (d *Drive) UndoAfter(op outbox.Op) {
	d.mu.Lock()
	s, ok := d.stash[op.Key]
	delete(d.stash, op.Key)
	d.mu.Unlock()
	if ok {
		d.perform(s.row, s.effects, s.seq)
	}
}

// giveReceipt gives receipt and trace numbers, with the outcome and in its commit (MONEY B.10).
func (d *Drive) giveReceipt(tx store.Tx, r *Row) error {
	open, err := batch(tx)
	if err != nil {
		return err
	}
	last, err := counter(tx, "receipt", 0)
	if err != nil {
		return err
	}
	for range receiptsInBatch {
		last = last%receiptsInBatch + 1
		var used int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM checkout_sales WHERE `+byReceipt, open, last).Scan(&used); err != nil {
			return fmt.Errorf("receipt of %s: %w", r.Key, err)
		}
		if used == 0 {
			break
		}
	}
	r.Receipt, r.Batch = int(last), open
	if err := setCounter(tx, "receipt", last); err != nil {
		return err
	}
	r.Trace, err = nextTrace(tx)
	return err
}

func nextTrace(tx store.Tx) (int, error) {
	n, err := counter(tx, "trace", 0)
	if err != nil {
		return 0, err
	}
	n = n%lastTrace + 1
	return int(n), setCounter(tx, "trace", n)
}
