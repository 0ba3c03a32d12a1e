package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"posagent/store"
	"posagent/store/marks"
)

// request is one caller's part of a batch.
type request struct {
	by    context.Context
	fn    func(store.Tx) error
	state atomic.Int32
	done  chan error // holds one result
}

const (
	queued int32 = iota
	taken
	cancelled
)

const (
	maxBatch    = 256
	spinWindow  = 100 * time.Microsecond // below this a timer is coarser than the window it measures
	spinLeast   = 24                     // turns that others get, also where a commit takes no time at all
	spinMost    = 1024                   // and where time stands still
	longest     = 4                      // windows in all, while callers keep coming
	retryFirst  = time.Second
	retryLonger = 30 * time.Second
)

// Write implements DB. ctx bounds the wait for a turn; once the closure has its turn Write waits
// for the medium.
func (s *Store) Write(ctx context.Context, fn func(store.Tx) error) error {
	if s.opt.ReadOnly {
		return store.ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{by: ctx, fn: fn, done: make(chan error, 1)}
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
	}
	select {
	case s.queue <- r:
	case <-s.closing:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-s.stopped:
		return r.late()
	case <-ctx.Done():
		if r.state.CompareAndSwap(queued, cancelled) {
			return ctx.Err()
		}
	}
	select {
	case err := <-r.done:
		return err
	case <-s.stopped:
		return r.late()
	}
}

// late is the result of a request the writer may have left behind when it ended.
func (r *request) late() error {
	select {
	case err := <-r.done:
		return err
	default:
		return store.ErrClosed
	}
}

// writeLoop is the only goroutine that writes.
func (s *Store) writeLoop() {
	ended := false
	defer func() {
		if ended {
			close(s.stopped)
			return
		}
		// A closure ended this goroutine (runtime.Goexit, as a failing test does); its batch was
		// answered.
		go s.writeLoop()
	}()
	var retry *time.Timer
	var retryC <-chan time.Time
	pause := retryFirst
	for {
		if s.broken() == nil {
			pause, retryC = retryFirst, nil
		} else if retryC == nil {
			retry = time.NewTimer(pause)
			retryC = retry.C
			pause = min(2*pause, retryLonger)
		}
		select {
		case r := <-s.queue:
			s.commit(s.gather(r))
		case f := <-s.ctl:
			f()
		case <-retryC:
			retryC = nil
			_ = s.recover()
		case <-s.closing:
			for {
				select {
				case r := <-s.queue:
					s.commit(s.gather(r))
				default:
					if retryC != nil {
						retry.Stop()
					}
					ended = true
					return
				}
			}
		}
	}
}

// gather collects the callers of one batch. Taking only what is queued splits callers that work in
// lockstep into two crowds that wait for each other; so after a batch of several it waits for as
// many as there were last time, until none has come for a moment.
func (s *Store) gather(first *request) []*request {
	batch := append(make([]*request, 0, max(8, s.want)), first)
	batch = s.drain(batch)
	if s.want > 1 && len(batch) < s.want {
		batch = s.await(batch, time.Duration(s.latency.Load())/8)
	}
	return batch
}

