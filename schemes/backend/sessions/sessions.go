package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Emitter takes what the merchant is to be told, in the commit of what it tells about.
type Emitter interface {
	Check(url string) error
	Register(tx store.Tx, subject string, hooks []deliver.Hook) error
	Emit(tx store.Tx, m deliver.Message) (int, error)
}

var _ Emitter = (*deliver.Deliver)(nil)

// Options are what Sessions needs.
type Options struct {
	room.Options
	Deliver Emitter
	Life    time.Duration // of a session that is built from now on; 0 = DefaultLife
}

// Sessions is the service.
type Sessions struct {
	*room.Room
	opt Options
}

var _ hosted.Sessions = (*Sessions)(nil)

// DefaultLife is how long a session lives.
const DefaultLife = 5 * time.Minute

// Times.
const (
	holdTime  = 7 * 24 * time.Hour
	lapseTime = 5 * time.Second // scenario.Lapse
	clearTime = time.Minute     // until a refund has arrived
	failTime  = 2 * time.Second // until one fails
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
		Next: `SELECT COALESCE(MIN(next_ms), 0) FROM sessions_session WHERE next_ms IS NOT NULL`,
		Advance: func(tx store.Tx, id string, now int64) error {
			_, err := x.load(tx, "sessions.sweep", id, now)
			return err
		},
	})
	operation, err := room.Sweep(ctx, x.Room, room.Due[string]{
		What: "operations", Name: func(id string) string { return "operation " + id },
		List:    `SELECT id FROM sessions_operation WHERE due_ms IS NOT NULL AND due_ms <= ? ORDER BY n`,
		Next:    `SELECT COALESCE(MIN(due_ms), 0) FROM sessions_operation WHERE due_ms IS NOT NULL`,
		Advance: x.settleDue,
	})
	if next = session; next == 0 || operation != 0 && operation < next {
		next = operation
	}
	return next, errors.Join(bad, err)
}

// load reads a session, which expires where its time is over.
func (x *Sessions) load(tx store.Tx, op, id string, now int64) (*session, error) {
	s, err := findSession(tx, op, id)
	if err != nil {
		return nil, err
	}
	if s.due() == nil || now < s.ends {
		return s, nil
	}
	away := s.state == Away
	s.state, _ = next(s.state, evExpire)
	if away {
		if err := x.end(tx, s, hosted.Failed, now); err != nil {
			return nil, err
		}
	}
	return s, saveSession(tx, s)
}

// live is load for a session that still answers; else the Conflict that says why not.
func (x *Sessions) live(tx store.Tx, op, id string, now int64) (*session, error) {
	s, err := x.load(tx, op, id, now)
	if err != nil {
		return nil, err
	}
	if why := s.state.refusal(); why != "" {
		return nil, hosted.Refused(op, why)
	}
	return s, nil
}

// write plays a keyed write: body guards the key, act fills reply (a pointer) or refuses, and says how its reply is spoilt.
func (x *Sessions) write(ctx context.Context, op, about string, key wire.Key, body, reply any, act func(tx store.Tx, now int64) (scenario.Do, error)) error {
	text, err := json.Marshal(body)
	if err != nil {
		return wire.AsError(op, err)
	}
	return x.Once(ctx, room.Keyed{Op: op, About: about, Key: key, BadKey: hosted.BadKey, Body: text}, reply, act)
}

// stamp writes a moment as S2's times are written.
func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
