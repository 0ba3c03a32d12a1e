package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/store"
)

// MarshalJSON implements json.Marshaler (posagent.audit/1).
func (l Line) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Schema   string `json:"schema"`
		Line     int64  `json:"line"`
		At       string `json:"at"`
		Actor    Kind   `json:"actor"`
		Name     string `json:"name,omitempty"`
		Address  string `json:"address,omitempty"`
		Deed     string `json:"deed"`
		Subject  string `json:"subject,omitempty"`
		Amount   int64  `json:"amount,omitempty"` // minor units
		Currency string `json:"currency,omitempty"`
		Detail   string `json:"detail,omitempty"`
	}{"posagent.audit/1", l.ID, l.Time().Format("2006-01-02T15:04:05.000Z"), l.Kind, l.Name, l.Address, l.Deed.Deed, l.Subject, l.Amount, l.Currency, l.Detail})
}

// Time returns when the line was written.
func (l Line) Time() time.Time { return time.UnixMilli(l.At).UTC() }

// pageLines is how many lines one read takes: an export must not keep a reader's connection for long.
const pageLines = 500

// Page returns the lines behind a number, oldest first, at most 500. It fails where the journal has no audit log.
func Page(r store.Reader, after int64) ([]Line, error) {
	list, _, err := page(r, after)
	return list, err
}

func page(r store.Reader, after int64) (list []Line, links [][]byte, err error) {
	rows, err := r.Query(`SELECT `+columns+` FROM audit_log WHERE id > ? ORDER BY id LIMIT ?`, after, pageLines)
	if err != nil {
		return nil, nil, fmt.Errorf("read audit log: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		l, link, err := scan(rows)
		if err != nil {
			return nil, nil, err
		}
		list, links = append(list, l), append(links, link)
	}
	return list, links, rows.Err()
}

// Behind returns the number behind which the newest n lines stand.
func Behind(r store.Reader, n int64) (after int64, err error) {
	if err = r.QueryRow(`SELECT COALESCE(MAX(id), 0) FROM audit_log`).Scan(&after); err != nil {
		return 0, fmt.Errorf("read audit log: %w", err)
	}
	return max(after-n, 0), nil
}

// What is wrong with lines.
const (
	Removed    = "removed"
	Changed    = "changed"
	Unverified = "unverified" // the one before is gone, so it cannot be told
	Follows    = "follows"    // it says that lines before it were removed or changed while the terminal was stopped
)

// Finding is lines with which something is wrong.
type Finding struct {
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	What  string `json:"what"`
}

func (f Finding) String() string {
	what := map[string]string{
		Removed: "removed", Changed: "changed", Unverified: "cannot be verified without the one before it",
		Follows: "says that lines before it were removed or changed",
	}[f.What]
	if f.First == f.Last {
		return fmt.Sprintf("line %d: %s", f.First, what)
	}
	return fmt.Sprintf("lines %d to %d: %s", f.First, f.Last, what)
}

// Report is what a check came to.
type Report struct {
	First    int64     `json:"first"` // the oldest line that is kept, 0 = none
	Last     int64     `json:"last"`
	Purged   int64     `json:"purged"` // the last line that is no longer kept, 0 = none
	Findings []Finding `json:"findings"`
}

// Check verifies every line. head is the head that the store keeps; nil = it keeps none, and lines that were removed from the
// end are not seen. It fails where the log cannot be read.
func Check(r store.Reader, mac MAC, head *Head) (Report, error) {
	v := Report{Findings: []Finding{}}
	floor, link, err := anchor(r)
	if err != nil {
		return v, err
	}
	v.Purged, v.Last = floor, floor
	made := link // the link that the line before should have
	for {
		list, links, err := page(r, v.Last)
		if err != nil {
			return v, err
		}
		for i, l := range list {
			if v.First == 0 {
				v.First = l.ID
			}
			if standsBehind(mac, l, links[i], v.Last) {
				v.Last, link, made = l.ID, links[i], links[i]
				continue
			}
			whole := l.ID == v.Last+1
			if !whole {
				v.found(v.Last+1, l.ID-1, Removed)
			}
			want := linkOf(mac, link, l)
			switch {
			case bytes.Equal(links[i], want), bytes.Equal(links[i], linkOf(mac, made, l)):
			case whole:
				v.found(l.ID, l.ID, Changed)
			default:
				v.found(l.ID, l.ID, Unverified)
			}
			if l.Deed.Deed == Broken {
				v.found(l.ID, l.ID, Follows)
			}
			v.Last, link, made = l.ID, links[i], want
		}
		if len(list) < pageLines {
			break
		}
	}
	if head == nil {
		return v, nil
	}
	switch last := LastOf(*head); {
	case last > v.Last:
		v.found(v.Last+1, last, Removed)
	case *head != headOf(v.Last, link):
		v.found(v.Last, v.Last, Changed)
	}
	return v, nil
}

func (v *Report) found(first, last int64, what string) {
	v.Findings = append(v.Findings, Finding{first, last, what})
}

// anchor returns the last purged line and its link, as the newest purge says.
func anchor(r store.Reader) (floor int64, link []byte, err error) {
	rows, err := r.Query(`SELECT amount, subject FROM audit_log WHERE deed = ? ORDER BY id DESC LIMIT 1`, Purge)
	if err != nil {
		return 0, nil, fmt.Errorf("read audit log: %w", err)
	}
	defer rows.Close()
	if rows.Next() {
		var text string
		if err := rows.Scan(&floor, &text); err != nil {
			return 0, nil, fmt.Errorf("read audit log: %w", err)
		}
		link, _ = hex.DecodeString(text) // a changed one does not verify
	}
	return floor, link, rows.Err()
}

// Broken is the deed of the line that follows lines which were removed while the terminal was stopped.
const Broken = "audit.broken"

// EndsWith reports whether the log ends as a head says.
func EndsWith(r store.Reader, head Head) (bool, error) {
	found, _, err := end(r)
	return found == head, err
}

// end returns the head that the newest line makes, and its number.
func end(r store.Reader) (h Head, last int64, err error) {
	rows, err := r.Query(`SELECT id, link FROM audit_log ORDER BY id DESC LIMIT 1`)
	if err != nil {
		return h, 0, fmt.Errorf("read audit log: %w", err)
	}
	var link []byte
	if rows.Next() {
		err = rows.Scan(&last, &link)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return h, 0, fmt.Errorf("read audit log: %w", err)
	}
	return headOf(last, link), last, nil
}

// Resume compares the log with the head that the store kept at its end, before anything else is written. Where the newest lines
// are gone or changed, it writes a line that says so, behind the number of the last one that there was.
func Resume(tx store.Tx, head Head, now time.Time) error {
	found, last, err := end(tx)
	if err != nil {
		return err
	}
	if found == head || head == (Head{}) && last == 0 {
		return nil
	}
	return insert(tx, Line{ID: max(last, LastOf(head)) + 1, At: now.UnixMilli(), Actor: Self("start"), Deed: Deed{
		Deed: Broken, Detail: fmt.Sprintf("the log ends with line %d (%x), the journal's head is line %d (%x)", last, found[:8], LastOf(head), head[:8]),
	}})
}
