package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/store"
)

// presenceNumber is that of the advisory lock that every process holds on a schema while it has it open for work: several may hold it,
// or one alone.
const presenceNumber = 7_240_118

// present takes the lock again where its connection was lost; without it nothing is read or written. It answers ErrLocked where another
// process has the schema alone, or where this one is to have it alone and others work on it.
func (s *Store) present(ctx context.Context) error {
	if s.presence != nil {
		left := s.presence.Raw(func(c any) error {
			if c.(*conn).left() {
				return driver.ErrBadConn
			}
			return nil
		})
		if _, err := s.presence.ExecContext(ctx, "SELECT 1"); err == nil && left == nil { // a ping asks the driver alone
			return nil
		}
		s.give(s.presence)
		s.presence = nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.met(ctx, err)
	}
	lock, why := "pg_try_advisory_lock_shared", "books are copied to or from it"
	if s.opt.Alone {
		lock, why = "pg_try_advisory_lock", "others work on it: end them first"
	}
	var got bool
	if err := conn.QueryRowContext(ctx, "SELECT "+lock+"(hashtext(current_schema()), ?)", presenceNumber).Scan(&got); err != nil {
		s.give(conn)
		return s.met(ctx, err)
	}
	if !got {
		s.give(conn)
		return fmt.Errorf("%w: %s", store.ErrLocked, why)
	}
	s.presence = conn
	return nil
}

// The lock of a session keeps a copy away only as long as the session lives, and its end may be noticed late: a pooler that does not keep
// sessions lets the lock go while the connection seems to be there, and so does a server that ends idle ones. So each transaction asks
// for itself. Both statements travel with its first question.

// lockHere comes before the snapshot of a transaction is taken: whoever marks the books as moved waits for those that have it, and
// those behind it see the mark.
const (
	lockHere  = "LOCK TABLE store_meta IN ACCESS SHARE MODE"
	lockAlone = "LOCK TABLE store_meta IN ACCESS EXCLUSIVE MODE"
	// askHere fails with movedBooks where there is a mark.
	askHere    = "SELECT 1 / (1 - count(*)) FROM store_meta WHERE name = ?"
	movedBooks = "22012" // division_by_zero
)

// errMoved is what a write hears of books that were copied to another place, or are being copied.
var errMoved = movedTo("another place, or are being moved")

func movedTo(place string) error {
	return awayError{fmt.Errorf("%w: %w to %s", store.ErrLocked, store.ErrMoved, place)}
}

// stays lets a transaction refuse to work on books that were moved. Who has the schema alone moves them itself. An error of the
// statements is the closure's end.
func (s *Store) stays(t *scope) {
	if s.opt.Alone {
		_, _ = t.Exec(lockAlone)
		return
	}
	_, _ = t.Exec(lockHere)
	_, _ = t.Exec(askHere, store.MetaMoved)
}

// here refuses books that were moved, before anything is written.
func (s *Store) here(ctx context.Context) error {
	if s.opt.Alone {
		return nil
	}
	var text []byte
	err := s.presence.QueryRowContext(ctx, "SELECT value FROM store_meta WHERE name = ?", store.MetaMoved).Scan(&text)
	var mark struct{ To string }
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return s.met(ctx, err)
	case json.Unmarshal(text, &mark) != nil || mark.To == "":
		return errMoved
	}
	return movedTo(mark.To)
}

// ErrPooler: what stands before the server gives the session of one connection to others.
var ErrPooler = errors.New("store: a pooler before the server keeps no sessions")

// mendPooler is what to do about one.
const mendPooler = "PgBouncer: pool_mode = session for this database, or name the server itself"

// process asks which process of the server answers.
const process = "SELECT pg_backend_pid()"

// asksOfPooler is how often two connections are compared: a pooler has several sessions to choose from.
const asksOfPooler = 8

// pooled refuses a pooler that does not keep sessions: locks, settings and time-outs of a session would be those of others. The server
// tells each connection its process as it begins; where that is another one than answers, something stands between. Whether it keeps
// sessions is seen by a second connection that meets the same process.
func (s *Store) pooled(ctx context.Context) error {
	var told int64
	if err := s.presence.Raw(func(c any) error {
		told = int64(c.(*conn).pg.PgConn().PID())
		return nil
	}); err != nil {
		return s.met(ctx, err)
	}
	var own int64
	if err := s.presence.QueryRowContext(ctx, process).Scan(&own); err != nil {
		return s.met(ctx, err)
	}
	if own == told {
		return nil
	}
	other, _, err := s.by.choose(ctx)
	if err != nil {
		return s.met(ctx, err)
	}
	defer func() { _ = other.Close() }()
	err = shared(func() (own, others int64, err error) {
		if err = other.pg.QueryRow(ctx, process).Scan(&others); err == nil {
			err = s.presence.QueryRowContext(ctx, process).Scan(&own)
		}
		return own, others, err
	})
	if err != nil && !errors.Is(err, ErrPooler) {
		return s.met(ctx, err)
	}
	return err
}

// shared compares by which processes two connections are answered, and fails with ErrPooler where it is once the same.
func shared(ask func() (own, others int64, err error)) error {
	for range asksOfPooler {
		own, others, err := ask()
		if err != nil {
			return err
		}
		if own == others {
			return fmt.Errorf("%w: two connections have one session (%s)", ErrPooler, mendPooler)
		}
	}
	return nil
}

// depart lets the lock go.
func (s *Store) depart() {
	if s.presence == nil {
		return
	}
	_ = s.presence.Raw(func(c any) error { return c.(*conn).Close() }) // the lock is the connection's
	s.give(s.presence)
	s.presence = nil
}
