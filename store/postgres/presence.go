package postgres

import (
	"context"
	"database/sql/driver"
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

// depart lets the lock go.
func (s *Store) depart() {
	if s.presence == nil {
		return
	}
	_ = s.presence.Raw(func(c any) error { return c.(*conn).Close() }) // the lock is the connection's
	s.give(s.presence)
	s.presence = nil
}