func (s *Store) drain(batch []*request) []*request {
	for len(batch) < maxBatch {
		select {
		case r := <-s.queue:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

func (s *Store) await(batch []*request, window time.Duration) []*request {
	target := min(s.want, maxBatch)
	start := time.Now()
	last := start // when one came
	if window < spinWindow {
		for i := range spinMost {
			runtime.Gosched()
			had := len(batch)
			batch = s.drain(batch)
			now := time.Now()
			if len(batch) > had {
				last = now
			}
			if len(batch) >= target || i >= spinLeast && (now.Sub(last) >= 2*window || now.Sub(start) >= 2*longest*window) {
				break
			}
		}
		return batch
	}
	timer := time.NewTimer(window)
	defer timer.Stop()
	for len(batch) < target {
		select {
		case r := <-s.queue:
			batch = append(batch, r)
			timer.Reset(min(window, longest*window-time.Since(start)))
		case <-timer.C:
			return batch
		case <-s.closing:
			return batch
		}
	}
	return batch
}

// commit runs a batch and answers every caller, after COMMIT has returned.
func (s *Store) commit(batch []*request) {
	live := batch[:0]
	for _, r := range batch {
		if r.state.CompareAndSwap(queued, taken) {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		return
	}
	results := make([]error, len(live))
	failed := fmt.Errorf("%w: the closure ended its goroutine", store.ErrPanic)
	answered := false
	defer func() {
		if !answered {
			_ = s.w.exec("ROLLBACK")
			for _, r := range live {
				r.done <- failed
			}
		}
	}()
	err := s.transact(live, results)
	answered = true
	for i, r := range live {
		if err != nil && results[i] == nil {
			r.done <- err
			continue
		}
		r.done <- results[i]
	}
	n := len(live) + len(s.queue)
	s.want = max(n, s.want-(s.want+3)/4)
}

// transact runs one transaction. An error means that no caller's effects are in it; results holds
// the callers' own errors.
func (s *Store) transact(live []*request, results []error) error {
	if err := s.broken(); err != nil {
		if err := s.recover(); err != nil {
			return err
		}
	}
	s.reserve.releaseIfLow()
	if err := s.w.begin("BEGIN IMMEDIATE"); err != nil {
		return s.failed("begin", err)
	}
	single := len(live) == 1
	kept, changed := 0, false
	for i, r := range live {
		did, own, lost := s.runOne(r, single)
		results[i] = own
		if lost != nil {
			return s.failed("write", errors.Join(lost, s.undo()))
		}
		if own == nil {
			kept++
			changed = changed || did
		}
	}
	if kept == 0 {
		if err := s.undo(); err != nil {
			return s.failed("rollback", err)
		}
		return nil
	}
	next, changed, err := s.atCommit(changed)
	if err != nil {
		return s.failed("at commit", errors.Join(err, s.undo()))
	}
	start := time.Now()
	if err := s.w.exec("COMMIT"); err != nil {
		return s.failed("commit", errors.Join(err, s.undo()))
	}
	if changed {
		s.counted(next)
	}
	took := int64(time.Since(start))
	old := s.latency.Load()
	if old == 0 {
		old = took
	}
	s.latency.Store(old + (took-old)/8)
	s.commits.Add(1)
	s.writes.Add(int64(len(live)))
	s.succeeded()
	s.news.tell()
	select {
	case s.dirty <- struct{}{}:
	default:
	}
	return nil
}

// atCommit runs Options.AtCommit and Options.Note on the batch's transaction, and writes the
// journal's next end where anything has changed: a batch that changes nothing costs no sync.
// changed says whether the callers have.
func (s *Store) atCommit(changed bool) (next store.End, did bool, err error) {
	next = raised(s.end)
	if s.opt.AtCommit == nil && !(changed && s.counts()) {
		return next, false, nil
	}
	t := &scope{l: s.w, of: s}
	err = call(func(tx store.Tx) (err error) {
		if s.opt.AtCommit != nil {
			if next.Head, err = s.opt.AtCommit(tx); err != nil {
				return err
			}
		}
		if did = (changed || t.changed) && s.counts(); did && s.opt.Note != nil {
			next.Note, err = s.opt.Note(tx, s.end.Note)
		}
		return err
	}, t)
	if lost := t.end(); lost != nil {
		return next, false, lost
	}
	if err == nil && did {
		err = s.w.exec(updateEnd, s.endArgs(next, s.flags)...)
	}
	return next, did, err
}

// undo rolls back the batch unless SQLite already has.
func (s *Store) undo() error {
	if s.w.rolledBack {
		return nil
	}
	return s.w.exec("ROLLBACK")
}

// runOne runs one closure. changed reports whether it may have changed a row; own is its error,
// with its effects undone; lost means that the whole batch is.
func (s *Store) runOne(r *request, single bool) (changed bool, own, lost error) {
	if !single {
		if err := s.w.exec("SAVEPOINT caller"); err != nil {
			return false, nil, err
		}
	}
	t := &scope{l: s.w, by: r.by, of: s}
	own = call(r.fn, t)
	if lost = t.end(); lost != nil {
		return false, own, lost
	}
	if single {
		return t.changed, own, nil
	}
	if own != nil {
		if err := s.w.exec("ROLLBACK TO caller"); err != nil {
			return false, own, err
		}
	}
	return t.changed, own, s.w.exec("RELEASE caller")
}

// call turns a panic into an error.
func call(fn func(store.Tx) error, t store.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			buf := make([]byte, 4<<10)
			err = fmt.Errorf("%w: %v\n%s", store.ErrPanic, p, buf[:runtime.Stack(buf, false)])
		}
	}()
	return fn(t)
}

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
	default:
		s.note(err)
	}
	return err
}

// recover replaces a connection that met an I/O error and proves the new one by a commit of its
// own. The commit also overwrites what an unacknowledged batch may have left in the log: from here
// on it can never turn up.
func (s *Store) recover() error {
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
