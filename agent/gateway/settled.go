package gateway

import (
	"encoding/json"
	"fmt"
	"strings"

	"posagent/agent/outbox"
	"posagent/store"
)

// settle keeps the totals and the ids, in the commit that ends an operation. What came to nothing is an alert from then on, until its
// caller has heard it (finalAnswer).
func (f *Front) settle(tx store.Tx, b *bound, op outbox.Op) error {
	if !op.State.Final() {
		return nil // it is stored still
	}
	if _, _, err := addTotals(tx, op.Currency, -1, -b.bounded(op.AmountMin)); err != nil {
		return err
	}
	if k := keptOf(op); b.Makes && op.State == outbox.Done && k.Made != "" {
		return f.nameThing(tx, b, op.Key, k.Made)
	}
	if !nothingCame(op) {
		return nil
	}
	_, subject, _ := strings.Cut(op.Aggregate, "/")
	return f.box.Alert(tx, op, subject, shortOf(op))
}

// purged deletes what is kept of an operation that is deleted: the digest of its body, and the local id of what was withdrawn. Every other
// thing keeps its local id for ever, with how it ended where it never came to be, and a client's Idempotency-Key what became of its operation.
func (f *Front) purged(tx store.Tx, op outbox.Op) error {
	var err error
	if b := f.rows[op.Kind]; b.Makes {
		err = f.keepThing(tx, b, op)
	}
	if err == nil {
		err = f.keepEnded(tx, op)
	}
	if err != nil {
		return fmt.Errorf("purge ids and keys: %w", err)
	}
	return nil
}

// keepThing keeps what an operation made without it, or deletes what was withdrawn.
func (f *Front) keepThing(tx store.Tx, b *bound, op outbox.Op) error {
	if !keptOf(op).Withdrawn {
		t, found, err := f.made(tx, b, op.Key)
		if err != nil || !found || t.backend != "" {
			return err
		}
		return f.keepEnd(tx, op, t)
	}
	where, args := b.made(op.Key) // what stands beside the operation goes with it
	where += ` AND backend = ''`
	_, err := tx.Exec(`UPDATE offline_purged SET thing = MAX(thing, COALESCE((SELECT MAX(id) FROM offline_things WHERE `+where+`), 0))`, args...)
	if err == nil {
		_, err = tx.Exec(`DELETE FROM offline_things WHERE `+where, args...)
	}
	return err
}

// keepEnd notes at a thing without an id of the backend's how the operation ended that was to make it.
func (f *Front) keepEnd(tx store.Tx, op outbox.Op, t thing) error {
	shown := map[string]any{}
	if t.seen != "" {
		if err := json.Unmarshal([]byte(t.seen), &shown); err != nil {
			return fmt.Errorf("purge %s: %w", t.local, err)
		}
	}
	shown["ended"] = endOf(op)
	text, err := json.Marshal(shown)
	switch t.seen = string(text); {
	case err == nil && t.young:
		err = f.grow(tx, t)
	case err == nil:
		_, err = tx.Exec(`UPDATE offline_things SET seen = ? WHERE about = ? AND local = ?`, t.seen, t.about, t.local)
	}
	if err != nil {
		return fmt.Errorf("purge %s: %w", t.local, err)
	}
	return nil
}
