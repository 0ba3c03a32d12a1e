package salesapi

import (
	"context"
	"errors"
	"sync"
	"time"

	"posagent/ecr"
)

// findPause is between two tries to follow a sale on.
const findPause = time.Second

// run follows a sale until its outcome is there, and what became of telling it is reported.
type run struct {
	id, line, key string
	listens       func(yes bool) // tells the desk whether a request waits for the outcome

	mu      sync.Mutex
	joined  int  // tellings that the desk wants to be told of
	tellers int  // requests that may carry the outcome
	heard   bool // one of them was acknowledged
	over    bool // nothing joins any more
	step    ecr.Progress
	outcome ecr.Outcome
	ended   chan struct{} // closed with the outcome
	idle    chan struct{} // gets a value when no request is left that may carry it
	known   chan struct{} // closed when the desk knows what became of telling it
}

// follow returns the run of a sale that the desk has given, which it joins. Each one that is given has
// to be reported on, whoever tells it. The caller may carry the outcome: it must leave.
func (t *Till) follow(ctx context.Context, key string, sale ecr.Sale) *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.runs[sale.ID]; r != nil && r.listen(1) {
		return r
	}
	r := &run{id: sale.ID, line: line(ctx), key: key, joined: 1, tellers: 1, ended: make(chan struct{}), idle: make(chan struct{}, 1), known: make(chan struct{})}
	r.listens = func(yes bool) {
		if l, ok := t.o.Desk.(ecr.Listener); ok {
			l.Listens(sale.ID, yes)
		}
	}
	t.runs[sale.ID] = r
	go func() {
		defer close(r.known)
		t.tell(written(ctx), r, sale)
	}()
	return r
}

// running returns the run of a sale, joining it where it has none yet. The caller may carry the outcome:
// it must leave. ecr.ErrNone, *ecr.Refusal.
func (t *Till) running(ctx context.Context, id, key string) (*run, error) {
	t.mu.Lock()
	r := t.runs[id]
	t.mu.Unlock()
	if r != nil && r.listen(0) {
		return r, nil
	}
	sale, err := t.o.Desk.Find(written(ctx), line(ctx), key)
	if err != nil {
		return nil, err
	}
	return t.follow(ctx, key, sale), nil
}

// listen registers a request that may carry the outcome, and the tellings that the desk wants to be
// told of for it. It is false where the outcome is reported already: an answer that carries it then
// would be a word that nothing stands behind.
func (r *run) listen(joined int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.joined += joined
	if r.tellers++; r.tellers == 1 {
		r.listens(true)
	}
	return true
}

// leave says whether the client has acknowledged the outcome.
func (r *run) leave(heard bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = r.heard || heard
	if r.tellers--; r.tellers == 0 {
		r.listens(false)
		select {
		case r.idle <- struct{}{}:
		default:
		}
	}
}

// settled ends the run where no request may carry the outcome any more.
func (r *run) settled() (joined int, heard, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tellers > 0 {
		return 0, false, false
	}
	r.over = true
	return r.joined, r.heard, true
}

// now is the outcome, where it is there, and the newest step.
func (r *run) now() (step ecr.Progress, out *ecr.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.ended:
		o := r.outcome
		return r.step, &o
	default:
		return r.step, nil
	}
}

// tell follows a sale to its end, lets the requests that wait for it tell it, and reports what became
// of that.
func (t *Till) tell(ctx context.Context, r *run, sale ecr.Sale) {
	out, ok := t.watch(r, sale)
	for ok && out.Result == ecr.InProgress && out.Code != ecr.OnHold { // no end: HTTP clients have the time
		sale, ok = t.goOn(ctx, r)
		if ok {
			out, ok = t.watch(r, sale)
		}
	}
	if !ok {
		return
	}
	r.mu.Lock()
	r.outcome = out
	close(r.ended)
	r.mu.Unlock()
	joined, heard, over := r.settled()
	for ; !over; joined, heard, over = r.settled() {
		<-r.idle // their time is bounded
	}
	what := ecr.Lost
	if heard {
		what = ecr.Told
	}
	t.report(ctx, r, joined, what)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[r.id] == r {
		delete(t.runs, r.id)
	}
}

// recorded waits until the desk knows what became of the outcomes that are being told just now: who
// has heard one begins the next sale at once, and must not be told that the terminal is busy.
func (t *Till) recorded() {
	var list []*run
	t.mu.Lock()
	for _, r := range t.runs {
		if _, out := r.now(); out != nil {
			list = append(list, r)
		}
	}
	t.mu.Unlock()
	timer := time.NewTimer(heardWithin)
	defer timer.Stop()
	for _, r := range list {
		select {
		case <-r.known:
		case <-timer.C:
			return
		case <-t.done:
			return
		}
	}
}

func (t *Till) report(ctx context.Context, r *run, times int, what ecr.Delivery) {
	for range times {
		if _, err := t.o.Desk.Delivered(ctx, r.id, what); err != nil {
			t.o.Log.Error("delivery not recorded", "sale", r.id, "delivery", what, "err", err)
		}
	}
}

// watch waits for the outcome and keeps the newest step; ok is false where the Till ends first.
func (t *Till) watch(r *run, sale ecr.Sale) (out ecr.Outcome, ok bool) {
	steps := sale.Progress
	for {
		select {
		case p, open := <-steps:
			if !open {
				steps = nil
				continue
			}
			r.mu.Lock()
			r.step = p
			r.mu.Unlock()
		case out, ok = <-sale.Outcome:
			return out, ok
		case <-t.done:
			return out, false
		}
	}
}

// goOn joins a refund or reversal again that was told "in progress".
func (t *Till) goOn(ctx context.Context, r *run) (sale ecr.Sale, ok bool) {
	r.mu.Lock()
	joined := r.joined
	r.joined = 1 // what comes now
	r.mu.Unlock()
	t.report(ctx, r, 1, ecr.Interim)
	t.report(ctx, r, joined-1, ecr.Lost) // these were told nothing yet, whatever it was
	for {
		sale, err := t.o.Desk.Find(ctx, r.line, r.key)
		if err == nil {
			return sale, true
		}
		if errors.Is(err, ecr.ErrNone) {
			return sale, false
		}
		timer := time.NewTimer(findPause)
		select {
		case <-timer.C:
		case <-t.done:
			timer.Stop()
			return sale, false
		}
	}
}
