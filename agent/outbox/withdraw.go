package outbox

import (
	"context"
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// Withdraw ends an operation that was never sent (Kind.Touched) as EXPIRED, with a result and a
// reason of the caller's. Whatever the sender is about to do, either it is withdrawn and never
// leaves, or it left and this is ErrState. ErrUnknown.
func (o *Outbox) Withdraw(ctx context.Context, key wire.Key, result []byte, reason string) error {
	return o.change(ctx, key, func(tx store.Tx, r *row) ([]Op, error) {
		if err := o.verify(r); err != nil {
			return nil, err
		}
		if _, _, err := next(r.position(), event{verb: withdraw}); err != nil {
			return nil, err
		}
		if k := o.kinds[r.kind]; k != nil && k.Touched != nil {
			op := o.op(r)
			if err := o.open(tx, r, &op); err != nil {
				return nil, err
			}
			if k.Touched(op) {
				return nil, fmt.Errorf("%w: an attempt had a connection", ErrState)
			}
		}
		r.result, r.reason = result, reason
		return o.apply(tx, r, event{verb: withdraw})
	})
}

// Revive accepts an operation again that was withdrawn (Withdraw): it goes on under the same Key, as
// one that never left, or as one that was sent where Op.SentSince says so. ErrState where it is not withdrawn, or where a later operation of its aggregate is
// open: that one may be under way. ErrUnknown, ErrAltered. Call Wake after the commit.
func (o *Outbox) Revive(tx store.Tx, n New) error {
	if err := o.clock.load(tx); err != nil {
		return err
	}
	r, err := byKey(tx, n.Key)
	if err != nil {
		return fmt.Errorf("revive %s: %w", n.Key, err)
	}
	if err := o.verify(&r); err != nil {
		return err
	}
	to, do, err := next(r.position(), event{verb: revive})
	if err != nil {
		return fmt.Errorf("revive %s: %w", n.Key, err)
	}
	later := false
	err = tx.QueryRow(openAfter, n.Aggregate, r.id).Scan(&later)
	switch {
	case err != nil:
		return fmt.Errorf("revive %s: %w", n.Key, err)
	case r.kind != n.Kind:
		return fmt.Errorf("revive %s: %w: %s", n.Key, ErrState, r.state)
	case later:
		return fmt.Errorf("revive %s: %w: another operation of %s is open", n.Key, ErrState, n.Aggregate)
	}
	if err := o.Seal(&n); err != nil {
		return err
	}
	r.aggregate, r.note, r.amount, r.currency, r.owner = n.Aggregate, n.Note, n.AmountMin, n.Currency, n.Owner
	r.digest, r.payload, r.dataKey, r.memo, r.result, r.reason = n.digest, n.sealed, n.dataKey, nil, nil, ""
	r.attempts, r.settledMS, r.revivedRun = 0, 0, o.clock.run()
	r.moveTo(to)
	o.setTimes(&r, do)
	if err := o.saveRevived(tx, &r); err != nil {
		return fmt.Errorf("revive %s: %w", n.Key, err)
	}
	return o.changed(tx, &r)
}

// ReviveHeld is Revive for an operation that a person has to release first.
func (o *Outbox) ReviveHeld(tx store.Tx, n New, reason string) error {
	if err := o.Revive(tx, n); err != nil {
		return err
	}
	r, err := byKey(tx, n.Key)
	if err != nil {
		return fmt.Errorf("revive %s: %w", n.Key, err)
	}
	return o.hold(tx, &r, reason)
}
