package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/store"
	"posagent/store/marks"
)

const (
	checkpointEvery  = 50 * time.Millisecond
	checkpointWrites = 384
	// restAtMost, times CheckpointEvery, is how long a few writes may lie in the log: a minute.
	restAtMost = 1200
	// afterFailure, times CheckpointEvery, is how long a folding that failed is not tried again: a second.
	afterFailure = 20
	// walFrames bounds the log. Beside a writer that never rests a checkpoint is complete only for
	// the moment: the next frames are there before it has ended, and a log is started anew only
	// when nothing is left to fold. So past this length the writer folds the rest itself, between
	// two commits.
	walFrames = 12288
	// shredAfter is how long a deleted data key may stay in the WAL of an idle store.
	shredAfter = time.Minute
)

// checkpointLoop folds the log while there is something to fold, and truncates it a while after a
// data key was deleted. To fold the log is SQLite's checkpoint: it copies frames of the write-ahead
// log (WAL) into the database file. It sleeps on channels only when the store is idle.
//
// After a first commit it waits until the log is worth folding. A log that was folded starts anew,
// and that costs its first commit a second sync: a terminal that folded after each of a sale's
// states would wait twice for every one of them.
func (s *Store) checkpointLoop() {
	defer close(s.idle)
	var soon, late, shred <-chan time.Time // nil = not waited for
	fresh, due := false, false             // there was a commit since the last look; a look is due
	for {
		fold := false
		select {
		case <-s.closing:
			return
		case <-s.dirty:
			fresh = true
			if late == nil {
				soon, late = time.After(s.opt.CheckpointEvery), time.After(restAtMost*s.opt.CheckpointEvery)
			}
			if shred == nil && s.shred.Load() {
				shred = time.After(shredAfter)
			}
		case <-soon:
			soon, due = nil, true
		case <-late:
			fold = true
		case <-shred:
			shred = nil
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := s.Truncate(ctx); err != nil {
				shred = time.After(shredAfter)
			}
			cancel()
		}
		if fresh && due && !fold {
			fold = s.writes.Load()-s.folded >= s.opt.CheckpointWrites || s.long()
			fresh, due, soon = false, false, time.After(s.opt.CheckpointEvery)
		}
		if fold {
			soon, late, fresh, due = nil, nil, false, false
			if !s.checkpoint() { // a medium that fails is not asked again after each commit
				soon, late = time.After(afterFailure*s.opt.CheckpointEvery), time.After(restAtMost*s.opt.CheckpointEvery)
			}
		}
	}
}

// long reports whether few but large writes have made the log as long as many small ones do.
func (s *Store) long() bool {
	frames, folded, _, err := s.ckpt.checkpoint("NOOP")
	return err == nil && frames-folded > walFrames/2
}

// checkpoint folds the log. It returns false where the medium failed.
func (s *Store) checkpoint() bool {
	s.folded = s.writes.Load()
	frames, err := s.foldBeside()
	if err != nil {
		s.note(fmt.Errorf("checkpoint: %w", classify(err)))
		s.log.Warn("checkpoint failed", "err", err)
		return false
	}
	if frames > walFrames {
		_ = s.exclusive(context.Background(), func() error {
			_, err := s.fold()
			return err
		})
	}
	return true
}

// foldBeside folds what is in the log at this moment, beside the writer, and returns how long the
// log is.
func (s *Store) foldBeside() (frames int64, err error) {
	if s.marks == nil {
		s.foldMu.Lock()
		defer s.foldMu.Unlock()
		defer s.place.wrote()
		frames, _, _, err = s.ckpt.checkpoint("PASSIVE")
		return frames, err
	}
	var f *folding
	err = s.exclusive(context.Background(), func() (err error) {
		f, err = s.beginFold()
		return err
	})
	switch {
	case errors.Is(err, store.ErrClosed):
		return 0, nil
	case err != nil || f == nil:
		return 0, err
	}
	frames, _, err = s.endFold(f, s.ckpt)
	return frames, err
}

// fold folds the log on the writer's goroutine; whole reports that nothing is left in it.
func (s *Store) fold() (whole bool, err error) {
	f, err := s.beginFold()
	if err != nil || f == nil {
		return err == nil, err
	}
	frames, folded, err := s.endFold(f, s.w)
	return frames == folded, err
}

// folding is a log that is about to be folded, and a reader in it. The mark names the log from
// before until after. Meanwhile the reader keeps the log from being started anew: the mark would
// name one that is gone.
type folding struct {
	log marks.Folding
	pin *link // nil = the store has no marks
}

