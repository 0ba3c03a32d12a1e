package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"posagent/store"
)

// How often a closure is run.
const (
	mostRuns = 100
	mostLost = 2                     // after as many runs a lost connection is the answer
	longest  = 50 * time.Millisecond // between two runs
)

// level is how much of other closures a closure is kept from.
type level struct {
	begin string
	alone *sync.RWMutex // taken whole by a closure that has met conflicts
	// From this run on no other closure of the level runs beside it in this process.
	aloneFrom int
	// So many times a unique key that is taken is a conflict: another run sees the row that has it. Runs that met another conflict do
	// not count: a closure that they kept from seeing the row has not been at fault.
	keyRuns int
	// The books must be here still; see stays.
	here bool
	// When the Write began, and how long a question may take: less where a run before has lost its connection; see left.
	began time.Time
	most  time.Duration
}

func (s *Store) serial() level {
	return level{begin: "BEGIN ISOLATION LEVEL SERIALIZABLE", alone: &s.alone, aloneFrom: 2, keyRuns: 2, here: true}
}

func (s *Store) own() level {
	return level{begin: "BEGIN ISOLATION LEVEL REPEATABLE READ", alone: &s.ownAlone, aloneFrom: 8, keyRuns: 3, here: true}
}

// Write implements store.DB. It answers ErrBusy where other processes stood in the way in every run.
func (s *Store) Write(ctx context.Context, fn func(store.Tx) error) error {
	return s.run(ctx, s.serial(), fn)
}

// WriteOwn implements store.DB. It answers ErrBusy as Write does.
func (s *Store) WriteOwn(ctx context.Context, fn func(store.Tx) error) error {
	return s.run(ctx, s.own(), fn)
}

func (s *Store) run(ctx context.Context, at level, fn func(store.Tx) error) error {
	began := time.Now()
	runs, err := s.turns(ctx, at, fn)
	if s.opt.Wrote != nil {
		s.opt.Wrote(time.Since(began), runs, err)
	}
	return err
}

// turns runs fn until it meets no conflict.
func (s *Store) turns(ctx context.Context, at level, fn func(store.Tx) error) (runs int, err error) {
	at.began, at.most = time.Now(), s.by.closure
	for run := range mostRuns {
		var again bool
		if again, err = s.turn(ctx, at, run, fn); !again {
			return run + 1, err
		}
		if errors.Is(err, errLost) {
			at.most = min(at.most, s.left(at.began))
		}
		if codeOf(err) == uniqueViolation {
			at.keyRuns--
		}
		select {
		case <-time.After(rand.N(min(longest, time.Millisecond<<min(run, 10)))):
		case <-ctx.Done():
			return run + 1, ctx.Err()
		}
	}
	return mostRuns, undone(fmt.Errorf("%w: %d runs: %w", store.ErrBusy, mostRuns, err))
}

// left is what a caller still waits: all of it is half as long again as one question may take. Two connections in turn that swallow
// what is sent then take as long as a caller waits, and not twice as long as one.
func (s *Store) left(began time.Time) time.Duration { return s.by.closure*3/2 - time.Since(began) }

// turn runs fn once. again: it met a conflict, and nothing was done.
func (s *Store) turn(ctx context.Context, at level, run int, fn func(store.Tx) error) (again bool, err error) {
	if run >= at.aloneFrom {
		at.alone.Lock()
		defer at.alone.Unlock()
	} else {
		at.alone.RLock()
		defer at.alone.RUnlock()
	}
	conn, err := s.begun(ctx, at.begin, at.most)
	if err != nil {
		return false, err
	}
	defer s.give(conn)
	t := &scope{of: s, conn: conn, by: ctx, most: at.most}
	if at.here {
		s.stays(t)
	}
	own := called(fn, t)
	broken := t.end(own == nil)
	if own != nil || broken != nil {
		s.rollback(conn)
		if codeOf(broken) == movedBooks {
			s.saw(errMoved)
			return false, undoneError{errMoved}
		}
		if errors.Is(broken, errLost) && run < mostLost && s.left(at.began) > s.by.closure/4 { // COMMIT was not sent: nothing was done, and another connection may be well
			return true, broken
		}
		if broken != nil && (conflicts(broken) || at.keyRuns > 0 && codeOf(broken) == uniqueViolation) {
			return true, broken
		}
		if broken != nil {
			s.saw(broken)
		}
		if own == nil {
			own = broken
		}
		if broken != nil {
			own = undone(own)
		}
		return false, own
	}
	return s.commit(conn)
}

