package outbox

import (
	"context"
	"errors"
	"fmt"

	"posagent/store"
)

// atOnce is how many operations one commit of these verbs changes: others want to write too.
const atOnce = 100

// SendAll tries at once everything that waits, its back-off or its service's, and returns how many
// operations that is; what is behind another one in its aggregate follows it.
func (o *Outbox) SendAll(ctx context.Context) (due int, err error) {
	err = o.db.Write(ctx, func(tx store.Tx) error {
		if err := o.clock.load(tx); err != nil {
			return err
		}
		run := o.clock.run()
		o.Online() // what is under way now is tried again whatever it finds
		for _, kind := range o.order {
			if _, err := tx.Exec(`UPDATE outbox_ops SET next_run = ? WHERE ready = 1 AND kind = ? AND next_run > ?`, run, kind, run); err != nil {
				return err
			}
		}
		var err error
		if due, err = Waiting(tx); err == nil && o.audit != nil {
			err = o.audit(tx, "operation.send", "all", fmt.Sprintf("%d due", due), 0, "")
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("send all operations: %w", err)
	}
	o.Online()
	return due, nil
}

// HoldEach is HoldAll in commits of its own. On an error what was held so far stays held.
func (o *Outbox) HoldEach(ctx context.Context, reason string) (held int, err error) {
	for last := int64(0); ; {
		n, from := 0, last
		err := o.db.Write(ctx, func(tx store.Tx) (err error) {
			last = from
			n, err = o.holdSome(tx, reason, &last, atOnce)
			return err
		})
		if err != nil {
			return held, fmt.Errorf("hold all operations: %w", err)
		}
		if held += n; n < atOnce {
			return held, nil
		}
	}
}

// ReleaseEach releases everything that is held, besides what was altered: that stays where it is.
// From then on a restored journal is trusted to know what was asked of it (Forgotten).
func (o *Outbox) ReleaseEach(ctx context.Context) (released int, err error) {
	for last := int64(0); ; {
		n, seen, from := 0, 0, last
		err := o.db.Write(ctx, func(tx store.Tx) error {
			n, seen, last = 0, 0, from
			if err := o.clock.load(tx); err != nil {
				return err
			}
			for ; seen < atOnce; seen++ {
				r, err := scan(tx.QueryRow(`SELECT `+columns+` FROM outbox_ops WHERE state = 'HELD' AND id > ? ORDER BY id LIMIT 1`, last))
				if errors.Is(err, ErrUnknown) {
					return nil
				}
				if err != nil {
					return err
				}
				if last = r.id; o.verify(&r) != nil {
					continue
				}
				r.reason = ""
				if _, err := o.apply(tx, &r, event{verb: release}); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return released, fmt.Errorf("release all operations: %w", err)
		}
		if released += n; seen == atOnce {
			continue
		}
		if err := o.db.Write(ctx, func(tx store.Tx) error {
			trusted, err := tx.Exec(`UPDATE outbox_clock SET restored_age = -1 WHERE restored_age >= 0`)
			if err != nil || o.audit == nil {
				return err
			}
			n, err := trusted.RowsAffected()
			if err == nil && n > 0 { // it lets writes go that are still to come
				err = o.audit(tx, "operation.release", "all", fmt.Sprintf("%d released; repeats of the journal before this one are held no more", released), 0, "")
			}
			return err
		}); err != nil {
			return released, fmt.Errorf("release all operations: %w", err)
		}
		o.Wake()
		return released, nil
	}
}
