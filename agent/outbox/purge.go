package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/store"
)

const (
	purgeEvery = time.Hour              // of running time
	purgePause = 100 * time.Millisecond // between two batches: others want to write too
	purgeBatch = 50                     // operations one commit deletes
)

// finalForLong says that an operation and all others of its aggregate are final, and have been for the
// whole retention. A thing's operations go together: half of a payment's history would tell wrong
// sums.
var finalForLong = ` open = 0 AND NOT EXISTS (SELECT 1 FROM outbox_ops b WHERE ` + inLine(`a.aggregate`, ``) + ` AND (b.open = 1 OR b.settled_run > ?))`

// purge deletes some of what was final for longer than the retention, with what its kind keeps of
// it; more says that there is more. The store truncates its log by itself when a data key was
// destroyed, as it is here with each row.
func (o *Outbox) purge(ctx context.Context) (more bool, err error) {
	limit := o.clock.run() - o.keep.Milliseconds()
	if limit < 0 {
		return false, nil
	}
	var ids []int64
	if err := o.db.Read(ctx, func(r store.Reader) error {
		ids, err = o.outlived(r, limit)
		return err
	}); err != nil {
		return false, fmt.Errorf("purge operations: %w", err)
	}
	if len(ids) == 0 {
		return false, nil
	}
	gone := 0
	err = o.db.Write(ctx, func(tx store.Tx) error {
		gone = 0
		for _, id := range ids {
			n, err := o.purgeOne(tx, id, limit)
			if err != nil {
				return err
			}
			gone += n
		}
		return o.clock.save(tx) // the operation that showed how late it is may be among them
	})
	if err != nil {
		return false, fmt.Errorf("purge operations: %w", err)
	}
	o.log.Info("operations purged", "count", gone)
	return true, nil
}

// outlived finds the oldest operations that may go, by the index of their states.
func (o *Outbox) outlived(r store.Reader, limit int64) (ids []int64, err error) {
	lines, err := Report(r)
	if err != nil {
		return nil, err
	}
	seen := map[group]bool{}
	for _, l := range lines {
		g := group{l.Kind, l.State}
		if !l.State.Final() || seen[g] {
			continue
		}
		seen[g] = true
		if ids, err = g.outlived(r, limit, ids); err != nil || len(ids) >= purgeBatch {
			return ids, err
		}
	}
	return ids, nil
}

func (g group) outlived(r store.Reader, limit int64, ids []int64) ([]int64, error) {
	more, err := store.Column[int64](r, `SELECT id FROM outbox_ops a WHERE state = ? AND kind = ? AND accepted_run <= ? AND`+finalForLong+` ORDER BY accepted_run LIMIT ?`,
		string(g.state), g.kind, limit, limit, purgeBatch-len(ids))
	return append(ids, more...), err
}

// purgeOne deletes one operation if nothing has changed. One whose row was altered may be money
// that waits: it is held instead.
func (o *Outbox) purgeOne(tx store.Tx, id, limit int64) (int, error) {
	r, err := scan(tx.QueryRow(`SELECT `+columns+` FROM outbox_ops a WHERE id = ? AND`+finalForLong, id, limit))
	if errors.Is(err, ErrUnknown) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := o.verify(&r); err != nil {
		r.reason = err.Error()
		_, err := o.apply(tx, &r, event{verb: distrust})
		return 0, err
	}
	if k := o.kinds[r.kind]; k != nil && k.Purged != nil {
		if err := k.Purged(tx, r.op()); err != nil {
			return 0, fmt.Errorf("%s: %w", r.key, err)
		}
	}
	if err := o.db.Shred(tx, table, r.key); err != nil {
		return 0, err
	}
	if err := store.SetFloor(tx, table, id); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`DELETE FROM outbox_ops WHERE id = ?`, id)
	return 1, err
}
