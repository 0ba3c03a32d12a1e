package events

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"posagent/store"
)

const (
	// trimEvery is how many events are let come before the oldest of them go.
	trimEvery = 64
	// trimStep is how many events one client loses before it is asked again who has most.
	trimStep = 16
	// trimSteps bounds what one commit deletes.
	trimSteps = 64
)

// trim drops the oldest events above Keep, from the client that has most of them: no client's events push out those of another that has
// less.
func (l *Log) trim(tx store.Tx) error {
	var all int64
	err := tx.QueryRow(`SELECT COALESCE(SUM(kept), 0) FROM events_owners`).Scan(&all)
	for step := 0; err == nil && all > l.opt.Keep && step < trimSteps; step++ {
		var owner string
		var low, gone int64
		n := min(all-l.opt.Keep, trimStep)
		if err = tx.QueryRow(`SELECT owner, low FROM events_owners ORDER BY kept DESC, owner LIMIT 1`).Scan(&owner, &low); err != nil {
			break
		}
		res, fault := tx.Exec(`DELETE FROM events_log WHERE id IN (SELECT id FROM events_log WHERE id > ? AND owner = ? ORDER BY id LIMIT ?)`, low, owner, n)
		if err = fault; err != nil {
			break
		}
		if gone, err = res.RowsAffected(); gone == 0 {
			break
		}
		all -= gone
	}
	if err != nil {
		return fmt.Errorf("forget events: %w", err)
	}
	return nil
}

// Reader reads the log on behind an event.
type Reader struct {
	l        *Log
	sees     func(owner string) bool
	at       int64
	reported int64 // losses up to this event concern the reader no more
	started  bool
}

// Resume makes a reader that goes on behind an event; 0 = the oldest kept. sees says whose events it reads. Where events behind the one it
// has come to are not kept any more it is told so, once; one that begins misses only what is lost later.
func (l *Log) Resume(after int64, sees func(owner string) bool) *Reader {
	return &Reader{l: l, sees: sees, at: after, reported: after, started: after > 0}
}

// At is the event that the reader has come to.
func (r *Reader) At() int64 { return r.at }

// Next reads the next event of any owner, or says that there is none yet. The event Lost leaves the reader where it is.
func (r *Reader) Next(ctx context.Context) (e Event, found bool, err error) {
	at, reported := r.at, r.reported
	err = r.l.opt.DB.Read(ctx, func(tx store.Reader) error {
		at, reported, found = r.at, r.reported, false // the read may run again
		last, err := r.lost(tx, max(reported, at))
		if err != nil {
			return err
		}
		if reported = max(reported, last); last > 0 && r.started {
			e, found = Gone(at+1, last, r.l.opt.Now()), true
			return nil
		}
		list, err := query(tx, `id > ? ORDER BY id LIMIT 1`, at)
		if err == nil && len(list) > 0 {
			e, found, at = list[0], true, list[0].ID
			return nil
		}
		oldest, newest := int64(0), int64(0)
		if err == nil {
			oldest, newest, err = Bounds(tx)
		}
		if err == nil && at > newest { // a number of another log: start again
			e, found = Gone(at+1, max(oldest, 1)-1, r.l.opt.Now()), true
			at = e.ID
			reported = at
		}
		return err
	})
	if err == nil {
		r.at, r.reported, r.started = at, reported, true
	}
	return e, found, err
}

// lost is the newest event behind one that the reader should have read and that is not kept any more, 0 = none.
func (r *Reader) lost(tx store.Reader, behind int64) (last int64, err error) {
	err = store.Each(tx, func(row store.Row) error {
		var owner string
		var id int64
		err := row.Scan(&owner, &id)
		if err == nil && r.sees(owner) {
			last = max(last, id)
		}
		return err
	}, `SELECT owner, lost FROM events_owners WHERE lost > ?`, behind)
	if err != nil {
		return 0, fmt.Errorf("read events: %w", err)
	}
	return last, nil
}

// Gone is the event that says that some events from first up to id are not kept any more.
func Gone(first, id int64, at time.Time) Event {
	body := `{"first":` + strconv.FormatInt(first, 10) + `,"next":` + strconv.FormatInt(id+1, 10) + `}`
	return Event{ID: id, Item: Item{Source: Own, Ref: strconv.FormatInt(first, 10), Event: Lost, Body: []byte(body)}, At: at.UnixMilli()}
}
