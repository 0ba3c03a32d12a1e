package store

import (
	"context"
	"fmt"
	"time"
)

const (
	checkpointEvery   = 50 * time.Millisecond
	checkpointCommits = 64
	// restAtMost, times CheckpointEvery, is how long a few commits may lie in the log: a minute.
	restAtMost = 1200
	// walFrames bounds the log. Beside a writer that never rests a checkpoint is complete only for the moment: the next
	// frames are there before it has ended, and a log is started anew only when nothing is left to fold. So past this
	// length the writer folds the rest itself, between two commits.
	walFrames = 12288
	// shredAfter is how long a deleted data key may stay in the log of a store that nobody truncates.
	shredAfter = time.Minute
)

// checkpointLoop folds the log back into the file while there is something to fold. It sleeps on channels only when
// the store is idle.
func (s *Store) checkpointLoop() {
	defer close(s.idle)
	var shredTimer <-chan time.Time
	for {
		select {
		case <-s.closing:
			return
		case <-shredTimer:
			shredTimer = nil
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := s.Truncate(ctx); err != nil {
				shredTimer = time.After(shredAfter)
			}
			cancel()
			continue
		case <-s.dirty:
		}
		if !s.rest() {
			return
		}
		s.checkpoint()
		if shredTimer == nil && s.shred.Load() {
			shredTimer = time.After(shredAfter)
		}
	}
}

// rest waits, after a first commit, until the log is worth folding; false: the store is closing. A log that was folded
// starts anew, and that costs its first commit a second sync: a terminal that folded after each of a sale's states
// would wait twice for every one of them.
func (s *Store) rest() bool {
	soon, late := time.NewTimer(s.opt.CheckpointEvery), time.NewTimer(restAtMost*s.opt.CheckpointEvery)
	defer soon.Stop()
	defer late.Stop()
	for due := false; ; {
		if due && (s.commits.Load()-s.folded >= s.opt.CheckpointCommits || s.shred.Load()) {
			return true
		}
		select {
		case <-soon.C:
			due = true
		case <-late.C:
			return true
		case <-s.dirty:
		case <-s.closing:
			return false
		}
	}
}

func (s *Store) checkpoint() {
	s.folded = s.commits.Load()
	frames, _, _, err := s.ckpt.checkpoint("PASSIVE")
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
			_, _, _, err := s.w.checkpoint("PASSIVE")
			return err
		})
	}
}

// checkpoint runs one checkpoint and returns the frames in the log, those folded back, and whether it was kept from
// finishing.
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
	_, _, busy, err = s.w.checkpoint("TRUNCATE")
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
