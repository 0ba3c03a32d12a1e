package outbox

import (
	"fmt"

	"posagent/store"
)

// Line is one line of the reconciliation report.
type Line struct {
	Kind     string
	Currency string
	State    State
	Count    int64
	Sum      int64 // minor units
}

// Report counts and sums the operations per kind, currency and state. It needs no Outbox, so that a command can
// read beside a running daemon.
func Report(r store.Reader) ([]Line, error) {
	return figures(r, `SELECT kind, currency, state, SUM(count), SUM(sum) FROM (SELECT * FROM outbox_sums UNION ALL
		SELECT kind, currency, state, 1, amount FROM outbox_ops WHERE id > (SELECT summed_id FROM outbox_clock))
		GROUP BY kind, currency, state HAVING SUM(count) <> 0 ORDER BY kind, currency, state`)
}

// Purged is the same of what was deleted after its retention: with Report it is everything that was ever accepted.
func Purged(r store.Reader) ([]Line, error) {
	return figures(r, `SELECT kind, currency, state, count, sum FROM outbox_purged ORDER BY kind, currency, state`)
}

func figures(r store.Reader, query string) (list []Line, err error) {
	err = store.Each(r, func(row store.Row) error {
		var l Line
		err := row.Scan(&l.Kind, &l.Currency, &l.State, &l.Count, &l.Sum)
		list = append(list, l)
		return err
	}, query)
	if err != nil {
		return nil, fmt.Errorf("report operations: %w", err)
	}
	return list, nil
}

// Unfinished counts the operations that are not at their end.
func Unfinished(r store.Reader) (n int, err error) {
	lines, err := Report(r)
	for _, l := range lines {
		if !l.State.Final() {
			n += int(l.Count)
		}
	}
	return n, err
}

// Beyond counts the operations that another journal does not have, from the newest back to the first that both have.
func Beyond(r, other store.Reader) (n int, err error) {
	if n, err = store.Beyond(r, other, `SELECT key FROM outbox_ops ORDER BY id DESC`, `SELECT COUNT(*) FROM outbox_ops WHERE key = ?`); err != nil {
		return 0, fmt.Errorf("compare operations: %w", err)
	}
	return n, nil
}

// Waiting counts the operations that are sent by themselves, sooner or later: neither final nor in doubt nor held.
func Waiting(r store.Reader) (n int, err error) {
	lines, err := Report(r)
	for _, l := range lines {
		if l.State == Pending || l.State == Sent {
			n += int(l.Count)
		}
	}
	return n, err
}

// Highest is the highest number that an operation of the journal has or had; 0 = there was none.
func Highest(r store.Reader) (id int64, err error) {
	err = r.QueryRow(`SELECT MAX(COALESCE((SELECT MAX(id) FROM outbox_ops), 0), (SELECT purged_id FROM outbox_clock))`).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("highest operation: %w", err)
	}
	return id, nil
}
