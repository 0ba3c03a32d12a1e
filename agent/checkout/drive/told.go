package drive

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// Abort implements ecr.Desk.
func (d *Drive) Abort(ctx context.Context, id string) error {
	row, err := d.p.Apply(ctx, wire.Key(id), checkout.Event{Name: checkout.AbortAsked})
	if errors.Is(err, journal.ErrQuarantined) {
		return ecr.ErrTooLate
	}
	if errors.Is(err, checkout.ErrRefused) {
		if row.State.Phase == checkout.Forward {
			if err := d.box.Withdraw(ctx, row.Key, nil, perform.Withdrawn); err == nil {
				return nil
			}
			d.sales.Unwant(row.Key)
		}
		return ecr.ErrTooLate
	}
	if err == nil && row.State.Phase == checkout.Aborting {
		d.p.Aborting(row)
	}
	return err
}

// Last implements ecr.Desk.
func (d *Drive) Last(ctx context.Context, line string) (ecr.Sale, error) {
	line = intent.KeptName(d.db, line)
	var key wire.Key
	err := d.db.Read(ctx, func(r store.Reader) error {
		row, err := unlessHeld(d.j.LastOf(r, line))
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
		if old && (known == nil || known.State.Phase != checkout.Forward && !known.Held()) { // what still runs is joined
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
	return d.p.Join(ctx, key)
}

// Find implements ecr.Finder. A journal that took a lost one's place cannot say what it does not
// have.
func (d *Drive) Find(ctx context.Context, line, sequence string) (ecr.Sale, error) {
	if err := d.resumedBy(ctx); err != nil {
		return ecr.Sale{}, d.inLanguage(err)
	}
	var key wire.Key
	err := d.db.Read(ctx, func(r store.Reader) error {
		by := d.j.BySequence
		id, begins := strings.CutSuffix(sequence, ecr.AnyEnd)
		id, line := intent.KeptName(d.db, id), intent.KeptName(d.db, line)
		if begins {
			by = d.j.BySequencePrefix
		}
		row, err := unlessHeld(by(r, line, id))
		if err == nil && !row.Held() {
			old, fault := d.forgotten(r, row)
			if fault != nil {
				return fault
			}
			if old {
				err = journal.ErrUnknown
			}
		}
		switch {
		case errors.Is(err, journal.ErrUnknown):
			return cmp.Or(unsaid(r), err)
		case err != nil:
			return err
		}
		key = row.Key
		return nil
	})
	switch {
	case errors.Is(err, journal.ErrUnknown):
		return ecr.Sale{}, ecr.ErrNone
	case err != nil:
		return ecr.Sale{}, d.inLanguage(err)
	}
	return d.p.Join(ctx, key)
}

// unlessHeld lets a row that does not verify be told: it is held.
func unlessHeld(row *journal.Row, err error) (*journal.Row, error) {
	if errors.Is(err, journal.ErrQuarantined) {
		err = nil
	}
	return row, err
}

// Copy implements ecr.Copier. A register that asks by the receipt number has heard of the approval,
// unless it names another transaction with it: receipt numbers are those of other terminals too.
func (d *Drive) Copy(ctx context.Context, receipt int, transaction string) (ecr.Sale, error) {
	return d.copy(ctx, receipt, transaction, true)
}

// Listed implements ecr.Copier.
func (d *Drive) Listed(ctx context.Context, receipt int) (ecr.Sale, error) {
	return d.copy(ctx, receipt, "", false)
}

// copy tells a payment by its receipt number. known says that who names it has heard of it.
func (d *Drive) copy(ctx context.Context, receipt int, transaction string, known bool) (ecr.Sale, error) {
	var row *journal.Row
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		if row, err = unlessHeld(d.j.Newest(r, receipt)); errors.Is(err, journal.ErrUnknown) {
			return cmp.Or(unsaid(r), err)
		}
		lost, fault := journal.LostNumbers(r)
		if fault == nil && lost.Receipt(receipt) {
			fault = ambiguous(r)
		}
		return cmp.Or(fault, err)
	})
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return ecr.Sale{}, d.inLanguage(err)
	case errors.Is(err, journal.ErrUnknown):
		return ecr.Sale{}, ecr.ErrNone
	case err != nil:
		return ecr.Sale{}, err
	case transaction != "" && !row.Held() && transaction != strconv.FormatInt(row.State.TransactionID, 10):
		return ecr.Sale{}, ecr.ErrNone
	case row.Held(), row.Undone(): // a register that asks by number may not know that the money went back
	case row.State.Phase == checkout.Unconfirmed && known:
		if row, err = d.p.Apply(ctx, row.Key, checkout.Event{Name: checkout.NextCommand, Sync: checkout.Same}); err != nil {
			return ecr.Sale{}, d.stored(err)
		}
	case row.State.Result != ecr.Approved, row.State.Phase != checkout.Confirmed && row.State.Phase != checkout.Done:
		return ecr.Sale{}, ecr.ErrNone
	}
	outcome := make(chan ecr.Outcome, 1)
	outcome <- d.p.Outcome(row, true)
	close(outcome)
	return ecr.Sale{ID: string(row.Key), Outcome: outcome}, nil
}

var _ ecr.Copier = (*Drive)(nil)

// Delivered implements ecr.Desk.
func (d *Drive) Delivered(ctx context.Context, id string, what ecr.Delivery) (ecr.Outcome, error) {
	return d.p.Delivered(ctx, id, what)
}

// OnUndo implements ecr.Undoer.
func (d *Drive) OnUndo(line string, tell func()) { d.p.OnUndo(intent.KeptName(d.db, line), tell) }

// Selling reports whether a register or a client waits for the outcome of a sale.
func (d *Drive) Selling() bool { return d.sales.Waited() }

// Listens implements ecr.Listener.
func (d *Drive) Listens(id string, yes bool) { d.sales.Listens(wire.Key(id), yes) }

// Waits implements ecr.Waiter.
func (d *Drive) Waits(id string) { d.sales.Waits(wire.Key(id)) }
