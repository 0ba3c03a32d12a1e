package outbox

import (
	"bytes"
	"errors"
	"fmt"

	"posagent/schemes/wire"
	"posagent/store"
)

// sumEvery is how many operations are accepted until they are added to the sums: the report counts
// the rest one by one.
const sumEvery = 128

// ErrKind is the answer to an operation of a kind that has no sender.
var ErrKind = errors.New("no sender for this kind of operation")

// Accept stores an operation in the caller's transaction. A second Accept of the same operation is
// nil and changes nothing; the same Key with another kind, aggregate, payload or amount is
// wire.KeyReused. Call Wake after the commit.
func (o *Outbox) Accept(tx store.Tx, n New) error {
	if _, err := wire.ParseKey(string(n.Key)); err != nil {
		return fmt.Errorf("accept %s: %w", n.Kind, err)
	}
	if o.kinds[n.Kind] == nil {
		return fmt.Errorf("accept %q: %w", n.Kind, ErrKind)
	}
	if n.Aggregate == "" {
		return fmt.Errorf("accept %s: no aggregate", n.Kind)
	}
	if err := o.clock.load(tx); err != nil {
		return err
	}
	to, _, err := next(position{}, event{verb: accept})
	if err != nil {
		return err
	}
	r := row{
		key: string(n.Key), kind: n.Kind, aggregate: n.Aggregate, state: to.State, resume: to.Resume, note: n.Note,
		amount: n.AmountMin, currency: n.Currency, owner: n.Owner, trace: string(n.Trace), createdMS: o.now().UnixMilli(), acceptedRun: o.clock.run(), sentAge: -1,
	}
	if err := o.Seal(&n); err != nil {
		return err
	}
	r.digest, r.payload, r.dataKey = n.digest, n.sealed, n.dataKey
	if err := o.number(tx, &r); err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	fresh, err := o.insert(tx, &r)
	switch {
	case err != nil:
		return fmt.Errorf("accept %s: %w", n.Key, err)
	case !fresh:
		return o.same(tx, &n)
	}
	return o.changed(tx, &r)
}

// AcceptHeld is Accept for an operation that a person has to release first.
func (o *Outbox) AcceptHeld(tx store.Tx, n New, reason string) error {
	if err := o.Accept(tx, n); err != nil {
		return err
	}
	r, err := byKey(tx, n.Key)
	if err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	if r.state == Held {
		return nil
	}
	return o.hold(tx, &r, reason)
}

// Seal does the part of Accept that needs no Write, so that callers who wait for one do it side by
// side. Accept does it where it was not.
func (o *Outbox) Seal(n *New) (err error) {
	if n.digest != nil {
		return nil
	}
	n.digest = o.db.MAC("outbox_payload", string(n.Key), n.Kind, blob(n.Payload))
	if len(n.Payload) == 0 {
		return nil
	}
	if n.sealed, n.dataKey, err = o.db.SealOwn(nil, cell(string(n.Key), "payload"), n.Payload); err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	return nil
}

// number gives an operation its id. None is given twice, also not that of an operation that was
// purged: it is the order. There is no gap: a row that is missing was removed.
func (o *Outbox) number(tx store.Tx, r *row) error {
	if err := tx.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock), ?) + 1`, o.lastID).Scan(&r.id); err != nil {
		return err
	}
	if r.id%sumEvery != 0 {
		return nil
	}
	for _, q := range []string{
		`INSERT INTO outbox_sums SELECT kind, currency, state, COUNT(*), SUM(amount) FROM outbox_ops
			WHERE id > (SELECT summed_id FROM outbox_clock) GROUP BY kind, currency, state
			ON CONFLICT (kind, currency, state) DO UPDATE SET count = count + excluded.count, sum = sum + excluded.sum`,
		`UPDATE outbox_clock SET summed_id = (SELECT COALESCE(MAX(id), summed_id) FROM outbox_ops)`,
	} {
		if _, err := tx.Exec(q); err != nil {
			return err
		}
	}
	return nil
}

// same tells whether the operation that has the Key is this one.
func (o *Outbox) same(tx store.Tx, n *New) error {
	old, err := byKey(tx, n.Key)
	if err != nil {
		return fmt.Errorf("accept %s: %w", n.Key, err)
	}
	same := bytes.Equal(old.digest, n.digest) && old.aggregate == n.Aggregate && old.amount == n.AmountMin && old.currency == n.Currency ||
		// accepted before the digest was made ahead
		bytes.Equal(old.digest, o.db.MAC("outbox_accepted", string(n.Key), n.Kind, n.Aggregate, blob(n.Payload), n.AmountMin, n.Currency))
	if !same {
		return wire.Errorf(wire.KeyReused, "outbox.accept", "%s already names another operation", n.Key)
	}
	return nil
}
