package events

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"posagent/store"
)

// Schema is the table of this package, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "events/1 log", SQL: `
CREATE TABLE events_log (
	id     INTEGER PRIMARY KEY, -- order of commit
	source TEXT NOT NULL,
	ref    TEXT NOT NULL,
	event  TEXT NOT NULL,
	body   BLOB NOT NULL,
	at_ms  INTEGER NOT NULL     -- wall clock, for people
) STRICT;`}, {Name: "events/2 owners", SQL: `
ALTER TABLE events_log ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client that the thing belongs to; '' = the terminal`}, {Name: "events/3 given", Open: true, SQL: `
ALTER TABLE events_log ADD COLUMN given INTEGER NOT NULL DEFAULT 0; -- the event that this one gives to a client; 0 = it happened`}, {Name: "events/4 shares", Open: true, SQL: `
CREATE TABLE events_owners ( -- what is kept for each local client; '' = the terminal
	owner TEXT PRIMARY KEY,
	kept  INTEGER NOT NULL,
	lost  INTEGER NOT NULL, -- the highest id of its events that is not kept any more; 0 = none was lost
	low   INTEGER NOT NULL  -- it has no event up to here
) STRICT, WITHOUT ROWID;
INSERT INTO events_owners SELECT owner, COUNT(*), 0, 0 FROM events_log GROUP BY owner;
INSERT INTO events_owners SELECT '', 0, 0, 0 WHERE true ON CONFLICT (owner) DO NOTHING;
UPDATE events_owners SET lost = COALESCE((SELECT MIN(id) FROM events_log), 1) - 1;
CREATE TRIGGER events_log_came AFTER INSERT ON events_log BEGIN
	INSERT INTO events_owners VALUES (NEW.owner, 1, 0, 0) ON CONFLICT (owner) DO UPDATE SET kept = kept + 1;
END;
CREATE TRIGGER events_log_went AFTER DELETE ON events_log BEGIN
	UPDATE events_owners SET kept = kept - 1, lost = MAX(lost, OLD.id), low = MAX(low, OLD.id) WHERE owner = OLD.owner;
END;
CREATE TRIGGER events_log_given AFTER UPDATE OF owner ON events_log WHEN OLD.owner <> NEW.owner BEGIN
	UPDATE events_owners SET kept = kept - 1 WHERE owner = OLD.owner;
	INSERT INTO events_owners VALUES (NEW.owner, 1, 0, 0) ON CONFLICT (owner) DO UPDATE SET kept = kept + 1, low = MIN(low, OLD.id - 1);
END;`}}
}

// Item is something that happened.
type Item struct {
	Source string // what kind of thing it happened to
	Ref    string // which one: its key
	Event  string
	Body   []byte // JSON; no card data, no secrets
	Owner  string // the local client that it belongs to; "" = the terminal
}

// Event is a stored Item.
type Event struct {
	ID int64 // a reader goes on behind it
	Item
	At int64 // unix milliseconds by the wall clock

	given int64 // the event that this one gives to a client
}

// Given says that an event has happened before, and is its owner's only now: new for the owner, and for no other reader.
func (e Event) Given() bool { return e.given != 0 }

// Lost is the event that stands for those that are no longer kept; its body says how far they reach. Its source is Own.
const (
	Lost = "events.lost"
	Own  = "terminal"
)

// Options are what a Log needs. Only DB is required.
type Options struct {
	DB   store.DB
	Now  func() time.Time
	Keep int64 // events; 0 = 20,000
}

// Log is the list.
type Log struct {
	opt  Options
	last atomic.Int64 // the highest id that was added since the start; its commit may not be over
}

// Behind tells whether something may have been added behind an event since the start.
func (l *Log) Behind(id int64) bool { return l.last.Load() > id }

// New makes a Log; it starts nothing.
func New(opt Options) *Log {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Keep <= 0 {
		opt.Keep = 20_000
	}
	return &Log{opt: opt}
}

// Add stores an event in the caller's commit.
func (l *Log) Add(tx store.Tx, it Item) error {
	if err := l.insert(tx, it, l.opt.Now().UnixMilli(), 0); err != nil {
		return fmt.Errorf("note %s of %s: %w", it.Event, it.Ref, err)
	}
	return nil
}

func (l *Log) insert(tx store.Tx, it Item, at, given int64) error {
	res, err := tx.Exec(`INSERT INTO events_log (source, ref, event, body, at_ms, owner, given) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		it.Source, it.Ref, it.Event, it.Body, at, it.Owner, given)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err == nil {
		l.last.Store(id)
	}
	if err == nil && id%trimEvery == 0 && id > l.opt.Keep {
		err = l.trim(tx)
	}
	return err
}

// Bounds are the ids of the oldest and the newest event; 0 and 0 where there is none.
func Bounds(r store.Reader) (oldest, newest int64, err error) {
	// Two questions: together SQLite answers them by reading the whole table.
	if err = r.QueryRow(`SELECT COALESCE(MIN(id), 0) FROM events_log`).Scan(&oldest); err == nil {
		err = r.QueryRow(`SELECT COALESCE(MAX(id), 0) FROM events_log`).Scan(&newest)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read events: %w", err)
	}
	return oldest, newest, nil
}

// Of is what is kept of one thing, oldest first. It reads the whole list: it is asked by people, and an index would be
// written by every change.
func Of(r store.Reader, ref string) ([]Event, error) {
	return query(r, `ref = ? AND given = 0 ORDER BY id LIMIT 1000`, ref)
}

// Newest is the newest events, the newest first, at most limit.
func Newest(r store.Reader, limit int) ([]Event, error) {
	return query(r, `1 = 1 ORDER BY id DESC LIMIT ?`, limit)
}

func query(r store.Reader, where string, args ...any) (list []Event, err error) {
	err = store.Each(r, func(row store.Row) error {
		var e Event
		err := row.Scan(&e.ID, &e.Source, &e.Ref, &e.Event, &e.Body, &e.At, &e.Owner, &e.given)
		list = append(list, e)
		return err
	}, `SELECT id, source, ref, event, body, at_ms, owner, given FROM events_log WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return list, nil
}

// Give gives what happened to a thing to a local client, in the caller's commit. It is new for that client: the client reads it behind
// what it has read before. It reads the whole list: people ask for it.
func (l *Log) Give(tx store.Tx, source, ref, owner string) error {
	list, err := query(tx, `source = ? AND ref = ? ORDER BY id`, source, ref)
	has := map[int64]bool{}
	first := map[int64]Event{}
	var order []int64
	for _, e := range list {
		of := cmp.Or(e.given, e.ID)
		if _, known := first[of]; !known {
			first[of], order = e, append(order, of)
		}
		has[of] = has[of] || e.Owner == owner
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE events_log SET owner = '' WHERE source = ? AND ref = ? AND owner <> ?`, source, ref, owner)
	}
	for _, of := range order {
		if err != nil || has[of] || owner == "" {
			continue
		}
		e := first[of]
		e.Owner = owner
		err = l.insert(tx, e.Item, e.At, of)
	}
	if err != nil {
		return fmt.Errorf("owner of events: %w", err)
	}
	return nil
}
