package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"posagent/store"
	"posagent/store/marks"
)

const (
	checkpointEvery  = 50 * time.Millisecond
	checkpointWrites = 384
	// restAtMost, times CheckpointEvery, is how long a few writes may lie in the log: a minute.
	restAtMost = 1200
	// walFrames bounds the log. Beside a writer that never rests a checkpoint is complete only for
	// the moment: the next frames are there before it has ended, and a log is started anew only
	// when nothing is left to fold. So past this length the writer folds the rest itself, between
	// two commits.
	walFrames = 12288
	// shredAfter is how long a deleted data key may stay in the log of a store that nobody
	// truncates.
	shredAfter = time.Minute
)

// checkpointLoop folds the log back into the file while there is something to fold, and truncates it
// a while after a data key was deleted. It sleeps on channels only when the store is idle.
//
// After a first commit it waits until the log is worth folding. A log that was folded starts anew,
// and that costs its first commit a second sync: a terminal that folded after each of a sale's
// states would wait twice for every one of them.
func (s *Store) checkpointLoop() {
	defer close(s.idle)
	var soon, late, shred <-chan time.Time // nil = not waited for
	due := false
	for {
		fold := false
		select {
		case <-s.closing:
			return
		case <-s.dirty:
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
		if fold || due && s.writes.Load()-s.folded >= s.opt.CheckpointWrites {
			soon, late, due = nil, nil, false
			s.checkpoint()
		}
	}
}

func (s *Store) checkpoint() {
	s.folded = s.writes.Load()
	frames, err := s.foldBeside()
	if err != nil {
		s.note(fmt.Errorf("checkpoint: %w", classify(err)))
		s.log.Warn("checkpoint failed", "err", err)
		return
	}
	if frames > walFrames {
		_ = s.exclusive(context.Background(), func() error {
			if s.w == nil {
				return nil
			}
			_, err := s.fold()
			return err
		})
	}
}

// foldBeside folds what is in the log at this moment, beside the writer, and returns how long the
// log is. The mark says which log that is from before until after. Meanwhile a reader keeps the log
// from being started anew: the mark would name one that is gone.
func (s *Store) foldBeside() (frames int64, err error) {
	if s.marks == nil {
		frames, _, _, err = s.ckpt.checkpoint("PASSIVE")
		return frames, err
	}
	var pin *link
	select {
	case pin = <-s.readers:
	case <-s.closing:
		return 0, nil
	}
	defer func() { s.readers <- pin }()
	if pin == nil {
		set := s.set
		set.readOnly = true
		if pin, err = openLink(context.Background(), set); err != nil {
			pin = nil
			return 0, err
		}
	}
	var f marks.Folding
	err = s.exclusive(context.Background(), func() error {
		if s.w == nil {
			return nil
		}
		var err error
		if f, err = s.toFold(); err != nil || f.Frames == 0 {
			return err
		}
		if err := pin.begin("BEGIN"); err != nil {
			return err
		}
		var n int
		return pin.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM store_end").Scan(&n)
	})
	if err == nil && f.Frames > 0 {
		err = s.marked(f, func() error {
			frames, _, _, err = s.ckpt.checkpoint("PASSIVE")
			return err
		})
	}
	if errors.Is(err, store.ErrClosed) {
		err = nil
	}
	if e := pin.endRead(); e != nil {
		pin = discard(pin)
		err = errors.Join(err, e)
	}
	return frames, err
}

// endRead ends the read transaction of a connection that may have none.
func (l *link) endRead() error {
	if l.rolledBack {
		return nil
	}
	_, err := l.conn.ExecContext(context.Background(), "ROLLBACK")
	if code(err) == sqlite3.SQLITE_ERROR { // none was begun
		return nil
	}
	return err
}

// fold folds the log on the writer's goroutine; whole reports that nothing is left in it.
func (s *Store) fold() (whole bool, err error) {
	f, err := s.toFold()
	if err != nil || f.Frames == 0 {
		return err == nil, err
	}
	err = s.marked(f, func() error {
		frames, folded, _, err := s.w.checkpoint("PASSIVE")
		whole = frames == folded
		return err
	})
	return whole, err
}

// toFold names the log; no frames where nothing in it is left to fold. It runs on the writer's
// goroutine.
func (s *Store) toFold() (f marks.Folding, err error) {
	frames, folded, _, err := s.w.checkpoint("NOOP")
	if err != nil || frames <= 0 || frames == folded {
		return f, err
	}
	if s.marks != nil {
		if f.Salt1, f.Salt2, err = walSalts(s.opt.Path); err != nil {
			return f, err
		}
	}
	f.Frames = uint32(frames)
	return f, nil
}

// marked runs do while the marks say that the log f is being folded. A mark that fails is shown by
// Health. The error is that of do, or of a mark that may still say so: then the log must stay.
func (s *Store) marked(f marks.Folding, do func() error) error {
	if s.marks == nil || s.flags&marks.RowMarked == 0 {
		return do()
	}
	if err := s.marks.Durably(func(c *marks.Slot) { c.Fold = f }); err != nil {
		s.note(err)
	}
	err := do()
	if e := s.marks.Durably(func(c *marks.Slot) { c.Fold = marks.Folding{} }); e != nil { // it may still ask for the log
		s.note(e)
		err = errors.Join(err, e)
	}
	return err
}

// checkpoint runs one checkpoint and returns the frames in the log, those folded back, and whether
// it was kept from finishing.
func (l *link) checkpoint(mode string) (frames, folded int64, busy bool, err error) {
	err = l.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &folded)
	return frames, folded, busy, err
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
