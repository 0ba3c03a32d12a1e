package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"posagent/store"
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

// WriteOwn implements DB: there is one writer.
func (s *Store) WriteOwn(ctx context.Context, fn func(store.Tx) error) error { return s.Write(ctx, fn) }

// Write implements DB. ctx bounds the wait for a turn; once the closure has its turn Write waits
// for the medium.
func (s *Store) Write(ctx context.Context, fn func(store.Tx) error) error {
	if s.opt.Wrote == nil {
		return s.write(ctx, fn)
	}
	var runs atomic.Int64 // a closure that the end of the store has overtaken may still run
	began := time.Now()
	err := s.write(ctx, func(tx store.Tx) error {
		runs.Add(1)
		return fn(tx)
	})
	s.opt.Wrote(time.Since(began), int(runs.Load()), err)
	return err
}

func (s *Store) write(ctx context.Context, fn func(store.Tx) error) error {
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

// exclusive runs fn on the writer goroutine between two batches.
func (s *Store) exclusive(ctx context.Context, fn func() error) error {
	if s.opt.ReadOnly {
		return store.ErrReadOnly
	}
	done := make(chan error, 1)
	select {
	case s.ctl <- func() { done <- fn() }:
		return <-done
	case <-s.stopped:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
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
		if s.unwell() == nil {
			pause, retryC = retryFirst, nil
		} else if retryC == nil {
			retry = time.NewTimer(pause)
			retryC = retry.C
			if s.broken() != nil { // a try at a lock waits by itself
				pause = min(2*pause, retryLonger)
			}
		}
		select {
		case r := <-s.queue:
			s.commit(s.gather(r))
		case f := <-s.ctl:
			f()
		case <-retryC:
			retryC = nil
			s.again()
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
	if s.unwell() != nil { // the lock is free again
		s.succeeded()
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
