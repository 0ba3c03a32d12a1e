package outbox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"posagent/schemes/wire"
	"posagent/store"
)

// Get reads one operation with payload and memo (nil once their key was destroyed). ErrUnknown;
// ErrAltered with the operation as stored when its row does not verify.
func (o *Outbox) Get(r store.Reader, key wire.Key) (Op, error) {
	if err := o.clock.load(r); err != nil {
		return Op{}, err
	}
	rw, err := byKey(r, key)
	if err != nil {
		return Op{}, err
	}
	op := o.op(&rw)
	if err := o.verify(&rw); err != nil {
		return op, err
	}
	err = o.open(r, &rw, &op)
	return op, err
}

// change runs one verb on one verified operation.
func (o *Outbox) change(ctx context.Context, key wire.Key, fn func(tx store.Tx, r *row) ([]Op, error)) error {
	var ended []Op
	err := o.db.Write(ctx, func(tx store.Tx) error {
		ended = nil
		if err := o.clock.load(tx); err != nil {
			return err
		}
		r, err := byKey(tx, key)
		if err != nil {
			return err
		}
		ended, err = fn(tx, &r)
		return err
	})
	if err != nil {
		return fmt.Errorf("operation %s: %w", key, err)
	}
	o.after(ended)
	o.Wake()
	return nil
}

// SendNow tries an operation at once, without waiting for its back-off or its service's. A doubtful
// one is tried only when its kind can find out by reading. ErrUnknown, ErrState.
func (o *Outbox) SendNow(ctx context.Context, key wire.Key) error {
	return o.change(ctx, key, func(tx store.Tx, r *row) ([]Op, error) {
		if err := o.verify(r); err != nil {
			return nil, err
		}
		k, e := o.kinds[r.kind], event{verb: sendNow}
		if k != nil && k.Asks {
			e.verb = askNow
		}
		to, do, err := next(r.position(), e)
		if err != nil {
			return nil, err
		}
		if k != nil {
			o.mu.Lock()
			o.services[k.Service].ask()
			o.mu.Unlock()
		}
		if o.audit != nil {
			if err := o.audit(tx, "operation.send", r.key, r.kind, r.amount, r.currency); err != nil {
				return nil, err
			}
		}
		return o.perform(tx, r, to, do)
	})
}

// Hold sets an operation aside until Release. One that is under way ends if its answer is final.
// ErrUnknown, ErrState.
func (o *Outbox) Hold(ctx context.Context, key wire.Key, reason string) error {
	return o.change(ctx, key, func(tx store.Tx, r *row) ([]Op, error) {
		return nil, o.hold(tx, r, reason)
	})
}

func (o *Outbox) hold(tx store.Tx, r *row, reason string) error {
	if err := o.verify(r); err != nil {
		return err
	}
	r.reason = wire.MaskPANs(reason)
	_, err := o.apply(tx, r, event{verb: hold})
	return err
}

// HoldAll sets aside everything that could be sent, in the caller's commit (a restored backup); it
// returns how many.
func (o *Outbox) HoldAll(tx store.Tx, reason string) (int, error) {
	last := int64(0)
	return o.holdSome(tx, reason, &last, math.MaxInt)
}

// holdSome holds at most limit operations behind last, which it moves on.
func (o *Outbox) holdSome(tx store.Tx, reason string, last *int64, limit int) (int, error) {
	if err := o.clock.load(tx); err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		if n == limit {
			return n, nil
		}
		r, err := scan(tx.QueryRow(`SELECT `+columns+` FROM outbox_ops WHERE id > ? AND +state IN ('PENDING', 'SENT') ORDER BY id LIMIT 1`, *last))
		if errors.Is(err, ErrUnknown) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		*last = r.id
		r.reason = wire.MaskPANs(reason)
		if err := o.verify(&r); err != nil {
			r.reason = err.Error()
		}
		if _, err := o.apply(tx, &r, event{verb: hold}); err != nil {
			return n, err
		}
	}
}

// Release lets a held operation go on where it was. ErrUnknown, ErrState.
func (o *Outbox) Release(ctx context.Context, key wire.Key) error {
	return o.change(ctx, key, func(tx store.Tx, r *row) ([]Op, error) {
		if err := o.verify(r); err != nil {
			return nil, err
		}
		r.reason = ""
		return o.apply(tx, r, event{verb: release})
	})
}

// CodeOf says what kind of refusal the error of a verb is; wire.Internal = a failure.
func CodeOf(err error) wire.Code {
	switch {
	case errors.Is(err, ErrUnknown):
		return wire.NotFound
	case errors.Is(err, ErrState), errors.Is(err, ErrAltered), errors.Is(err, ErrNoAlert):
		return wire.Conflict
	}
	return wire.AsError("operation", err).Code
}

// ByHand begins the reason of an operation that a person has resolved.
const ByHand = "resolved by hand: "

// Resolve ends an operation by a person's decision: Done or Failed for one that is in doubt or
// held. The kind's Settled and After run as if the backend had answered, with Op.Result as far as
// it came. One that is under way is not resolved: its answer is about to tell. ErrUnknown,
// ErrState.
func (o *Outbox) Resolve(ctx context.Context, key wire.Key, state State, note string) error {
	return o.change(ctx, key, func(tx store.Tx, r *row) ([]Op, error) {
		e := event{verb: resolveDone}
		if state == Failed {
			e.verb = resolveFailed
		}
		to, do, err := next(r.position(), e)
		if err != nil || state != Done && state != Failed {
			return nil, fmt.Errorf("%w: %s to %s", ErrState, r.state, state)
		}
		o.mu.Lock()
		_, away := o.busy[r.id]
		o.mu.Unlock()
		if away {
			return nil, fmt.Errorf("%w: it is being sent just now", ErrState)
		}
		r.reason = ByHand + wire.MaskPANs(note)
		if err := o.verify(r); err != nil {
			r.reason += " (" + err.Error() + ")"
		}
		return o.perform(tx, r, to, do)
	})
}

// SetOwner gives all operations of an aggregate to a local client ("" = the terminal), in the
// caller's commit. It returns them. ErrAltered.
func (o *Outbox) SetOwner(tx store.Tx, aggregate, owner string) ([]Op, error) {
	if err := o.clock.load(tx); err != nil {
		return nil, err
	}
	var list []Op
	for id := int64(0); ; {
		r, err := scan(tx.QueryRow(nextInLine, aggregate, id))
		if errors.Is(err, ErrUnknown) {
			return list, nil
		}
		if err == nil {
			err = o.verify(&r)
		}
		if err != nil {
			return nil, err
		}
		id, r.owner = r.id, owner
		if _, err := tx.Exec(`UPDATE outbox_ops SET owner = ?, mac = ? WHERE id = ?`, owner, o.sum(&r), r.id); err != nil {
			return nil, fmt.Errorf("owner of %s: %w", r.key, err)
		}
		list = append(list, o.op(&r))
	}
}