// begun takes a connection and opens a transaction on it, which the first question begins.
func (s *Store) begun(ctx context.Context, begin string, most time.Duration) (*sql.Conn, error) {
	of, err := s.takeWithin(ctx, most)
	if err != nil {
		return nil, err
	}
	if err := of.Raw(func(c any) error {
		c.(*conn).begin(context.WithoutCancel(ctx), begin)
		return nil
	}); err != nil {
		s.give(of)
		return nil, s.met(ctx, err)
	}
	return of, nil
}

// commit ends a transaction. again: it met a conflict, and nothing was done.
func (s *Store) commit(conn *sql.Conn) (again bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.opt.CommitWithin)
	defer cancel()
	began := time.Now()
	hangs := s.hangs()
	_, err = conn.ExecContext(ctx, "COMMIT")
	hangs.Stop()
	switch code := codeOf(err); {
	case errors.Is(err, errRolledBack):
		s.saw(err)
		return false, err
	case err == nil && s.unconfirmed(conn):
		err = errors.New("the standbys did not confirm it")
		fallthrough
	case err != nil && (code == "" || code == "57014" || code[:2] == "57" || code[:2] == "08"):
		err = fmt.Errorf("%w: %w", store.ErrCommitUnknown, err)
		s.saw(fmt.Errorf("%w: %w", store.ErrIO, err))
		return false, err
	case conflicts(err):
		return true, err
	case err != nil:
		err = classify(err)
		s.saw(err)
		return false, err
	}
	s.committed(time.Since(began), s.changed(conn))
	return false, nil
}

// unconfirmed reports whether the server said that its standbys did not answer.
func (s *Store) unconfirmed(of *sql.Conn) (yes bool) {
	_ = of.Raw(func(c any) error { // it fails only where the connection is gone
		one := c.(*conn)
		yes, one.alone = one.alone, false
		return nil
	})
	return yes
}

// rollback gives a transaction up. A connection that does not take it is not used again.
func (s *Store) rollback(of *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	_ = of.Raw(func(c any) error {
		one := c.(*conn)
		one.forget()
		if one.pg.PgConn().TxStatus() == 'I' { // it was never begun, or is over
			return nil
		}
		_, err := one.pg.Exec(ctx, "ROLLBACK")
		return err
	})
}

// Read implements store.DB.
func (s *Store) Read(ctx context.Context, fn func(store.Reader) error) error {
	conn, err := s.begun(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", s.by.closure)
	if err != nil {
		return err
	}
	defer s.give(conn)
	t := &scope{of: s, conn: conn, by: ctx, readOnly: true, most: s.by.closure}
	defer s.rollback(conn)
	defer func() {
		if broken := t.end(false); errors.Is(broken, store.ErrIO) { // fn was told
			s.saw(broken)
		}
	}()
	return fn(t)
}

// take takes a connection.
func (s *Store) take(ctx context.Context) (*sql.Conn, error) { return s.takeWithin(ctx, s.by.closure) }

// takeWithin takes one. Where less is left than a question may take, because a connection was lost before, no longer is waited for it.
func (s *Store) takeWithin(ctx context.Context, most time.Duration) (*sql.Conn, error) {
	if s.isClosed() {
		return nil, store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if why := s.barred.Load(); why != nil {
		return nil, undone(*why)
	}
	wait, cancel := ctx, func() {}
	if most < s.by.closure {
		wait, cancel = context.WithTimeout(ctx, most)
	}
	conn, err := s.db.Conn(wait)
	cancel()
	if err != nil {
		return nil, s.met(ctx, err)
	}
	return conn, nil
}

// met is what an error before the first statement means: nothing was done.
func (s *Store) met(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.isClosed():
		return store.ErrClosed
	}
	switch err = classify(err); {
	case errors.Is(err, store.ErrIO) || errors.Is(err, store.ErrReadOnly):
	case refuses(err):
		err = awayError{err}
	case codeOf(err) != "":
	default:
		err = fmt.Errorf("%w: %w", store.ErrIO, err)
	}
	s.saw(err)
	return undone(err)
}

func (s *Store) give(conn *sql.Conn) { _ = conn.Close() } // its state is looked at when it is used again

// called runs a closure on a goroutine of its own, which it may end.
func called(fn func(store.Tx) error, t store.Tx) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%w: the closure ended its goroutine", store.ErrPanic)
		defer func() {
			if p := recover(); p != nil {
				buf := make([]byte, 4<<10)
				err = fmt.Errorf("%w: %v\n%s", store.ErrPanic, p, buf[:runtime.Stack(buf, false)])
			}
			done <- err
		}()
		err = fn(t)
	}()
	return <-done
}
