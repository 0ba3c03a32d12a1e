package journal

import (
	"fmt"
	"math"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// Entry is one line of a sale's history, in plain words.
type Entry struct {
	AtMS int64 // unix ms, by the wall clock of the time
	Loud bool  // the merchant has to know
	Text string
}

// quarantineMark begins the entry of a sale whose row does not verify.
const quarantineMark = "quarantined"

// Sales lists the newest sales first; limit <= 0 means 50. Rows are verified where r comes from a
// store with a key.
func Sales(r store.Reader, limit int) ([]*Row, error) {
	if limit <= 0 {
		limit = 50
	}
	return many(nil, r, `1 = 1 ORDER BY id DESC LIMIT ?`, limit)
}

// SalesAndOpen reads the newest sales, and behind them the older ones that are open, whatever came since: the newest first.
func SalesAndOpen(r store.Reader, newest int) ([]*Row, error) {
	rows, err := Sales(r, newest)
	if err != nil || len(rows) < newest {
		return rows, err
	}
	older, err := Listed(r, Which{Stage: Open, Before: rows[len(rows)-1].ID, Limit: math.MaxInt32})
	return append(rows, older...), err
}

// Show reads one sale, named by its Key, and its history. ErrUnknown.
func Show(r store.Reader, id string) (*Row, []Entry, error) {
	row, err := scan(store.Keyed(r), r.QueryRow(`SELECT `+saleColumns+` FROM `+saleTables+` WHERE key = ?`, id))
	if err != nil {
		return &Row{}, nil, fmt.Errorf("sale %s: %w", id, err)
	}
	entries, err := readEntries(r, `sale = ? ORDER BY id`, id)
	for _, e := range entries { // what the running program found
		row.Quarantined = row.Quarantined || strings.HasPrefix(e.Text, quarantineMark)
	}
	return row, entries, err
}

func readEntries(r store.Reader, where string, args ...any) (out []Entry, err error) {
	err = store.Each(r, func(row store.Row) error {
		var e Entry
		var loud int64
		err := row.Scan(&e.AtMS, &loud, &e.Text)
		e.Loud = loud != 0
		out = append(out, e)
		return err
	}, `SELECT at_ms, loud, text FROM checkout_entries WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return out, nil
}

// Note appends to a sale's history.
func (j *Journal) Note(tx store.Tx, sale wire.Key, loud bool, text string) error {
	return noteAt(tx, sale, loud, text, j.opt.Now())
}

func noteAt(tx store.Tx, sale wire.Key, loud bool, text string, now time.Time) error {
	b, err := Batch(tx)
	if err != nil {
		return err
	}
	n := 0
	if loud {
		n = 1
	}
	_, err = tx.Exec(`INSERT INTO checkout_entries (sale, at_ms, batch, loud, text) VALUES (?, ?, ?, ?, ?)`,
		string(sale), now.UnixMilli(), b, n, text)
	if err != nil {
		return fmt.Errorf("note %s: %w", sale, err)
	}
	return nil
}

// describe says what a step did; "" = nothing worth a line.
func describe(before, after *Row, e checkout.Event) string {
	b, s := before.State, after.State
	if b.Phase == s.Phase {
		switch {
		case !b.Plain && s.Plain:
			return "the backend has no idempotent route: sent once on the plain one"
		case s.Sends > b.Sends:
			return fmt.Sprintf("initialize, attempt %d, under the same Key", s.Sends)
		case !b.LastRead && s.LastRead:
			return s.Text + ": asking once more"
		case s.UndoTries > b.UndoTries:
			return fmt.Sprintf("undo, attempt %d", s.UndoTries)
		case b.UndoOpen && !s.UndoOpen && e.Undone.OK:
			return "the backend says that it is undone, and did not know it a read before: no proof"
		case b.UndoOpen && !s.UndoOpen:
			return "the undo was not accepted: " + orNothing(e.Undone.Text)
		case !b.Missing && s.Missing:
			return "the backend knew it and does not find it now: this proves nothing"
		case b.Missing && !s.Missing:
			return "the backend finds it again: " + orNothing(string(s.Wire))
		case b.Wire != s.Wire:
			return "the backend says " + orNothing(string(s.Wire))
		case !b.Committed && s.Committed:
			return "the backend says COMMIT"
		case b.Shown && !s.Shown:
			return "the code leaves the screen"
		case !b.Shown && s.Shown:
			return "the code is shown"
		}
		return ""
	}
	switch s.Phase {
	case checkout.Initializing:
		return "initialize"
	case checkout.Waiting:
		if s.Unheard {
			return "no answer to initialize: asking for its status"
		}
		return "live at the backend"
	case checkout.Aborting:
		return "abort asked for by the register"
	case checkout.Approved:
		return fmt.Sprintf("approved, receipt %d, trace %d", after.Receipt, after.Trace)
	case checkout.Unconfirmed:
		return "no acknowledgement from the register"
	case checkout.Held:
		return "held: the backend is asked, nothing is sent or undone"
	case checkout.Confirmed:
		if b.Phase == checkout.Held {
			return "kept: the backend says that it was paid"
		}
		return "acknowledged by the register"
	case checkout.Declined:
		return "declined: " + s.Text
	case checkout.Reversing:
		return "to be undone: " + s.Text
	case checkout.Done:
		switch {
		case after.Kind != ecr.Payment && s.Result == ecr.Approved:
			return fmt.Sprintf("done, receipt %d, trace %d", after.Receipt, after.Trace)
		case after.Kind != ecr.Payment && b.Phase == checkout.Forward:
			return "refused by the backend: " + orNothing(e.Undone.Text)
		case b.Phase == checkout.Reversing:
			return "undone: proven that the merchant keeps no money"
		case b.Phase == checkout.Confirmed:
			return "batch closed"
		}
		return "ended: " + orNothing(s.Text)
	}
	return string(s.Phase)
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Waiting reads the sales that Unsettled counts, the oldest first; at most limit.
func Waiting(r store.Reader, limit int) ([]*Row, error) {
	return many(nil, r, active+` ORDER BY checkout_sales.id LIMIT ?`, limit)
}

// Altered reads the sales that do not verify, among all that are open, whatever came since, and the newest
// ones. What is set aside is not among them. Without a key nothing can be verified.
func Altered(r store.Reader) (list []*Row, err error) {
	rows, err := SalesAndOpen(r, looked)
	for _, row := range rows {
		if row.Quarantined && row.Aside == "" {
			list = append(list, row)
		}
	}
	return list, err
}

// Unsettled counts the sales that something can still happen to.
func Unsettled(r store.Reader) (n int, err error) {
	if err := r.QueryRow(`SELECT COUNT(*) FROM checkout_sales WHERE active = 1 AND key NOT IN (SELECT sale FROM checkout_aside WHERE closed_ms != 0)`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count sales: %w", err)
	}
	return n, nil
}

// Beyond counts the sales that another journal does not have, from the newest back to the first that both have.
func Beyond(r, other store.Reader) (n int, err error) {
	if n, err = store.Beyond(r, other, `SELECT key FROM checkout_sales ORDER BY id DESC`, `SELECT COUNT(*) FROM checkout_sales WHERE key = ?`); err != nil {
		return 0, fmt.Errorf("compare sales: %w", err)
	}
	return n, nil
}
