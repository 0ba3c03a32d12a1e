package daily

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posagent/agent/support/reconcile"
	"posagent/schemes/wire"
	"posagent/store"
)

// Schema is the tables of this package, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "daily/1 runs and findings", Open: true, SQL: `
CREATE TABLE daily_runs (
	id        INTEGER PRIMARY KEY, -- order of commit: the wall clock may have jumped
	day       TEXT NOT NULL UNIQUE, -- whose time had come, as 2026-11-26 in the terminal's zone
	at_ms     INTEGER NOT NULL, -- wall clock, for people
	outcome   TEXT NOT NULL,    -- compared, first; list, backend = it is tried again; missed
	text      TEXT NOT NULL,    -- why it is tried again
	rows      INTEGER NOT NULL, -- of the list
	sales     INTEGER NOT NULL, -- of the journal
	found     INTEGER NOT NULL, -- findings that were raised, or stood already
	digest    TEXT NOT NULL,    -- of the list that was compared
	written   INTEGER NOT NULL, -- when that file was written, ns
	last_sale INTEGER NOT NULL, -- the journal's newest then
	lines     BLOB NOT NULL     -- JSON: register lines whose sales the list has
) STRICT;
CREATE TABLE daily_findings (
	subject  TEXT PRIMARY KEY, -- which sale, row or file
	key      TEXT NOT NULL UNIQUE,
	says     TEXT NOT NULL,    -- what was found, as far as it makes another finding
	class    TEXT NOT NULL,
	about    TEXT NOT NULL,
	text     TEXT NOT NULL,
	remedy   TEXT NOT NULL,
	amount   INTEGER NOT NULL, -- minor units
	currency TEXT NOT NULL,
	at_ms    INTEGER NOT NULL, -- wall clock, for people
	acked    INTEGER NOT NULL  -- 1 = a person knows
) STRICT, WITHOUT ROWID;`}, {Name: "daily/2 through", Open: true, SQL: `
ALTER TABLE daily_runs ADD COLUMN through INTEGER NOT NULL DEFAULT 0; -- the newest sale up to which none was left out; 0 = not known
`}}
}

// How a run has ended.
const (
	Compared = "compared"
	First    = "first"   // nothing was due before the terminal had this setting
	NoList   = "list"    // the list cannot be used; it is looked for again
	NoAnswer = "backend" // the backend did not answer; it is asked again
	Missed   = "missed"  // the next day came before it answered
)

// Classes of findings besides those of package reconcile.
const (
	ClassList   = "list_unusable"
	ClassMissed = "not_compared"
	ClassMore   = "more"
)

// Run is the result of one day.
type Run struct {
	Day     string
	At      time.Time
	Outcome string
	Text    string // why there is no result yet
	Rows    int
	Sales   int
	Found   int
}

// Finding is what a person has to look at.
type Finding struct {
	Key      wire.Key // by which it is acknowledged
	Class    string
	About    string // which sale, row or file
	Text     string // what is wrong with it
	Remedy   string
	Amount   int64 // minor units
	Currency string
	At       time.Time
}

// Last is the newest result; ok = there is one.
func Last(r store.Reader) (v Run, ok bool, err error) {
	var at int64
	err = r.QueryRow(`SELECT day, at_ms, outcome, text, rows, sales, found FROM daily_runs WHERE outcome <> ? ORDER BY id DESC LIMIT 1`, First).
		Scan(&v.Day, &at, &v.Outcome, &v.Text, &v.Rows, &v.Sales, &v.Found)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	v.At = time.UnixMilli(at).UTC()
	return v, err == nil, err
}

// Findings reads the oldest findings that no person has acknowledged, at most limit, and how many there are.
func Findings(r store.Reader, limit int) (list []Finding, all int, err error) {
	if err := r.QueryRow(`SELECT COUNT(*) FROM daily_findings WHERE acked = 0`).Scan(&all); err != nil || all == 0 {
		return nil, all, err
	}
	err = store.Each(r, func(row store.Row) error {
		var f Finding
		var at int64
		err := row.Scan(&f.Key, &f.Class, &f.About, &f.Text, &f.Remedy, &f.Amount, &f.Currency, &at)
		f.At = time.UnixMilli(at).UTC()
		list = append(list, f)
		return err
	}, `SELECT key, class, about, text, remedy, amount, currency, at_ms FROM daily_findings WHERE acked = 0 ORDER BY at_ms, key LIMIT ?`, limit)
	return list, all, err
}

// ErrNone is the answer to an acknowledgement of what is no finding.
var ErrNone = errors.New("no finding of the daily comparison waits for an acknowledgement under this key")

// Acknowledge ends a finding by a person's decision, which stands in the audit log in the same commit. ErrNone.
func (d *Daily) Acknowledge(ctx context.Context, key wire.Key) error {
	return d.o.DB.Write(ctx, func(tx store.Tx) error {
		var class, about, currency string
		var amount int64
		err := tx.QueryRow(`UPDATE daily_findings SET acked = 1 WHERE key = ? AND acked = 0 RETURNING class, about, amount, currency`, string(key)).
			Scan(&class, &about, &amount, &currency)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("%s: %w", key, ErrNone)
		case err != nil:
			return fmt.Errorf("acknowledge %s: %w", key, err)
		case d.o.Audit == nil:
			return nil
		}
		return d.o.Audit(tx, "reconcile.acknowledged", string(key), class+": "+about, amount, currency)
	})
}

// finding is a Finding with what makes it another one.
type finding struct {
	Finding
	subject, says string
}

// raise keeps a finding. One that stands, or was acknowledged, and says the same stays as it is.
func raise(tx store.Tx, f finding, now time.Time) error {
	_, err := tx.Exec(`INSERT INTO daily_findings (subject, key, says, class, about, text, remedy, amount, currency, at_ms, acked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
		ON CONFLICT (subject) DO UPDATE SET key = excluded.key, says = excluded.says, class = excluded.class, about = excluded.about, text = excluded.text,
			remedy = excluded.remedy, amount = excluded.amount, currency = excluded.currency, at_ms = excluded.at_ms, acked = 0 WHERE says <> excluded.says`,
		f.subject, string(wire.NewKey()), f.says, f.Class, f.About, f.Text, f.Remedy, f.Amount, f.Currency, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("finding about %s: %w", f.About, err)
	}
	return nil
}

// settle takes findings back that are true no more.
func settle(tx store.Tx, subjects ...string) error {
	for _, s := range subjects {
		if _, err := tx.Exec(`DELETE FROM daily_findings WHERE subject = ?`, s); err != nil {
			return fmt.Errorf("settle finding: %w", err)
		}
	}
	return nil
}

// Bounds of what is kept.
const (
	keepRuns  = 400
	keepAcked = 2000
)

// reached is how far a comparison came.
type reached struct {
	newest  int64 // sale of the journal then
	through int64 // the newest sale up to which none was left out
}

// put keeps the result of a day, and drops the oldest.
func put(tx store.Tx, v Run, c content, last reached, lines []string) error {
	text, err := json.Marshal(lines)
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`DELETE FROM daily_runs WHERE day = ?`, []any{v.Day}},
		{`INSERT INTO daily_runs (id, day, at_ms, outcome, text, rows, sales, found, digest, written, last_sale, through, lines)
			VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM daily_runs), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			[]any{v.Day, v.At.UnixMilli(), v.Outcome, v.Text, v.Rows, v.Sales, v.Found, c.digest, c.written(), last.newest, last.through, text}},
		{`DELETE FROM daily_runs WHERE id <= (SELECT MAX(id) FROM daily_runs) - ?`, []any{keepRuns}},
		{`DELETE FROM daily_findings WHERE acked = 1 AND subject NOT IN (SELECT subject FROM daily_findings WHERE acked = 1 ORDER BY at_ms DESC LIMIT ?)`, []any{keepAcked}},
	} {
		if err == nil {
			_, err = tx.Exec(q.sql, q.args...)
		}
	}
	if err != nil {
		return fmt.Errorf("result of %s: %w", v.Day, err)
	}
	return nil
}

