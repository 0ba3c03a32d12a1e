package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"posagent/agent/ready"
	"posagent/store"
)

// Schema is the table of this package, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "history/1 log", SQL: `
CREATE TABLE history_log (
	id    INTEGER PRIMARY KEY, -- order of commit
	at_ms INTEGER NOT NULL,    -- wall clock, for people
	what  TEXT NOT NULL,       -- started, stopped, ready, offline, not_ready
	cause TEXT NOT NULL,       -- of offline and not_ready: the stable word; of started: why it had ended before
	boot  TEXT NOT NULL,       -- the box's, of started
	text  TEXT NOT NULL
) STRICT;`}}
}

// What happened.
const (
	Reconciled = "reconciled" // the till's list of a day

	Started  = "started"
	Stopped  = "stopped"
	Ready    = "ready"
	Offline  = "offline"
	NotReady = "not_ready"
)

// Why a terminal had ended before it started.
const (
	First   = "first"   // it never ran on this journal, or its history is gone
	Stop    = "stop"    // it was stopped
	Killed  = "killed"  // it ended without a stop, and the box stayed up
	PowerUp = "powerup" // the box itself began anew, and the terminal had not been stopped

	Restored = "restored" // the journal was put back from a backup since its newest entry, which tells of no end then
)

// Entry is one thing that happened.
type Entry struct {
	ID    int64
	At    time.Time
	What  string
	Cause string
	Text  string
}

const (
	keepFor  = 30 * 24 * time.Hour
	keepMost = 5000
	keepAny  = 200             // whatever the clock says
	perHour  = 30              // changes of readiness
	stays    = 5 * time.Minute // of one that is over them, before it is noted all the same
)

// Options are what a Log needs. DB is required.
type Options struct {
	DB  store.DB
	Now func() time.Time // nil = time.Now
	Log *slog.Logger     // nil = none
}

// Log writes the history. Its methods may be called from any goroutine.
type Log struct {
	opt Options

	mu      sync.Mutex
	written []time.Time // changes of readiness of the last hour
	left    int         // out since then
	due     *change     // the newest of those
}

// change is a change of readiness.
type change struct {
	at                time.Time
	what, cause, text string
}

// New makes a Log; it starts nothing.
func New(opt Options) *Log {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Log{opt: opt}
}

// Start notes that the terminal starts, and why it had ended before. boot names the current boot of the box.
func (l *Log) Start(ctx context.Context, boot, version string) {
	l.write(ctx, func(tx store.Tx) error {
		cause, err := endedBy(tx, boot)
		if err != nil {
			return err
		}
		return l.add(tx, Started, cause, boot, "version "+version)
	})
}

// Stop notes that the terminal was stopped; why is what ended it, nil = it was asked to.
func (l *Log) Stop(ctx context.Context, why error) {
	text := "as it was asked to"
	if why != nil {
		text = strings.ReplaceAll(why.Error(), "\n", "; ") // joined errors have a line each
	}
	l.write(ctx, func(tx store.Tx) error { return l.add(tx, Stopped, "", "", text) })
}

// Judged notes a change of whether a register may ask for a sale.
func (l *Log) Judged(ctx context.Context, r ready.Report) {
	what, said := Ready, (*ready.Said)(nil)
	switch {
	case r.NotReady != nil:
		what, said = NotReady, r.NotReady
	case r.Offline != nil:
		what, said = Offline, r.Offline
	}
	cause, text := "", ""
	if said != nil {
		cause, text = string(said.Cause), said.Words
	}
	c := change{l.opt.Now(), what, cause, text}
	if left, ok := l.turn(c); ok {
		l.changed(ctx, c, left)
	}
}

// Stayed notes a change that was left out, once it has stayed: the newest entry is what the terminal is. It is called from time to time.
func (l *Log) Stayed(ctx context.Context) {
	l.mu.Lock()
	due, left := l.due, l.left-1
	if due == nil || l.opt.Now().Sub(due.at).Abs() < stays {
		l.mu.Unlock()
		return
	}
	l.due, l.left = nil, 0
	l.mu.Unlock()
	l.changed(ctx, *due, left)
}

// changed writes a change; left is how many were left out before it.
func (l *Log) changed(ctx context.Context, c change, left int) {
	if left > 0 {
		c.text = fmt.Sprintf("%s (after %d change(s) that are not listed)", c.text, left)
	}
	l.write(ctx, func(tx store.Tx) error { return l.addAt(tx, c.at, c.what, c.cause, "", c.text) })
}

// Compared notes the result of a day's list in the caller's commit.
func (l *Log) Compared(tx store.Tx, text string) error { return l.add(tx, Reconciled, "", "", text) }

// turn says whether another change of readiness may be written, and how many were left out before it.
func (l *Log) turn(c change) (left int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.opt.Now()
	for len(l.written) > 0 && now.Sub(l.written[0]) >= time.Hour {
		l.written = l.written[1:]
	}
	if len(l.written) >= perHour {
		l.left++
		l.due = &c
		return 0, false
	}
	l.written = append(l.written, now)
	left, l.left, l.due = l.left, 0, nil
	return left, true
}

// write makes a commit of its own. It warns where it cannot.
func (l *Log) write(ctx context.Context, fn func(store.Tx) error) {
	if err := l.opt.DB.Write(ctx, fn); err != nil && ctx.Err() == nil {
		l.opt.Log.Warn("not noted in the history", "err", err)
	}
}

// endedBy says how the run before this one ended.
func endedBy(r store.Reader, boot string) (cause string, err error) {
	var what, lastBoot string
	var at int64
	err = r.QueryRow(`SELECT what, at_ms FROM history_log ORDER BY id DESC LIMIT 1`).Scan(&what, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return First, nil
	}
	if err != nil {
		return "", fmt.Errorf("read history: %w", err)
	}
	switch l, ok, err := store.LostIn(r); {
	case err != nil:
		return "", fmt.Errorf("read history: %w", err)
	case ok && l.Kind == store.WasRestored && at < l.AtMS:
		return Restored, nil
	case what == Stopped:
		return Stop, nil
	}
	err = r.QueryRow(`SELECT boot FROM history_log WHERE what = ? ORDER BY id DESC LIMIT 1`, Started).Scan(&lastBoot)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("read history: %w", err)
	case err == nil && lastBoot != boot:
		return PowerUp, nil
	}
	return Killed, nil
}

func (l *Log) add(tx store.Tx, what, cause, boot, text string) error {
	return l.addAt(tx, l.opt.Now(), what, cause, boot, text)
}

func (l *Log) addAt(tx store.Tx, at time.Time, what, cause, boot, text string) error {
	now := l.opt.Now()
	res, err := tx.Exec(`INSERT INTO history_log (at_ms, what, cause, boot, text) VALUES (?, ?, ?, ?, ?)`, at.UnixMilli(), what, cause, boot, text)
	if err != nil {
		return fmt.Errorf("note in history: %w", err)
	}
	id, err := res.LastInsertId()
	if err != nil {
		return fmt.Errorf("note in history: %w", err)
	}
	if _, err := tx.Exec(`DELETE FROM history_log WHERE id <= ? OR id <= ? AND at_ms < ?`, id-keepMost, id-keepAny, now.Add(-keepFor).UnixMilli()); err != nil {
		return fmt.Errorf("purge history: %w", err)
	}
	return nil
}

// Since lists what happened from a moment on, the oldest first, at most the newest limit.
func Since(r store.Reader, from time.Time, limit int) (list []Entry, err error) {
	err = store.Each(r, func(row store.Row) error {
		var e Entry
		var at int64
		if err := row.Scan(&e.ID, &at, &e.What, &e.Cause, &e.Text); err != nil {
			return err
		}
		e.At = time.UnixMilli(at).UTC()
		list = append(list, e)
		return nil
	}, `SELECT id, at_ms, what, cause, text FROM (SELECT * FROM history_log WHERE at_ms >= ? ORDER BY id DESC LIMIT ?) ORDER BY id`, from.UnixMilli(), limit)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return list, nil
}
