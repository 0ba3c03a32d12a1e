package drive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/ecr"
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

// lastLost is the counter with the highest id of a sale that this journal had when it took a lost one's place.
const lastLost = "last_lost"

// KeepLast remembers which sales this journal has from before it took a lost one's place, in the caller's commit: the newest of a
// line need not be what its register asked for last.
func KeepLast(tx store.Tx) error {
	n, err := Given(tx)
	if err != nil {
		return err
	}
	return setCounter(tx, lastLost, n.Sale)
}

// unsaid is the refusal of a register that asks for what this journal does not have and a lost one may have made; nil = no journal
// was lost.
func unsaid(r store.Reader) error {
	l, ok, err := store.LostIn(r)
	if err != nil || !ok {
		return err
	}
	return refuse(ecr.SystemError, "the journal was replaced on %s: compare the backend's portal", time.UnixMilli(l.AtMS).UTC().Format(time.DateOnly))
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
