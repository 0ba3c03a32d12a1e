package sqlite

import (
	"context"
	"errors"
)

// Close finishes the writes already handed over, refuses others, and closes the file.
func (s *Store) Close() error { return s.close1() }

func (s *Store) shutdown() error {
	close(s.closing)
	<-s.stopped
	<-s.idle
	return s.release()
}

// release gives back whatever is open. Closing the last connection that writes folds the log into
// the file: where the marks may still name the log, or the medium has failed, the last to go only
// reads.
func (s *Store) release() error {
	var errs []error
	for range cap(s.readers) {
		if l := <-s.readers; l != nil {
			errs = append(errs, l.close())
		}
	}
	var last *link
	if err := s.lastFold(); err != nil {
		s.log.Warn("checkpoint failed", "err", err)
		if last = s.kept; last == nil {
			last, _ = s.openReader(context.Background())
		}
	}
	for _, l := range []*link{s.ckpt, s.w, last} {
		if l != nil {
			errs = append(errs, l.close())
		}
	}
	if s.marks != nil {
		errs = append(errs, s.marks.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// lastFold folds what is left in the log. An error says that the log must stay.
func (s *Store) lastFold() error {
	if s.marks == nil || s.w == nil && s.ckpt == nil {
		return nil
	}
	if err := s.broken(); err != nil {
		return err
	}
	if _, err := s.fold(); err != nil {
		return err
	}
	return s.marks.Health()[0].Err
}
