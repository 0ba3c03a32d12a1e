package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/store"
)

// watch asks the server every few seconds, so that its end and its return are noticed without a caller, and remembers how far it has
// confirmed.
func (s *Store) watch(ctx context.Context) {
	defer close(s.watched)
	if s.opt.Beat < 0 {
		return
	}
	s.look(ctx)
	tick := time.NewTicker(s.opt.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
			defer cancel()
			_ = s.confirm(last) // whoever closes it may have lost the server
			return
		case <-tick.C:
		}
		s.look(ctx)
	}
}

// look asks the server once. What is wrong shows in Health.
func (s *Store) look(ctx context.Context) {
	err := s.present(ctx)
	if err == nil {
		err = s.confirm(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("the server does not confirm what it has", "err", err)
	}
}

// confirm commits an empty transaction: up to where the log was before it, all is as durable as the server makes it.
func (s *Store) confirm(ctx context.Context) error {
	conn, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer s.give(conn)
	ctx, cancel := context.WithTimeout(ctx, s.opt.CommitWithin)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return s.met(ctx, err)
	}
	var at Primary
	var segment string
	err = conn.QueryRowContext(ctx, `SELECT (SELECT system_identifier::text FROM pg_control_system()), pg_walfile_name(pg_current_wal_lsn()),
		pg_current_wal_lsn()::text, pg_logical_emit_message(true, 'posagent', '')::text`).Scan(&at.System, &segment, &at.Position, new(string))
	if err == nil {
		at.Timeline, err = timeline(segment)
	}
	if err != nil {
		s.rollback(conn)
		return s.met(ctx, err)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	if err == nil && s.unconfirmed(conn) {
		err = errors.New("the standbys did not confirm it")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", store.ErrIO, err)
		s.saw(err)
		return err
	}
	s.answers()
	return s.memory.confirm(at)
}

// timeline is that of a segment of the log, by its name.
func timeline(segment string) (uint32, error) {
	n, err := strconv.ParseUint(segment[:min(8, len(segment))], 16, 32)
	return uint32(n), err
}

// answers ends the state of a server that did not answer. One without space has not shown that it has some.
func (s *Store) answers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == store.Broken {
		s.state = store.Ready
	}
}
