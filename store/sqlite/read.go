package sqlite

import (
	"context"
	"errors"
	"fmt"

	"posagent/store"
)

// Read implements DB. fn runs on the caller's goroutine; ctx bounds the wait for a connection.
func (s *Store) Read(ctx context.Context, fn func(store.Reader) error) (err error) {
	var l *link
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
	}
	select {
	case l = <-s.readers:
	case <-s.closing:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.readers <- l }()
	if l == nil {
		if s.displaced() != nil { // it would read another file than the writer writes
			return s.readBeside(ctx, fn)
		}
		if l, err = s.openReader(ctx); err != nil {
			return fmt.Errorf("reader: %w", err)
		}
	}
	if err := l.begin("BEGIN"); err != nil {
		l = discard(l)
		return fmt.Errorf("reader: %w", classify(err))
	}
	t := &scope{l: l, readOnly: true, of: s}
	defer func() {
		if e := errors.Join(t.end(), l.exec("ROLLBACK")); e != nil {
			l = discard(l)
			if err == nil {
				err = classify(e)
			}
		}
	}()
	return fn(t)
}

// readBeside reads over the connection that writes, between two batches.
func (s *Store) readBeside(ctx context.Context, fn func(store.Reader) error) error {
	return s.exclusive(ctx, func() error {
		if s.w == nil {
			return fmt.Errorf("reader: %w", s.broken())
		}
		if err := s.w.begin("BEGIN"); err != nil {
			return fmt.Errorf("reader: %w", classify(err))
		}
		t := &scope{l: s.w, readOnly: true, of: s}
		err := call(func(tx store.Tx) error { return fn(tx) }, t)
		return errors.Join(err, t.end(), s.w.exec("ROLLBACK"))
	})
}

// Committed is closed by the next commit, once what it wrote can be read. Take it before reading:
// what is committed in between closes it too.
func (s *Store) Committed() <-chan struct{} {
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	if s.news.next == nil {
		s.news.next = make(chan struct{})
	}
	return s.news.next
}

func (s *Store) openReader(ctx context.Context) (*link, error) {
	set := s.set
	set.readOnly = true
	return openLink(ctx, set)
}

// Check runs SQLite's integrity check and the foreign key check; it takes time in proportion to the
// file. It answers ErrDamaged with what was found.
func (s *Store) Check(ctx context.Context) error {
	return s.Read(ctx, func(r store.Reader) error {
		l := r.(*scope).l
		return checkFile(ctx, l.conn, "integrity_check")
	})
}

// QuickCheck finds damaged pages and rows that lack what their table demands, in a fraction of
// Check's time. ErrDamaged.
func (s *Store) QuickCheck(ctx context.Context) error {
	return s.Read(ctx, func(r store.Reader) error {
		return checkFile(ctx, r.(*scope).l.conn, "quick_check")
	})
}
