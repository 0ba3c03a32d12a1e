package sqlite

import (
	"context"
	"errors"
	"os"

	"posagent/store/marks"
)

// Close finishes the writes already handed over, refuses others, and closes the file.
func (s *Store) Close() error { return s.close1() }

func (s *Store) shutdown() error {
	close(s.closing)
	<-s.stopped
	<-s.idle
	if err := s.displaced(); err != nil {
		return s.leave(err)
	}
	return s.release()
}

// leave ends a store whose files are not at its path any more. Its connections stay open until the
// process ends: the last one to be closed would fold the log into what lies there now, or remove
// another journal's log. The journal is made whole where nothing else lies at its path.
func (s *Store) leave(why error) error {
	whole, err := s.makeWhole()
	if whole {
		s.log.Warn("the journal was made whole again at its path", "path", s.opt.Path, "why", why)
	} else {
		s.log.Error("the journal is not at its path, and what was committed since ends with this process", "path", s.opt.Path, "why", why, "err", err)
	}
	if s.marks != nil {
		if whole && s.marks.Misplaced() {
			err = errors.Join(err, s.marks.Durably(func(*marks.Slot) {}))
		}
		err = errors.Join(err, s.marks.Close())
	}
	return errors.Join(err, s.unlock())
}

// unlock lets others own the journal.
func (s *Store) unlock() error {
	var errs []error
	for _, f := range []*os.File{s.own, s.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
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
	return errors.Join(append(errs, s.unlock())...)
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
