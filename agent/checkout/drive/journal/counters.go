package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

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

// Receipts are the receipt numbers of the open batch.
type Receipts struct {
	Batch int
	Used  int // given, or kept for a sale that runs
	Left  int // for further sales
}

// fewReceipts is how many numbers are few: a busy terminal uses them up in days.
const fewReceipts = 999

// Few says that the batch should be closed soon: at its end every sale is refused.
func (n Receipts) Few() bool { return n.Left <= fewReceipts }

// Said says for people how many numbers are used.
func (n Receipts) Said() string {
	return fmt.Sprintf("%d of the %d receipt numbers of the open batch are used", n.Used, receiptsInBatch)
}

// ReceiptsOf counts the receipt numbers of the open batch.
func ReceiptsOf(r store.Reader) (n Receipts, err error) {
	if n.Batch, err = Batch(r); err != nil {
		return n, err
	}
	var given, running int
	if err := r.QueryRow(`SELECT COUNT(*) FROM checkout_sales WHERE batch = ? AND receipt != 0`, n.Batch).Scan(&given); err != nil {
		return n, fmt.Errorf("count receipts: %w", err)
	}
	if err := r.QueryRow(`SELECT COUNT(*) FROM checkout_sales WHERE active = 1 AND receipt = 0`).Scan(&running); err != nil {
		return n, fmt.Errorf("count sales: %w", err)
	}
	n.Used, n.Left = given+running, max(0, receiptsInBatch-given-running)
	return n, nil
}

// FirstReceipt is when the oldest sale with a receipt of the open batch began, by the wall clock. It
// returns ErrUnknown where the batch has no receipt.
func FirstReceipt(r store.Reader) (time.Time, error) {
	open, err := Batch(r)
	if err != nil {
		return time.Time{}, err
	}
	var ms int64
	err = r.QueryRow(`SELECT COALESCE((SELECT created_ms FROM checkout_sales WHERE id =
		(SELECT MIN(id) FROM checkout_sales WHERE batch = ? AND receipt != 0)), -1)`, open).Scan(&ms)
	if err == nil && ms < 0 {
		err = ErrUnknown
	}
	return time.UnixMilli(ms), err
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
