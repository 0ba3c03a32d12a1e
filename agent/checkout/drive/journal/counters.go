package journal

import (
	"database/sql"
	"errors"
	"fmt"

	"posagent/store"
)

const (
	receiptsInBatch = 9999
	lastTrace       = 999999
)

// counter reads a counter, or start where there is none.
func counter(r store.Reader, name string, start int64) (int64, error) {
	var n int64
	err := r.QueryRow(`SELECT value FROM checkout_counters WHERE name = ?`, name).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return start, nil
	}
	if err != nil {
		return 0, fmt.Errorf("counter %s: %w", name, err)
	}
	return n, nil
}

func setCounter(tx store.Tx, name string, n int64) error {
	_, err := tx.Exec(`INSERT INTO checkout_counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, n)
	if err != nil {
		return fmt.Errorf("counter %s: %w", name, err)
	}
	return nil
}

// Batch is the number of the open batch.
func Batch(r store.Reader) (int, error) {
	n, err := counter(r, "batch", 1)
	return int(n), err
}

// giveReceipt gives receipt and trace numbers, with the outcome and in its commit.
func (j *Journal) giveReceipt(tx store.Tx, r *Row) error {
	open, err := Batch(tx)
	if err != nil {
		return err
	}
	last, err := counter(tx, "receipt", 0)
	if err != nil {
		return err
	}
	for range receiptsInBatch {
		last = last%receiptsInBatch + 1
		var used int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM checkout_sales WHERE `+byReceipt, open, last).Scan(&used); err != nil {
			return fmt.Errorf("receipt of %s: %w", r.Key, err)
		}
		if used == 0 {
			break
		}
	}
	r.Receipt, r.Batch = int(last), open
	if err := setCounter(tx, "receipt", last); err != nil {
		return err
	}
	r.Trace, err = nextTrace(tx)
	return err
}

func nextTrace(tx store.Tx) (int, error) {
	n, err := counter(tx, "trace", 0)
	if err != nil {
		return 0, err
	}
	n = n%lastTrace + 1
	return int(n), setCounter(tx, "trace", n)
}

// NoReceipt says that a number is not one that a batch can have given.
func NoReceipt(n int) bool { return n <= 0 || n > receiptsInBatch }
