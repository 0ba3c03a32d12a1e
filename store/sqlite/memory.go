package sqlite

import (
	"context"
	"errors"

	"posagent/store"
)

// Commits counts the commits since the store was opened.
func (s *Store) Commits() int64 { return s.commits.Load() }

// ReleaseMemory gives back the memory that the connections hold for pages they have read. Each
// takes it again as it is used. deep closes all connections for reading but one; they are opened again as
// they are needed. Connections that are in use are passed by.
func (s *Store) ReleaseMemory(ctx context.Context, deep bool) error {
	const shrink = "PRAGMA shrink_memory"
	err := s.exclusive(ctx, func() error {
		if s.w == nil {
			return nil
		}
		return s.w.exec(shrink)
	})
	kept := false
	for range cap(s.readers) {
		select {
		case l := <-s.readers:
			switch {
			case l == nil:
			case deep && kept:
				err = errors.Join(err, l.close())
				l = nil
			default:
				kept = true
				err = errors.Join(err, l.exec(shrink))
			}
			s.readers <- l
		default:
		}
	}
	return err
}

// Secret implements Store.
func (s *Store) Secret(ctx context.Context, name, beside string) ([]byte, error) {
	return store.Secret(ctx, s, s.opt.Wrapper, s.log, name, beside)
}
