package store

import (
	"context"
	"errors"
)

// Commits counts the commits since the store was opened.
func (s *Store) Commits() int64 { return s.commits.Load() }

// Rest gives the memory back that the connections hold for pages they have read. Each takes it again as it is used. Connections that
// are in use are passed by.
func (s *Store) Rest(ctx context.Context) error {
	const shrink = "PRAGMA shrink_memory"
	err := s.exclusive(ctx, func() error {
		if s.w == nil {
			return nil
		}
		return s.w.exec(shrink)
	})
	for range cap(s.readers) {
		select {
		case l := <-s.readers:
			if l != nil {
				err = errors.Join(err, l.exec(shrink))
			}
			s.readers <- l
		default:
		}
	}
	return err
}
