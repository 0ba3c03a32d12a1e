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

// SetAside holds the open sales of a journal that took another's place, in the caller's commit, and
// returns how many there are: they may have ended since, and been told and paid. Those that are only
// watched, or only wait for the outbox, are left: their operations are held there. An altered row is
// not written to.
func SetAside(tx store.Tx, db store.DB, why string, now time.Time) (n int, err error) {
	rows, err := many(db, tx, active+` ORDER BY id`)
	if err != nil {
		return 0, err
	}
	j := New(Options{DB: db, Now: func() time.Time { return now }})
	for _, r := range rows {
		switch {
		case r.Aside != "":
			continue
		case r.altered:
			err = setAside(tx, r, why, now)
		default:
			err = j.Hold(tx, r, why)
		}
		if err != nil {
			return n, fmt.Errorf("set aside %s: %w", r.Key, err)
		}
		if r.Aside != "" {
			n++
		}
	}
	return n, nil
}

// Hold holds a sale in the caller's commit.
func (j *Journal) Hold(tx store.Tx, r *Row, why string) error {
	_, err := j.Transit(tx, r, checkout.Event{Name: checkout.Restored, Text: why})
	return err
}

// HoldOlder holds a sale that an earlier program set aside without holding it.
func (j *Journal) HoldOlder(tx store.Tx, r *Row) error {
	if r.altered {
		return nil
	}
	return j.Hold(tx, r, r.Aside)
}

// holds keeps the table of what waits for a person: what is held is in it, what is not held any more
// is out of it.
func (j *Journal) holds(tx store.Tx, before, r *Row, e checkout.Event) error {
	was, is := before.State.Phase == checkout.Held, r.State.Phase == checkout.Held
	switch {
	case is && r.Aside == "":
		return setAside(tx, r, e.Text, j.opt.Now())
	case was && !is:
		if _, err := tx.Exec(`DELETE FROM checkout_aside WHERE sale = ?`, string(r.Key)); err != nil {
			return fmt.Errorf("end what is set aside: %w", err)
		}
		r.Aside = ""
		if err := j.counts(tx, r); err != nil {
			return err
		}
	}
	r.judge()
	return nil
}

// counts lets an approval that a person has let count do so in the open day. The day of its receipt was
// closed without it as the journal took another's place. The receipt keeps its number.
func (j *Journal) counts(tx store.Tx, r *Row) error {
	open, err := Batch(tx)
	if err != nil || r.Receipt == 0 || r.Batch == open || !r.Good() {
		return err
	}
	text := fmt.Sprintf("receipt %d of batch %d counts in batch %d", r.Receipt, r.Batch, open)
	r.Batch = open
	return j.Note(tx, r.Key, false, text)
}

func setAside(tx store.Tx, r *Row, why string, now time.Time) error {
	if _, err := tx.Exec(`INSERT INTO checkout_aside (sale, why, closed_ms) VALUES (?, ?, 0)`, string(r.Key), why); err != nil {
		return fmt.Errorf("set aside %s: %w", r.Key, err)
	}
	r.Aside = why
	r.judge()
	return noteAt(tx, r.Key, true, "set aside: "+why, now)
}

// TakeUp lets a sale that is set aside go on: the next start asks for it, and it ends as the backend
// says. It is never undone. ErrUnknown, ErrNotAside, ErrQuarantined where its row is altered.
func TakeUp(tx store.Tx, db store.DB, id string, now time.Time) error {
	r, err := waits(tx, id)
	if err != nil {
		return err
	}
	if r.altered {
		return fmt.Errorf("take up %s: %w", id, ErrQuarantined)
	}
	j := New(Options{DB: db, Now: func() time.Time { return now }})
	if r.State.Phase != checkout.Held {
		if err := j.Hold(tx, r, r.Aside); err != nil {
			return err
		}
	}
	if _, err := j.Transit(tx, r, checkout.Event{Name: checkout.Released}); err != nil {
		return err
	}
	return noteAt(tx, r.Key, true, "let go on by hand", now)
}

// CloseAside ends the wait of a sale that was set aside: it stays as it is and counts as settled, one
// that was approved in the open day. ErrUnknown, ErrNotAside.
func CloseAside(tx store.Tx, db store.DB, id, note string, now time.Time) error {
	r, err := waits(tx, id)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE checkout_aside SET closed_ms = ? WHERE sale = ?`, max(now.UnixMilli(), 1), id); err != nil {
		return fmt.Errorf("close %s: %w", id, err)
	}
	if r.Closed = true; r.Good() {
		j := New(Options{DB: db, Now: func() time.Time { return now }})
		if err := errors.Join(j.counts(tx, r), j.Update(tx, r)); err != nil {
			return fmt.Errorf("close %s: %w", id, err)
		}
	}
	return noteAt(tx, wire.Key(id), true, "closed by hand: "+note, now)
}

func waits(tx store.Tx, id string) (*Row, error) {
	r, err := scan(store.Keyed(tx), tx.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, id))
	if err == nil && (r.Aside == "" || r.Closed) {
		err = ErrNotAside
	}
	if err != nil {
		return nil, fmt.Errorf("sale %s: %w", id, err)
	}
	return r, nil
}

// SalesAfter lists sales in the order they began, those with an id above after.
func SalesAfter(r store.Reader, after int64, limit int) ([]*Row, error) {
	return many(nil, r, `checkout_sales.id > ? ORDER BY id LIMIT ?`, after, limit)
}

// History reads the entries of a sale, by its Key.
func History(r store.Reader, sale wire.Key) ([]Entry, error) {
	return readEntries(r, `sale = ? ORDER BY id`, string(sale))
}
