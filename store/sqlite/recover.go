package sqlite

import (
	"context"
	"errors"
	"fmt"

	"posagent/store"
	"posagent/store/marks"
)

// failed records why a transaction did not commit and decides what state the store is in.
func (s *Store) failed(op string, err error) error {
	err = fmt.Errorf("store: %s: %w", op, classify(err))
	switch {
	case errors.Is(err, store.ErrFull):
		s.setState(store.Full, err)
		if s.reserve.release() {
			s.log.Error("no space left, reserve released", "err", err)
		}
	case breaks(err) || errors.Is(err, errRolledBack):
		s.setState(store.Broken, err)
		s.log.Error("write failed, store is being reopened", "err", err)
	case op == "begin" && errors.Is(err, store.ErrBusy):
		s.setState(store.Busy, err)
	default:
		s.note(err)
	}
	return err
}

// undo rolls back the batch unless SQLite already has.
func (s *Store) undo() error {
	if s.w.rolledBack {
		return nil
	}
	return s.w.exec("ROLLBACK")
}

// again tries once more what has failed, without a caller.
func (s *Store) again() {
	if s.broken() != nil {
		_ = s.recover() // recorded
		return
	}
	if err := s.w.begin("BEGIN IMMEDIATE"); err != nil {
		_ = s.failed("begin", err)
		return
	}
	if err := s.undo(); err != nil {
		_ = s.failed("rollback", err)
		return
	}
	s.succeeded()
}

// recover replaces a connection that met an I/O error and proves the new one by a commit of its
// own. The commit also overwrites what an unacknowledged batch may have left in the log: from here
// on it can never turn up.
func (s *Store) recover() error {
	if err := s.displaced(); err != nil { // a connection that is opened now would open what lies there now
		s.setState(store.Broken, err)
		return err
	}
	if s.w != nil {
		_ = s.w.close()
		s.w = nil
	}
	ctx := context.Background()
	w, err := openLink(ctx, s.set)
	if err == nil {
		s.w = w
		err = s.prove(ctx)
	}
	if err != nil {
		if s.w != nil {
			_ = s.w.close()
		}
		s.w = nil
		err = fmt.Errorf("store: recover: %w", classify(err))
		s.setState(store.Broken, err)
		return err
	}
	s.log.Info("store has recovered")
	s.succeeded()
	return nil
}

func (s *Store) prove(ctx context.Context) error {
	if err := checkFile(ctx, s.w.conn, "quick_check"); err != nil {
		return err
	}
	var version int
	if err := s.w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != s.schema {
		return fmt.Errorf("%w: schema version is %d, was %d", store.ErrDamaged, version, s.schema)
	}
	if err := s.w.begin("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := s.w.exec("UPDATE store_meta SET value = CAST(CAST(value AS INTEGER) + 1 AS BLOB) WHERE name = 'recoveries'")
	next := raised(s.end)
	if err == nil && s.counts() {
		var row marks.EndRow
		if row, err = s.readEnd(ctx, s.w.conn); err == nil {
			next, err = s.goneOn(row)
		}
		if err == nil {
			err = s.w.exec(updateEnd, s.endArgs(next, s.flags)...)
		}
	}
	if err != nil {
		return errors.Join(err, s.undo())
	}
	if err := s.w.exec("COMMIT"); err != nil {
		return err
	}
	s.counted(next)
	return nil
}

// goneOn returns the end after the commit that proves a recovery. A batch that was not acknowledged
// may be in the file, but none that was may be missing: *CutError.
func (s *Store) goneOn(row marks.EndRow) (store.End, error) {
	if row.OK && row.End.Generation == s.end.Generation && row.End.Sequence >= s.end.Sequence {
		return raised(row.End), nil
	}
	return store.End{}, &store.CutError{Path: s.opt.Path, Before: s.end,
		Why: fmt.Sprintf("it ends at commit %d after an error of the medium, and commit %d was made", row.End.Sequence, s.end.Sequence)}
}