// subjectOf names what a finding is about: the same sale, or the same row of a list, in every run.
func subjectOf(f reconcile.Finding) string {
	if j := f.Journal; j != nil {
		if f.Twice {
			return "twice " + string(j.Sale)
		}
		return "sale " + string(j.Sale)
	}
	at := ""
	if f.Row.At != nil {
		at = f.Row.At.Format(time.RFC3339)
	}
	return fmt.Sprintf("row %s %d %s %s id=%s reference=%s receipt=%d transaction=%d", f.Row.Type, f.Row.Amount, f.Row.Currency, at, f.Row.ID, f.Row.Reference, f.Row.Receipt, f.Row.Transaction)
}

// saysOf is what makes a finding another one: the class, and the three words.
func saysOf(f reconcile.Finding) string {
	till, journal := "", ""
	if r := f.Row; r != nil {
		till = fmt.Sprint(r.Paid, r.Amount, r.Currency)
	}
	if f.Journal != nil {
		journal = f.Journal.Says
	}
	return fmt.Sprintf("%s till=%s journal=%s backend=%s %s %s", f.Class, till, journal, f.Backend.Says, f.Backend.State, f.Backend.AccountState)
}

// found makes a finding of one of a comparison.
func found(f reconcile.Finding) finding {
	v := finding{subject: subjectOf(f), says: saysOf(f), Finding: Finding{Class: string(f.Class), About: clean(f.What()), Text: clean(f.Title + "; " + f.Says()), Remedy: f.Remedy}}
	if j := f.Journal; j != nil {
		v.Amount, v.Currency = j.Amount, j.Currency
	} else {
		v.Amount, v.Currency = f.Row.Amount, f.Row.Currency
	}
	return v
}
