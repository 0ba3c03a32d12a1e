package hosted

import (
	"context"
	"errors"

	"posagent/schemes/backend/room"
	"posagent/store"
)

// New makes Sessions; it starts nothing.
func New(opt Options) (*Sessions, error) {
	r, err := room.NewPaged("sessions", opt.Options)
	if err != nil {
		return nil, err
	}
	if opt.Deliver == nil {
		return nil, errors.New("sessions: a store and a sender are needed")
	}
	x := &Sessions{Room: r, opt: opt}
	if x.opt.Life == 0 {
		x.opt.Life = DefaultLife
	}
	x.Sweeps(x.sweep)
	return x, nil
}

// sweep advances everything that is due, and gives the next due moment, 0 = none.
func (x *Sessions) sweep(ctx context.Context) (next int64, err error) {
	session, bad := room.Sweep(ctx, x.Room, room.Due[string]{
		What: "sessions", Name: func(string) string { return "session" }, // its id opens it
		List: `SELECT id FROM sessions_session WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms LIMIT 1000`,
		Next: nextSession,
		Advance: func(tx store.Tx, id string, now int64) error {
			_, err := x.load(tx, "sessions.sweep", id, now)
			return err
		},
	})
	operation, err := room.Sweep(ctx, x.Room, room.Due[string]{
		What: "operations", Name: func(id string) string { return "operation " + id },
		List:    `SELECT id FROM sessions_operation WHERE due_ms IS NOT NULL AND due_ms <= ? ORDER BY n`,
		Next:    nextOperation,
		Advance: x.settleDue,
	})
	return earlier(session, operation), errors.Join(bad, err)
}

// What reads when the next one will move by time alone, 0 = never.
const (
	nextSession   = `SELECT COALESCE(MIN(next_ms), 0) FROM sessions_session WHERE next_ms IS NOT NULL`
	nextOperation = `SELECT COALESCE(MIN(due_ms), 0) FROM sessions_operation WHERE due_ms IS NOT NULL`
)

// Due reads the moment (unix ms) at which the next session or operation is to move by time alone, 0 = none.
func Due(r store.Reader) (ms int64, err error) {
	var operation int64
	if err := errors.Join(r.QueryRow(nextSession).Scan(&ms), r.QueryRow(nextOperation).Scan(&operation)); err != nil {
		return 0, err
	}
	return earlier(ms, operation), nil
}

// earlier is the first of two moments, of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
