package journal

import (
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/schemes/wire"
	"posagent/store"
)

// ErrNotAside is the answer to a decision about a sale that waits for none.
var ErrNotAside = errors.New("the sale is not set aside")

// asideSchema: a sale in it is shown and never acted upon; closed_ms 0 = a person has yet to
// decide.
func asideSchema() store.Step {
	return store.Step{Name: "checkout/3 aside", SQL: `
CREATE TABLE checkout_aside (sale TEXT PRIMARY KEY, why TEXT NOT NULL, closed_ms INTEGER NOT NULL) STRICT;`}
}

// SetAside keeps the open sales of a journal that was put back from an earlier time from being
// resumed, in the caller's commit, and returns how many there are: they may have ended since, and
// been told and paid. Those that only read or only wait for the outbox are left: their operations
// are held there.
func SetAside(tx store.Tx, why string, now time.Time) (n int, err error) {
	rows, err := many(nil, tx, active+` ORDER BY id`)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		switch s := r.State; {
		case r.Aside != "", s.Phase == checkout.Confirmed, s.Phase == checkout.Forward, s.Phase == checkout.Reversing && s.UndoOpen:
			continue
		}
		if _, err := tx.Exec(`INSERT INTO checkout_aside (sale, why, closed_ms) VALUES (?, ?, 0)`, string(r.Key), why); err != nil {
			return n, fmt.Errorf("set aside %s: %w", r.Key, err)
		}
		if err := noteAt(tx, r.Key, true, "set aside: "+why, now); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TakeUp lets the next start resume a sale that was set aside, as if it had never ended: it is
// asked for and, unless it is approved, undone. ErrUnknown, ErrNotAside.
func TakeUp(tx store.Tx, id string, now time.Time) error {
	if err := waits(tx, id); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM checkout_aside WHERE sale = ?`, id); err != nil {
		return fmt.Errorf("take up %s: %w", id, err)
	}
	return noteAt(tx, wire.Key(id), true, "taken up again by hand", now)
}

// CloseAside ends the wait of a sale that was set aside: it stays as it is and counts as settled.
// ErrUnknown, ErrNotAside.
func CloseAside(tx store.Tx, id, note string, now time.Time) error {
	if err := waits(tx, id); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE checkout_aside SET closed_ms = ? WHERE sale = ?`, max(now.UnixMilli(), 1), id); err != nil {
		return fmt.Errorf("close %s: %w", id, err)
	}
	return noteAt(tx, wire.Key(id), true, "closed by hand: "+note, now)
}

func waits(tx store.Tx, id string) error {
	r, err := scan(store.Keyed(tx), tx.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, id))
	if err == nil && (r.Aside == "" || r.Closed) {
		err = ErrNotAside
	}
	if err != nil {
		return fmt.Errorf("sale %s: %w", id, err)
	}
	return nil
}

// SalesAfter lists sales in the order they began, those with an id above after.
func SalesAfter(r store.Reader, after int64, limit int) ([]*Row, error) {
	return many(nil, r, `checkout_sales.id > ? ORDER BY id LIMIT ?`, after, limit)
}

// History reads the entries of a sale, by its Key.
func History(r store.Reader, sale wire.Key) ([]Entry, error) {
	return readEntries(r, `sale = ? ORDER BY id`, string(sale))
}
