package printqueue

import (
	"context"
	"fmt"
	"time"

	"posagent/ecr/receipt"
	"posagent/store"
)

// Schema is the table of this package, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "paper/1 waiting", Open: true, SQL: `
CREATE TABLE paper_waiting (
	id    INTEGER PRIMARY KEY, -- in this order
	what  TEXT NOT NULL,       -- sale, day
	name  TEXT NOT NULL,       -- the sale's key, the number of the batch
	copy  TEXT NOT NULL,       -- of a sale: customer, merchant
	again INTEGER NOT NULL,    -- it may be on paper already
	begun INTEGER NOT NULL,    -- its printing has begun
	at_ms INTEGER NOT NULL     -- wall clock
) STRICT;`}, {Name: "paper/2 running time", Open: true, SQL: `
ALTER TABLE paper_waiting ADD COLUMN run_ms INTEGER NOT NULL DEFAULT -1; -- when it was added, by the running time; -1 = an earlier program has`}}
}

// Limits of what waits.
const (
	MaxWaiting = 200
	MaxAge     = 24 * time.Hour // of running time: a clock that is wrong throws no paper away
)

// tries are how often a document is begun before it waits behind the others.
const tries = 2

// The kinds of document.
const (
	ofSale = "sale"
	ofDay  = "day"
	ofText = "text"
	ofTest = "test"
)

// waiting is a document that waits.
type waiting struct {
	id         int64
	what, name string // of ofText, the lines as JSON
	copy       receipt.Copy
	again      bool
	begun      int           // how often its printing has begun, and not ended
	age        time.Duration // running time
}

// called names a document in the log; what a register prints is its own.
func (w waiting) called() string {
	if w.what == ofText {
		return ""
	}
	return w.name
}

// add stores a document that waits from now on, in the caller's commit. The oldest go where there are too many.
func (p *Paper) add(tx store.Tx, w waiting) (id int64, err error) {
	run, err := p.o.Running(tx)
	if err != nil {
		return 0, fmt.Errorf("receipt waits: %w", err)
	}
	res, err := tx.Exec(`INSERT INTO paper_waiting (what, name, copy, again, begun, at_ms, run_ms) VALUES (?, ?, ?, ?, 0, ?, ?)`,
		w.what, w.name, string(w.copy), w.again, p.o.Now().UnixMilli(), run)
	if err == nil {
		id, err = res.LastInsertId()
	}
	if err == nil && id > MaxWaiting {
		_, err = tx.Exec(`DELETE FROM paper_waiting WHERE id <= ?`, id-MaxWaiting)
	}
	if err != nil {
		return 0, fmt.Errorf("receipt waits: %w", err)
	}
	return id, nil
}

// Forget lets everything go that waits, in the caller's commit: an older journal was put back, and its papers were printed.
func Forget(tx store.Tx) error {
	_, err := tx.Exec(`DELETE FROM paper_waiting`)
	return err
}

// queue is what waits.
type queue struct {
	count    int
	behind   int   // of these, begun too often
	oldestMS int64 // wall clock
}

// first reads what is printed next: what has waited longest, but what was cut off again and again behind the others, and the more
// often the later.
func (p *Paper) first(ctx context.Context) (w waiting, q queue, err error) {
	err = p.o.DB.Read(ctx, func(r store.Reader) error {
		err := r.QueryRow(`SELECT COUNT(*), COALESCE(SUM(begun >= ?), 0), COALESCE(MIN(at_ms), 0) FROM paper_waiting`, tries).
			Scan(&q.count, &q.behind, &q.oldestMS)
		if err != nil || q.count == 0 {
			return err
		}
		var since int64
		err = r.QueryRow(`SELECT id, what, name, copy, again, begun, run_ms FROM paper_waiting ORDER BY MAX(begun, ?), id LIMIT 1`, tries-1).
			Scan(&w.id, &w.what, &w.name, &w.copy, &w.again, &w.begun, &since)
		if err != nil || since < 0 {
			return err
		}
		run, err := p.o.Running(r)
		w.age = time.Duration(run-since) * time.Millisecond
		return err
	})
	if err != nil {
		return waiting{}, queue{}, fmt.Errorf("read what waits for paper: %w", err)
	}
	return w, q, nil
}

// waits says whether a document still waits that was added as a copy.
func (p *Paper) waits(ctx context.Context, id int64, name string) (bool, error) {
	var found int
	err := p.o.DB.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COUNT(*) FROM paper_waiting WHERE id = ? AND name = ? AND again = 1`, id, name).Scan(&found)
	})
	return found > 0, err
}

// write changes the table in a commit of its own.
func (p *Paper) write(ctx context.Context, query string, args ...any) error {
	return p.o.DB.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}
