package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"posagent/agent/checkout"
	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// Apply applies one event in a commit of its own. It returns ErrUnknown, ErrQuarantined,
// checkout.ErrRefused, and errors of the store; beside an error the row is as it was read.
func (j *Journal) Apply(ctx context.Context, key wire.Key, e checkout.Event) (s Step, err error) {
	err = j.db.Write(ctx, func(tx store.Tx) error {
		row, err := j.ByKey(tx, key)
		if s = (Step{Row: row}); err != nil {
			return err
		}
		done, err := j.Transit(tx, row, e)
		if err == nil {
			s = done
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("apply %s: %w", e.Name, err)
	}
	return s, err
}

// NothingNew decides without writing, where the event changes nothing: most answers to a poll say
// what the last one said. ok is false where it has to be applied. seq is the caller's newest commit
// of the sale, read before.
func (j *Journal) NothingNew(ctx context.Context, key wire.Key, e checkout.Event, seq uint64) (s Step, ok bool) {
	switch e.Name {
	case checkout.StatusRead, checkout.StatusFailed, checkout.Tick:
	default:
		return Step{}, false
	}
	row, err := j.Sale(ctx, key)
	if err != nil {
		return Step{}, false
	}
	next, effects, err := checkout.Next(row.State, j.complete(row, e))
	if err != nil || !reflect.DeepEqual(next, row.State) {
		return Step{}, false
	}
	for _, f := range effects {
		switch f.Do {
		case checkout.Reverse, checkout.RefundUndo, checkout.GiveReceipt, checkout.Release, checkout.Exception:
			return Step{}, false
		}
	}
	return Step{row, effects, seq}, true
}

// UndoSettled advances the sale that an operation was of, in the commit that settles the operation.
// ok is false where nothing follows: an attempt that a later one has replaced, or one that was
// settled before.
func (j *Journal) UndoSettled(tx store.Tx, op outbox.Op, res gateway.UndoResult) (s Step, ok bool, err error) {
	u := checkout.Undone{
		OK: res.OK && op.State == outbox.Done, InDoubt: op.State == outbox.Doubt, Withdrawn: op.State == outbox.Expired, Text: res.Text,
		Moved: res.AccountState == aapay.Commit, ByHand: res.ByHand, Used: res.Used,
		Over: checkout.Judge(res.State, res.AccountState, nil) == checkout.Bad,
	}
	if u.Text == "" {
		u.Text = op.Reason
	}
	u.TransactionID, _ = strconv.ParseInt(res.TransactionID, 10, 64) // "" is none
	e := checkout.Event{Name: checkout.UndoSettled, Undone: u}
	row, err := j.one(tx, byUndo, string(op.Key))
	if errors.Is(err, ErrUnknown) {
		e.Name = checkout.ForwardEnded
		row, err = j.ByKey(tx, op.Key)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return Step{}, false, nil
	case errors.Is(err, ErrQuarantined):
		return Step{}, false, j.raise(tx, row, checkout.NotKnown, "the undo ended, but the sale is quarantined: "+u.Text)
	case err != nil:
		return Step{}, false, err
	}
	is, err := anothers(tx, row, &e.Undone)
	if err != nil {
		return Step{}, false, err
	}
	if e.Name == checkout.UndoSettled && !is {
		if err := namedUndo(tx, row, u.TransactionID); err != nil {
			return Step{}, false, err
		}
	}
	s, err = j.Transit(tx, row, e)
	if errors.Is(err, checkout.ErrRefused) {
		return Step{}, false, nil
	}
	return s, err == nil, err
}

// anothers says that the end of an operation names the transaction of another sale of this journal, or of
// its undo: the answer is not its own. A good end is in doubt then, as what became of it is not known.
func anothers(tx store.Tx, r *Row, u *checkout.Undone) (bool, error) {
	is, err := taken(tx, r, u.TransactionID)
	if is && u.OK {
		u.OK, u.InDoubt, u.Text = false, true, fmt.Sprintf("the backend answered with transaction %d, which is another sale's", u.TransactionID)
	}
	return is, err
}
