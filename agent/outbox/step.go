package outbox

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"posagent/store"
)

// hookError marks the failure of a Settled hook.
type hookError struct{ err error }

func (e *hookError) Error() string { return e.err.Error() }
func (e *hookError) Unwrap() error { return e.err }

// apply moves an operation by the table, in the caller's commit, and returns what has ended or come
// into doubt by it: that is for after, once the commit is durable. It returns ErrState, a hookError
// or an error of the store.
func (o *Outbox) apply(tx store.Tx, r *row, e event) ([]Op, error) {
	to, do, err := next(r.position(), e)
	if err != nil || len(do) == 0 {
		return nil, err
	}
	return o.perform(tx, r, to, do)
}

// perform writes a move with what belongs to it, besides a rest: its length is the caller's to set.
func (o *Outbox) perform(tx store.Tx, r *row, to position, do []effect) ([]Op, error) {
	o.setTimes(r, do)
	if slices.Contains(do, settle) {
		return o.end(tx, r, to, do)
	}
	r.moveTo(to)
	return nil, o.save(tx, r)
}

// moveTo takes the table's answer over; nothing else writes the state of a row that was read.
func (r *row) moveTo(to position) { r.state, r.resume = to.State, to.Resume }

// setTimes sets what the effects say of the Key's age and of the next try.
func (o *Outbox) setTimes(r *row, do []effect) {
	for _, f := range do {
		switch {
		case f == sentNow && r.sentAge < 0:
			r.sentAge = o.clock.age()
		case f == sentSince && r.sentAge < 0:
			r.sentAge = o.clock.stored()
		case f == unsent:
			r.sentAge = -1
		case f == due:
			r.nextRun = o.clock.run()
		}
	}
}

// end makes a row final or doubtful: hook, key destroyed, dependants.
func (o *Outbox) end(tx store.Tx, r *row, to position, do []effect) ([]Op, error) {
	op := o.op(r)
	if err := o.open(tx, r, &op); err != nil {
		op.Payload, op.Memo = nil, nil // it ends all the same; the hook sees neither
	}
	r.moveTo(to)
	op.State, op.NextTry = r.state, time.Time{}
	if slices.Contains(do, finish) {
		r.settledMS = o.now().UnixMilli()
		op.Settled = time.UnixMilli(r.settledMS)
		r.payload, r.memo, r.dataKey = nil, nil, nil
		if err := o.db.Shred(tx, table, r.key); err != nil {
			return nil, fmt.Errorf("destroy key of %s: %w", r.key, err)
		}
	}
	if err := o.save(tx, r); err != nil {
		return nil, err
	}
	k := o.kinds[r.kind]
	if k != nil && k.Settled != nil {
		if err := o.hook(k, tx, op); err != nil {
			return nil, &hookError{fmt.Errorf("%s of %s: %w", r.state, r.key, err)}
		}
	}
	list := []Op{op}
	if k != nil && k.Breaks && slices.Contains(do, breaks) {
		more, err := o.breakBehind(tx, r)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// hook turns a panic of a Settled hook into an error.
func (o *Outbox) hook(k *Kind, tx store.Tx, op Op) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return k.Settled(tx, op)
}

// breakBehind fails the unsent operations behind a failed one.
func (o *Outbox) breakBehind(tx store.Tx, failed *row) ([]Op, error) {
	var ended []Op
	for {
		r, err := scan(tx.QueryRow(nextPending, failed.aggregate, failed.id))
		if errors.Is(err, ErrUnknown) {
			return ended, nil
		}
		if err != nil {
			return nil, err
		}
		r.reason = "the operation before it failed: " + failed.key
		more, err := o.apply(tx, &r, event{verb: fail})
		if err != nil {
			return nil, err
		}
		ended = append(ended, more...)
	}
}

// after runs the After hooks of what a commit ended.
func (o *Outbox) after(ended []Op) {
	for _, op := range ended {
		o.log.Info("operation ended", "op", op.Key, "kind", op.Kind, "state", op.State, "attempts", op.Attempts)
		o.watch(op)
		k := o.kinds[op.Kind]
		if k == nil || k.After == nil {
			continue
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					o.log.Error("after hook panicked", "op", op.Key, "panic", fmt.Sprint(p))
				}
			}()
			k.After(op)
		}()
	}
}
