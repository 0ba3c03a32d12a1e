package journal

import (
	"context"
	"fmt"
	"time"

	"posagent/agent/outbox"
	"posagent/store"
)

const (
	purgeBatch = 50             // sales one commit deletes
	markEvery  = 24 * time.Hour // of running time between two marks
)

// agesSchema: how far the sales were at a moment of running time. A sale's own time is the wall
// clock's, which jumps.
func agesSchema() store.Step {
	return store.Step{Name: "checkout/4 ages", SQL: `
CREATE TABLE checkout_ages (
	run_ms INTEGER PRIMARY KEY, -- running time
	sale   INTEGER NOT NULL     -- the highest id at that moment
) STRICT;`}
}

// outlived is a sale that may go: it has ended, its batch is closed or it was never on one, and
// nothing open is about it. The newest stays, because the next one's id is above it.
const outlived = `id <= ? AND id < (SELECT MAX(id) FROM checkout_sales) AND active = 0 AND (receipt = 0 OR batch < ?)
	AND NOT EXISTS (SELECT 1 FROM checkout_aside a WHERE a.sale = checkout_sales.key AND a.closed_ms = 0)
	AND NOT EXISTS (SELECT 1 FROM checkout_sales o WHERE o.original = checkout_sales.key AND o.original != '' AND o.active = 1)`

// Purge notes how far the sales are now, once a day of running time, and deletes some of those that
// were there that much running time ago. The sums of their batches stay. more says that there may
// be more to delete; gone counts.
func (j *Journal) Purge(ctx context.Context, keep time.Duration) (gone int, more bool, err error) {
	var run, last, until int64
	var open int
	err = j.db.Read(ctx, func(r store.Reader) (err error) {
		if run, err = outbox.Running(r); err != nil {
			return err
		}
		if open, err = Batch(r); err != nil {
			return err
		}
		return r.QueryRow(`SELECT COALESCE((SELECT MAX(run_ms) FROM checkout_ages), -1),
			COALESCE((SELECT sale FROM checkout_ages WHERE run_ms <= ? ORDER BY run_ms DESC LIMIT 1), 0)`, run-keep.Milliseconds()).Scan(&last, &until)
	})
	if err != nil {
		return 0, false, fmt.Errorf("purge sales: %w", err)
	}
	var keys []string
	if until > 0 {
		if err := j.db.Read(ctx, func(r store.Reader) (err error) { keys, err = outlivedSales(r, until, open); return err }); err != nil {
			return 0, false, fmt.Errorf("purge sales: %w", err)
		}
	}
	if len(keys) == 0 && last >= 0 && run-last < markEvery.Milliseconds() {
		return 0, false, nil
	}
	err = j.db.Write(ctx, func(tx store.Tx) error {
		gone = 0
		for _, key := range keys {
			yes, err := j.purgeOne(tx, key, until, open)
			if err != nil {
				return err
			}
			if yes {
				gone++
			}
		}
		if _, err := tx.Exec(`INSERT INTO checkout_ages (run_ms, sale) SELECT ?1, COALESCE(MAX(id), 0) FROM checkout_sales
			WHERE NOT EXISTS (SELECT 1 FROM checkout_ages WHERE run_ms > ?1 - ?2)`, run, markEvery.Milliseconds()); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM checkout_ages WHERE sale < ?`, until)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("purge sales: %w", err)
	}
	return gone, gone == purgeBatch, nil
}

// outlivedSales finds the oldest sales that may go.
func outlivedSales(r store.Reader, until int64, open int) (keys []string, err error) {
	return store.Column[string](r, `SELECT key FROM checkout_sales WHERE `+outlived+` ORDER BY id LIMIT ?`, until, open, purgeBatch)
}

// purgeOne deletes a sale with its history if it may still go. One whose row was altered stays: it
// may be money that waits.
func (j *Journal) purgeOne(tx store.Tx, key string, until int64, open int) (gone bool, err error) {
	found, err := j.many(tx, `key = ? AND `+outlived, key, until, open)
	if err != nil || len(found) == 0 || found[0].altered {
		return false, err
	}
	if err := j.db.Shred(tx, "checkout_sales", key); err != nil {
		return false, err
	}
	if err := store.SetFloor(tx, "checkout_sales", found[0].ID); err != nil {
		return false, err
	}
	for _, q := range []string{
		`DELETE FROM checkout_entries WHERE sale = ?1`,
		`DELETE FROM checkout_aside WHERE sale = ?1`,
		`DELETE FROM checkout_names WHERE sale = ?1`,
		`DELETE FROM checkout_joined WHERE sale = ?1`,
		`DELETE FROM checkout_requests WHERE id = (SELECT id FROM checkout_sales WHERE key = ?1)`,
		`DELETE FROM checkout_sales WHERE key = ?1`,
	} {
		if _, err := tx.Exec(q, key); err != nil {
			return false, err
		}
	}
	return true, nil
}
