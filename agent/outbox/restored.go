package outbox

import (
	"context"
	"fmt"

	"posagent/store"
)

// holdBatch is how many operations HoldRestored sets aside in one commit.
const holdBatch = 200

// HoldRestored sets aside everything that could be sent, for a journal that was put back from an earlier time (MONEY C.3); it returns
// how many. Whatever is released later counts as sent once, right after that time: it may have been, so it is never sent where the
// backend may have forgotten its Key, nor where that is no protection. Call it before Run; broken off, it may be called again.
func (o *Outbox) HoldRestored(ctx context.Context, reason string) (int, error) {
	held := 0
	var last int64
	for more := true; more; {
		n := 0
		err := o.db.Write(ctx, func(tx store.Tx) error {
			if err := o.clock.load(tx); err != nil {
				return err
			}
			rows, err := o.sendable(tx, last)
			if err != nil {
				return err
			}
			for i := range rows {
				if err := o.holdRestored(tx, &rows[i], reason); err != nil {
					return err
				}
				last = rows[i].id
			}
			n = len(rows)
			return nil
		})
		if err != nil {
			return held, fmt.Errorf("hold restored operations: %w", err)
		}
		held, more = held+n, n == holdBatch
	}
	return held, nil
}

// sendable reads the next operations that could be sent, in the order of their ids.
func (o *Outbox) sendable(r store.Reader, after int64) ([]row, error) {
	found, err := r.Query(`SELECT `+columns+` FROM outbox_ops WHERE id > ? AND +state IN ('PENDING', 'SENT') ORDER BY id LIMIT ?`, after, holdBatch)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []row
	for found.Next() {
		r, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, found.Err()
}

func (o *Outbox) holdRestored(tx store.Tx, r *row, reason string) error {
	err := o.verify(r)
	r.resume, r.state, r.reason = Sent, Held, reason
	if r.sentAge < 0 {
		r.sentAge = o.clock.stored()
	}
	if err != nil {
		r.reason = err.Error()
	}
	return o.save(tx, r)
}
