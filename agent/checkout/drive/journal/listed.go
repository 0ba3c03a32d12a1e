package journal

import (
	"fmt"

	"posagent/store"
)

// Stage says how far a sale is.
type Stage string

// The stages.
const (
	Running Stage = "running" // not decided yet
	Ended   Stage = "ended"   // decided, whatever is still being undone
	Unheard Stage = "unheard" // approved, and its register has not acknowledged that
	Open    Stage = "open"    // not at its end: something can still happen to it
)

// Which names sales of a list.
type Which struct {
	OneLine bool
	Line    string // where OneLine is set
	Stage   Stage  // "" = any
	SinceMS int64  // unix ms, by the wall clock of the time; 0 = any
	Before  int64  // of Row.ID; 0 = the newest
	Limit   int    // <= 0 means 50
}

// Listed lists sales, the newest first. Rows are verified where r comes from a store with a key.
func Listed(r store.Reader, w Which) ([]*Row, error) {
	where, args := `1 = 1`, []any{}
	add := func(text string, values ...any) { where, args = where+` AND `+text, append(args, values...) }
	if w.OneLine {
		add(`line = ?`, w.Line)
	}
	switch w.Stage {
	case Running:
		add(`active = 1 AND decided_ms = 0`)
	case Ended:
		add(`decided_ms != 0`)
	case Open:
		add(active)
	case Unheard:
		add(`active = 1 AND phase = 'UNCONFIRMED'`)
	}
	if w.SinceMS > 0 {
		add(`created_ms >= ?`, w.SinceMS)
	}
	if w.Before > 0 {
		add(`checkout_sales.id < ?`, w.Before)
	}
	if w.Limit <= 0 {
		w.Limit = 50
	}
	return many(nil, r, where+` ORDER BY checkout_sales.id DESC LIMIT ?`, append(args, w.Limit)...)
}

// Named reads the newest sale that a line asked for, or joined, under an id of its own. It returns
// ErrUnknown.
func Named(r store.Reader, line, sequence string) (*Row, error) {
	rows, err := many(nil, r, newestOf(bySequence), line, sequence)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("sale %s of %s: %w", sequence, line, ErrUnknown)
	}
	if err != nil {
		return &Row{}, err
	}
	return rows[0], nil
}

// LineOfReceipt is the line of the payment with a receipt number, in a batch or, where it is 0, in
// the newest that has one; "" = there is none.
func LineOfReceipt(r store.Reader, batch, receipt int) (line string, err error) {
	const newest = `SELECT COALESCE((SELECT line FROM checkout_sales WHERE batch = ? AND receipt = ? AND receipt != 0 ORDER BY id DESC LIMIT 1), '')`
	if batch != 0 {
		err = r.QueryRow(newest, batch, receipt).Scan(&line)
	} else {
		err = r.QueryRow(`SELECT COALESCE((SELECT line FROM checkout_sales WHERE receipt = ? AND receipt != 0 AND kind = 'payment' ORDER BY id DESC LIMIT 1), '')`, receipt).Scan(&line)
	}
	if err != nil {
		return "", fmt.Errorf("line of receipt %d: %w", receipt, err)
	}
	return line, nil
}

// LineOfTransaction is the line of the payment with a transactionId, the one that ByTransactionID finds; "" = there is none.
func LineOfTransaction(r store.Reader, id int64) (line string, err error) {
	rows, err := ofTransaction(nil, r, id)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].Line, nil
}
