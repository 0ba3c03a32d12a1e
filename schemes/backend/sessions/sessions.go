package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/once"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/backend/sweep"
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
	DB        store.DB
	Deliver   Emitter
	PublicURL string        // where a browser reaches the backend
	Merchant  string        // its name on the pages
	Life      time.Duration // of a session that is built from now on; 0 = DefaultLife
	Now       func() time.Time
	Log       *slog.Logger
}

// Sessions is the service.
type Sessions struct {
	opt    Options
	db     store.DB
	public string
	now    func() time.Time
	log    *slog.Logger
	forms  *form.Guard
	loop   *sweep.Loop
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
	u, err := url.Parse(opt.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("sessions: public URL %q: want http://HOST or https://HOST", opt.PublicURL)
	}
	if opt.DB == nil || opt.Deliver == nil {
		return nil, errors.New("sessions: a store and a sender are needed")
	}
	x := &Sessions{opt: opt, db: opt.DB, public: strings.TrimRight(opt.PublicURL, "/"), now: opt.Now, log: opt.Log}
	if x.now == nil {
		x.now = time.Now
	}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	x.log = x.log.With("sys", "sessions")
	if x.opt.Life == 0 {
		x.opt.Life = DefaultLife
	}
	x.loop = sweep.New(x.now, x.log, x.sweep)
	x.forms = form.New(x.db, x.public, x.now)
	return x, nil
}

// Run lets time pass for sessions and refunds without access, until ctx ends; it returns ctx's error.
func (x *Sessions) Run(ctx context.Context) error { return x.loop.Run(ctx) }

// sweep advances everything that is due, and gives the next due moment, 0 = none.
func (x *Sessions) sweep(ctx context.Context) (next int64, err error) {
	now := x.now().UnixMilli()
	var ids []string
	var ops []*operation
	err = x.db.Read(ctx, func(r store.Reader) (err error) {
		ids, err = store.Column[string](r, `SELECT id FROM sessions_session WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms LIMIT 1000`, now)
		if err != nil {
			return err
		}
		ops, err = operations(r, `due_ms IS NOT NULL AND due_ms <= ?`, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find what is due: %w", err)
	}
	var errs []error
	for _, id := range ids { // one that cannot move must not hold the others up
		if err := x.db.Write(ctx, func(tx store.Tx) error { _, err := x.load(tx, "sessions.sweep", id, now); return err }); err != nil {
			errs = append(errs, fmt.Errorf("advance session: %w", err))
		}
	}
	for _, o := range ops {
		if err := x.db.Write(ctx, func(tx store.Tx) error { return x.settleDue(tx, o.id, now) }); err != nil {
			errs = append(errs, fmt.Errorf("advance operation %s: %w", o.id, err))
		}
	}
	if errs != nil {
		return 0, errors.Join(errs...)
	}
	err = x.db.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COALESCE(MIN(at), 0) FROM (SELECT MIN(next_ms) AS at FROM sessions_session WHERE next_ms IS NOT NULL
			UNION ALL SELECT MIN(due_ms) FROM sessions_operation WHERE due_ms IS NOT NULL)`).Scan(&next)
	})
	return next, err
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
	if key != "" {
		if _, err := wire.ParseKey(string(key)); err != nil {
			return &wire.Error{Code: wire.Invalid, Reason: hosted.BadKey, Op: op, Err: err}
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return wire.AsError(op, err)
	}
	var refusal *wire.Error
	var do scenario.Do
	err = x.db.Write(ctx, func(tx store.Tx) error {
		now := x.now().UnixMilli()
		do = ""
		var err error
		refusal, err = once.Do(tx, x.db, op+" "+about, key, text, reply, func() error {
			var err error
			do, err = act(tx, now)
			return err
		})
		return err
	})
	x.loop.Poke()
	switch {
	case err != nil:
		return wire.AsError(op, err)
	case refusal != nil:
		return wire.AsError(op, refusal)
	}
	return scenario.Lost(ctx, op, do)
}

// name makes an id that cannot be guessed.
func name(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// stamp writes a moment as S2's times are written.
func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
