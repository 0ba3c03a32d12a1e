package sqlite

import (
	"context"
	"path/filepath"
	"time"

	"posagent/device/file"
	"posagent/store"
	"posagent/store/marks"
)

// Health reports the present state. It touches no database page and is cheap.
func (s *Store) Health(context.Context) store.Health {
	s.mu.Lock()
	h := store.Health{State: s.state, LastErr: s.lastErr, LastErrAt: s.lastAt}
	s.mu.Unlock()
	if h.State == "" {
		h.State = store.Ready
	}
	if h.State != store.Ready {
		h.Err = h.LastErr
	}
	select {
	case <-s.closing:
		h.State, h.Err = store.Closed, store.ErrClosed
	default:
	}
	h.Path = s.opt.Path
	h.FileBytes = fileSize(s.opt.Path)
	h.WALBytes = fileSize(s.opt.Path + "-wal")
	var err error
	h.FreeBytes, err = file.Free(filepath.Dir(s.opt.Path))
	h.Reserved = s.reserve.held()
	if s.opt.ReadOnly {
		h.Reserved = fileSize(s.reserve.path) > 0
	}
	if err == nil {
		h.ShortBytes = s.reserve.short(h.FreeBytes, h.Reserved)
	}
	h.Schema = s.schema
	h.Commits, h.Writes = s.commits.Load(), s.writes.Load()
	h.CommitEMA = time.Duration(s.latency.Load())
	h.Synchronous = s.set.synchronous
	if h.State == store.Busy || h.WALBytes > store.LongLog {
		h.Others = Others(s.opt.Path)
	}
	if s.marks != nil {
		h.Marks = s.marks.Health()
	}
	return h
}

// Reserved reports whether new work may be accepted: the store takes writes and the reserve that
// lets accepted work be finished on a full disk is in place. It answers nil, ErrFull, ErrIO,
// ErrReadOnly, ErrBusy, ErrDamaged, ErrDisplaced or ErrClosed. A mark that was removed or replaced is
// made again.
func (s *Store) Reserved(context.Context) error {
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
	}
	if s.opt.ReadOnly {
		return store.ErrReadOnly
	}
	if err := s.displaced(); err != nil {
		return err
	}
	if err := s.unwell(); err != nil {
		return err
	}
	if s.marks != nil && s.marks.Misplaced() {
		if err := s.marks.Durably(func(*marks.Slot) {}); err != nil {
			s.note(err)
		}
	}
	return s.reserve.ensure()
}

func (s *Store) setState(st store.State, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.lastErr, s.lastAt = st, err, time.Now()
}

func (s *Store) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastErr, s.lastAt = err, time.Now()
}

func (s *Store) succeeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = store.Ready
}

// unwell is why the last write failed, where that keeps the next one from succeeding: the medium, or
// another program's lock.
func (s *Store) unwell() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != store.Broken && s.state != store.Busy {
		return nil
	}
	return s.lastErr
}

// broken is the error that the store has not recovered from yet.
func (s *Store) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != store.Broken {
		return nil
	}
	return s.lastErr
}
