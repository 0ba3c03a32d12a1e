package drive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/store"
)

// Numbers are the last ones that were given, and the highest id of a sale. Zero = none was.
type Numbers struct{ Receipt, Trace, Batch, Sale int64 }

// Given reads the numbers of the journal.
func Given(r store.Reader) (n Numbers, err error) {
	err = r.QueryRow(`SELECT COALESCE((SELECT value FROM checkout_counters WHERE name = 'receipt'), 0),
		COALESCE((SELECT value FROM checkout_counters WHERE name = 'trace'), 0),
		COALESCE((SELECT value FROM checkout_counters WHERE name = 'batch'), 1),
		COALESCE((SELECT MAX(id) FROM checkout_sales), 0)`).Scan(&n.Receipt, &n.Trace, &n.Batch, &n.Sale)
	if err != nil {
		return n, fmt.Errorf("numbers given: %w", err)
	}
	return n, nil
}

// GoOn closes the open batch and lets receipt, trace and batch numbers go on behind those that an earlier journal of the terminal
// had given, in the caller's commit: what that journal gave is on slips that this one may not hold.
func GoOn(tx store.Tx, db store.DB, seen Numbers, now time.Time) error {
	if seen == (Numbers{}) {
		return nil
	}
	d := New(Options{DB: db, Now: func() time.Time { return now }})
	open, err := batch(tx)
	if err != nil {
		return err
	}
	if err := d.closeUntold(tx, open); err != nil {
		return fmt.Errorf("close batch %d: %w", open, err)
	}
	return errors.Join(
		setCounter(tx, "receipt", seen.Receipt),
		setCounter(tx, "trace", seen.Trace),
		setCounter(tx, "batch", max(seen.Batch, int64(open))+1),
	)
}

// closeUntold closes a batch without a register that asked for it. One without receipts leaves no report.
func (d *Drive) closeUntold(tx store.Tx, open int) error {
	sales, err := many(d.db, tx, `batch = ? AND receipt != 0 ORDER BY id`, open)
	if err != nil || len(sales) == 0 {
		return err
	}
	d.cfg.Currency = sales[0].Currency
	totals, err := d.totals(tx)
	if err != nil {
		return err
	}
	report, err := json.Marshal(totals)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO checkout_batches (number, closed_ms, report) VALUES (?, ?, ?)`, open, d.now().UnixMilli(), report); err != nil {
		return err
	}
	for _, r := range sales {
		if r.Quarantined || r.State.Phase != checkout.Confirmed {
			continue
		}
		if _, err := d.transit(tx, r, checkout.Event{Name: checkout.BatchClosed}); err != nil {
			return err
		}
	}
	return nil
}
