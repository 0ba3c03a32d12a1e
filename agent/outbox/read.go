package outbox

import (
	"fmt"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// What is read here is not verified: it needs no key, so that a command can read beside a running daemon, or without one.

// Look reads one operation, without payload and memo. ErrUnknown.
func Look(r store.Reader, key wire.Key) (Op, error) {
	c, err := readClock(r)
	if err != nil {
		return Op{}, err
	}
	rw, err := byKey(r, key)
	if err != nil {
		return Op{}, err
	}
	return c.op(&rw), nil
}

// LookAll is Outbox.List without an Outbox.
func LookAll(r store.Reader, f Filter) ([]Op, error) {
	c, err := readClock(r)
	if err != nil {
		return nil, err
	}
	return listed(r, f, c.op)
}

// Ahead is the first operation that one waits for, in its aggregate. ErrUnknown when it waits for none.
func Ahead(r store.Reader, op Op) (Op, error) {
	c, err := readClock(r)
	if err != nil {
		return Op{}, err
	}
	rw, err := scan(r.QueryRow(openAhead, op.Aggregate, op.ID))
	if err != nil {
		return Op{}, err
	}
	return c.op(&rw), nil
}

// Running is the running time of the journal's terminal, as it was last saved: not later than an hour ago while it runs.
func Running(r store.Reader) (ms int64, err error) {
	c, err := readClock(r)
	return c.run, err
}

// LastKept is when the clock was last saved, in unix ms, at the earliest; 0 = never. The wall clock of the time may have been ahead; the
// true time that was heard last, and what has passed since, say so.
func LastKept(r store.Reader) (ms int64, err error) {
	var age, anchorAge, anchorMS int64
	if err := r.QueryRow(`SELECT wall_ms, age_ms, anchor_age, anchor_ms FROM outbox_clock WHERE id = 1`).Scan(&ms, &age, &anchorAge, &anchorMS); err != nil {
		return 0, fmt.Errorf("outbox clock: %w", err)
	}
	if anchorMS > 0 {
		ms = min(ms, anchorMS+age-anchorAge)
	}
	return ms, nil
}

// Told is the newest time that an authenticated reply of the backend had told when the clock was last saved; zero = none had. It is
// certainly over, whatever the box's own clock says.
func Told(r store.Reader) (at time.Time, err error) {
	var ms int64
	if err := r.QueryRow(`SELECT anchor_ms FROM outbox_clock WHERE id = 1`).Scan(&ms); err != nil {
		return at, fmt.Errorf("outbox clock: %w", err)
	}
	if ms == 0 {
		return at, nil
	}
	return time.UnixMilli(ms), nil
}

// savedClock is the clock as it was last saved.
type savedClock struct{ run, wall int64 }

func readClock(r store.Reader) (s savedClock, err error) {
	if err := r.QueryRow(`SELECT run_ms, wall_ms FROM outbox_clock WHERE id = 1`).Scan(&s.run, &s.wall); err != nil {
		return s, fmt.Errorf("outbox clock: %w", err)
	}
	return s, nil
}

// op is the row as others see it; when it is tried next counts from the instant in which the clock was saved.
func (s savedClock) op(r *row) Op {
	op := r.op()
	if r.state == Pending || r.state == Sent {
		op.NextTry = time.UnixMilli(max(s.wall+r.nextRun-s.run, r.createdMS))
	}
	return op
}
