package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/store"
)

// closedDay is the report of a batch as it is stored: its totals, and who asked for its end.
type closedDay struct {
	ecr.Totals
	Askers []asker `json:",omitempty"`
	RunMS  int64   `json:",omitempty"` // running time when it was closed; 0 = by a program that did not keep it
}

// asker is who asked, and whether its register has acknowledged the totals.
type asker struct {
	Line string
	ID   string `json:",omitempty"`
	Told bool   `json:",omitempty"`
}

// ask notes who asks, once. It reports whether it is new.
func (c *closedDay) ask(by ecr.Asker) bool {
	if by.Line == "" || slices.ContainsFunc(c.Askers, func(a asker) bool { return a.Line == by.Line && a.ID == by.ID }) {
		return false
	}
	c.Askers = append(c.Askers, asker{Line: by.Line, ID: by.ID})
	return true
}

// ClosedBy reads the day that a request with an ID closed: no ID is another request's sooner than a
// register's other ids, unless the asker says so. A request without one closed the newest day, as
// long as that was not told and nothing has been sold since. The zero Asker means the newest day. It
// returns ErrUnknown.
func (j *Journal) ClosedBy(r store.Reader, by ecr.Asker) (ecr.Totals, error) {
	reports, err := store.Column[[]byte](r, `SELECT report FROM checkout_batches ORDER BY number DESC`)
	if err != nil {
		return ecr.Totals{}, err
	}
	for _, report := range reports {
		var day closedDay
		if err := json.Unmarshal(report, &day); err != nil {
			return ecr.Totals{}, fmt.Errorf("report of a batch: %w", err)
		}
		if by == (ecr.Asker{}) {
			return day.Totals, nil
		}
		i := slices.IndexFunc(day.Askers, func(a asker) bool { return j.kept(a.Line) == by.Line && j.kept(a.ID) == by.ID }) // an older program stored them as they came
		switch {
		case by.ID != "" && i < 0:
			continue
		case by.ID != "":
			age, err := Used{RunMS: day.RunMS, Known: day.RunMS > 0}.IDAge(r)
			if err == nil && age > cmp.Or(by.Reuse, outbox.IDAgeMax).Milliseconds() {
				err = ErrUnknown
			}
			return day.Totals, err
		case i < 0 || day.Askers[i].Told:
			return ecr.Totals{}, ErrUnknown
		}
		var sold int
		if err := r.QueryRow(`SELECT COUNT(*) FROM checkout_sales WHERE batch > ? AND receipt != 0`, day.Batch).Scan(&sold); err != nil || sold > 0 {
			return ecr.Totals{}, cmp.Or(err, error(ErrUnknown))
		}
		return day.Totals, nil
	}
	return ecr.Totals{}, ErrUnknown
}

// AskedFor notes in the caller's commit that somebody else asked for the end of a closed batch, too.
func (j *Journal) AskedFor(tx store.Tx, batch int, by ecr.Asker) error {
	return amend(tx, batch, func(day *closedDay) bool { return day.ask(by) })
}

// DayTold notes in the caller's commit that a line's register has acknowledged the totals of a batch.
func (j *Journal) DayTold(tx store.Tx, line string, batch int) error {
	return amend(tx, batch, func(day *closedDay) (changed bool) {
		for i, a := range day.Askers {
			if a.Line == line && !a.Told {
				day.Askers[i].Told, changed = true, true
			}
		}
		return changed
	})
}

func amend(tx store.Tx, batch int, change func(*closedDay) bool) error {
	var report []byte
	if err := tx.QueryRow(`SELECT report FROM checkout_batches WHERE number = ?`, batch).Scan(&report); err != nil {
		return err
	}
	var day closedDay
	if err := json.Unmarshal(report, &day); err != nil || !change(&day) {
		return err
	}
	report, err := json.Marshal(day)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE checkout_batches SET report = ? WHERE number = ?`, report, batch)
	return err
}