// beginFold names the log; nil where nothing in it is left to fold. It runs on the writer's
// goroutine. Where it returns a log, endFold has to follow.
func (s *Store) beginFold() (f *folding, err error) {
	if s.w == nil {
		return nil, nil
	}
	s.foldMu.Lock()
	defer func() {
		if f == nil {
			s.foldMu.Unlock()
		}
	}()
	if lost := s.place.lost(true); lost != nil { // the log belongs to another file than the one that lies there now
		return nil, lost
	}
	frames, folded, _, err := s.w.checkpoint("NOOP")
	if err != nil {
		return nil, err
	}
	if err := s.letGo(frames); err != nil || frames <= 0 || frames == folded {
		return nil, err
	}
	if s.marks == nil || s.flags&marks.RowMarked == 0 {
		return &folding{}, nil
	}
	log := marks.Folding{Frames: uint32(frames)}
	if log.Salt1, log.Salt2, err = walSalts(s.opt.Path); err != nil {
		return nil, err
	}
	pin, err := s.reader()
	if err != nil {
		return nil, err
	}
	var n int
	if err = pin.begin("BEGIN"); err == nil {
		err = pin.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM store_end").Scan(&n)
	}
	if err != nil {
		_ = pin.close()
		return nil, err
	}
	return &folding{log: log, pin: pin}, nil
}

// endFold folds the log over the connection l. A mark that fails is shown by Health. The error is
// that of the folding, or of a mark that may still name the log: then the reader stays in the log,
// until letGo. It does not stay in a log of more than walFrames: a mark that can never be written
// must not fill the medium.
func (s *Store) endFold(f *folding, l *link) (frames, folded int64, err error) {
	defer s.foldMu.Unlock()
	defer s.place.wrote()
	if f.pin == nil {
		n, done, _, err := l.checkpoint("PASSIVE")
		return n, done, err
	}
	if err := s.marks.Durably(func(c *marks.Slot) { c.Fold = f.log }); err != nil {
		s.note(err)
	}
	frames, folded, _, err = l.checkpoint("PASSIVE")
	if e := s.clearFold(); e != nil && frames <= walFrames {
		s.kept = f.pin
		return frames, folded, errors.Join(err, e)
	}
	return frames, folded, errors.Join(err, s.unpin(f.pin))
}

// clearFold says in the marks, durably, that no log is being folded.
func (s *Store) clearFold() error {
	err := s.marks.Durably(func(c *marks.Slot) { c.Fold = marks.Folding{} })
	if err != nil {
		s.note(err)
	}
	return err
}

// letGo ends the reader of a log that the marks may still name, once they do not, or once the log is
// longer than walFrames.
func (s *Store) letGo(frames int64) error {
	if s.kept == nil {
		return nil
	}
	if err := s.clearFold(); err != nil && frames <= walFrames {
		return err
	}
	pin := s.kept
	s.kept = nil
	return s.unpin(pin)
}

// reader takes a free connection of the readers, or opens one more.
func (s *Store) reader() (*link, error) {
	select {
	case l := <-s.readers:
		s.readers <- nil
		if l != nil {
			return l, nil
		}
	default:
	}
	return s.openReader(context.Background())
}

// unpin ends the transaction of a reader and gives it back to the readers.
func (s *Store) unpin(l *link) error {
	if err := l.endRead(); err != nil {
		return errors.Join(err, l.close())
	}
	select {
	case other := <-s.readers:
		if other == nil {
			s.readers <- l
			return nil
		}
		s.readers <- other
	default:
	}
	return l.close()
}

// Truncate empties the write-ahead log, so that nothing deleted is left in it. It waits for readers
// until ctx ends and then answers ErrBusy.
func (s *Store) Truncate(ctx context.Context) error {
	for {
		var busy bool
		err := s.exclusive(ctx, func() (err error) {
			busy, err = s.truncate()
			return err
		})
		if err != nil || !busy {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w: truncate: %w", store.ErrBusy, ctx.Err())
		}
	}
}

// truncate empties the log; it runs on the writer goroutine.
func (s *Store) truncate() (busy bool, err error) {
	if err := s.broken(); err != nil {
		return false, err
	}
	// A reader with an old snapshot must not stop the writer for the whole busy timeout.
	if err := s.w.exec("PRAGMA busy_timeout = 50"); err != nil {
		return false, classify(err)
	}
	whole, err := s.fold()
	if busy = !whole; whole && err == nil {
		_, _, busy, err = s.w.checkpoint("TRUNCATE")
	}
	if e := s.w.exec("PRAGMA busy_timeout = 5000"); err == nil {
		err = e
	}
	if err != nil {
		return false, s.failed("truncate", err)
	}
	if !busy {
		s.shred.Store(false)
	}
	return busy, nil
}
