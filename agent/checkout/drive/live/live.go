package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// Sales is what is known of the sales in this run only. Its methods are safe for concurrent use.
type Sales struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a sale has changed
	sales   map[wire.Key]*Sale
}

// Sale is one of them, as long as something can still happen to it or a caller waits for it.
type Sale struct {
	seq      uint64
	limits   checkout.Limits // as that commit left them
	resting  int             // an attempt of initialize that was counted in this run and has not left; 0 = none
	readStop chan struct{}   // of the read that waits, nil = none does
	readGen  int             // counts the questions that were scheduled or stopped
	tickStop chan struct{}
	prompt   context.CancelFunc
	lastRead time.Duration // boot clock, 0 = none yet
	waiters  []*Waiter
	deaf     bool         // no connection is there on which the outcome can leave
	holds    int          // tellings not yet reported on
	interim  int          // of these, tellings of "in progress"
	heard    ecr.Delivery // what was reported and could not be journalled
	progress ecr.Progress
	silence  int           // status questions in a row without an answer
	patient  bool          // the register has acknowledged an intermediate status
	unwanted bool          // the register has asked for an abort that came while an attempt was under way
	told     *ecr.Outcome  // "aborted", told while the journal could not be written
	interims *journal.Row  // what was told "in progress"
	over     chan struct{} // closed when the sale has ended
}

// Waiter is one caller that waits for the outcome.
type Waiter struct {
	progress chan ecr.Progress
	outcome  chan ecr.Outcome
}

// Give ends a waiter with the outcome.
func (w *Waiter) Give(o ecr.Outcome) {
	close(w.progress)
	w.outcome <- o
	close(w.outcome)
}

// New makes an empty memory.
func New() *Sales { return &Sales{changed: make(chan struct{}), sales: map[wire.Key]*Sale{}} }

// Announce wakes all callers that wait for a sale to change.
func (s *Sales) Announce() {
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
}

// Changed is closed when a sale changes after this call.
func (s *Sales) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Sales) sale(key wire.Key) *Sale { // with s.mu
	l := s.sales[key]
	if l == nil {
		l = &Sale{over: make(chan struct{})}
		s.sales[key] = l
	}
	return l
}

// Find returns a sale that is known, and the channel that is closed at its end; nil where it is not
// known, or has ended.
func (s *Sales) Find(key wire.Key) (*Sale, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	if l == nil || l.over == nil {
		return nil, nil
	}
	return l, l.over
}

// Seq is the newest commit of a sale that was performed.
func (s *Sales) Seq(key wire.Key) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil {
		return l.seq
	}
	return 0
}

// Advance says whether seq is the newest commit of the sale that was performed. Then, in the same
// step, the timer of its next limit replaces the older one; stop is nil where there is none.
func (s *Sales) Advance(row *journal.Row, seq uint64, timer bool) (stop chan struct{}, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(row.Key)
	if seq < l.seq {
		return nil, false
	}
	l.seq, l.limits = seq, row.State.Limits
	shut(&l.tickStop)
	if timer {
		l.tickStop = make(chan struct{})
	}
	return l.tickStop, true
}

// Forget drops what is kept of a sale that has ended.
func (s *Sales) Forget(row *journal.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[row.Key]
	if l == nil || checkout.Active(row.State) || len(l.waiters) > 0 || l.holds > 0 {
		return
	}
	shut(&l.readStop)
	shut(&l.tickStop)
	shut(&l.over)
	delete(s.sales, row.Key)
}

// Waited reports whether a caller waits for the outcome of a sale, or is being told it.
func (s *Sales) Waited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.sales {
		if len(l.waiters) > 0 || l.holds > 0 {
			return true
		}
	}
	return false
}

// Drop forgets a sale that was not accepted.
func (s *Sales) Drop(key wire.Key) {
	s.mu.Lock()
	delete(s.sales, key)
	s.mu.Unlock()
}

func shut(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// Waits notes that the register has acknowledged an intermediate status.
func (s *Sales) Waits(key wire.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil {
		l.patient = true
	}
}

// Patient implements journal.Memory.
func (s *Sales) Patient(key wire.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	return l != nil && l.patient
}

// Deadline is the sale's as its method and its register are now: the method may have been chosen
// since the sale began.
func (s *Sales) Deadline(l *Sale) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.patient {
		return max(l.limits.Deadline, l.limits.Long)
	}
	return l.limits.Deadline
}

// Rests notes that an attempt of initialize was counted in this run and has not left yet.
func (s *Sales) Rests(key wire.Key, try int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sale(key).resting = try
}

// TakeResting ends the rest of an attempt. It returns true to one caller, which may send the attempt
// or say that it was not sent. It returns false where the attempt has left, and of every attempt that
// an earlier run has counted: memory never proves that one was not sent.
func (s *Sales) TakeResting(key wire.Key, try int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	if l == nil || try == 0 || l.resting != try {
		return false
	}
	l.resting = 0
	return true
}

// SetPrompt notes how the dialogue of a sale is ended; false where the sale is over and forgotten.
func (s *Sales) SetPrompt(key wire.Key, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	if l != nil {
		l.prompt = cancel
	}
	return l != nil
}

// StopPrompt ends the dialogue of a sale.
func (s *Sales) StopPrompt(key wire.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil && l.prompt != nil {
		l.prompt()
	}
}

// Unwant notes that a register has asked for the abort of a refund or reversal while an attempt was
// under way.
func (s *Sales) Unwant(key wire.Key) {
	s.mu.Lock()
	s.sale(key).unwanted = true
	s.mu.Unlock()
	s.Announce()
}

// Unwanted says whether that was noted.
func (s *Sales) Unwanted(key wire.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	return l != nil && l.unwanted
}

// SetProgress shows a step to every waiter; only the latest is kept.
func (s *Sales) SetProgress(key wire.Key, p ecr.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	if l.progress.Step == p.Step {
		return
	}
	l.progress = p
	for _, w := range l.waiters {
		select {
		case <-w.progress:
		default:
		}
		w.progress <- p
	}
}

// Join makes a waiter and returns its end.
func (s *Sales) Join(key wire.Key) (ecr.Sale, *Waiter) {
	w := &Waiter{progress: make(chan ecr.Progress, 1), outcome: make(chan ecr.Outcome, 1)}
	s.mu.Lock()
	l := s.sale(key)
	l.waiters = append(l.waiters, w)
	if l.progress.Step != "" {
		w.progress <- l.progress
	}
	s.mu.Unlock()
	return ecr.Sale{ID: string(key), Progress: w.progress, Outcome: w.outcome}, w
}

// Take removes a waiter and counts the telling; false where it was taken before.
func (s *Sales) Take(key wire.Key, w *Waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	i := slices.Index(l.waiters, w)
	if i < 0 {
		return false
	}
	l.waiters = append(l.waiters[:i:i], l.waiters[i+1:]...)
	l.holds++
	return true
}

// TakeAll removes all waiters and counts the tellings. alone says that no caller waits for the
// outcome, and none was told it.
func (s *Sales) TakeAll(key wire.Key) (waiters []*Waiter, alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	waiters, l.waiters = l.waiters, nil
	l.holds += len(waiters)
	return waiters, len(waiters) == 0 && l.holds == 0
}

// TakeInterim removes all waiters and counts tellings of "in progress".
func (s *Sales) TakeInterim(row *journal.Row) []*Waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(row.Key)
	waiters := l.waiters
	l.waiters = nil
	l.holds += len(waiters)
	l.interim += len(waiters)
	l.interims = row
	return waiters
}

// GiveUp removes all waiters of a sale that are told "aborted" before the journal has it, and
// remembers it where there are any.
func (s *Sales) GiveUp(l *Sale, o ecr.Outcome) []*Waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiters := l.waiters
	if l.waiters = nil; len(waiters) > 0 {
		l.told = &o
		l.holds += len(waiters)
	}
	return waiters
}

// ToldAborted is what was told of a sale before the journal had it; nil = nothing.
func (s *Sales) ToldAborted(key wire.Key) *ecr.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil {
		return l.told
	}
	return nil
}

// Listens notes whether a connection is there on which the outcome of a sale can leave.
func (s *Sales) Listens(key wire.Key, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil {
		l.deaf = !yes
	}
}

// Listening implements journal.Memory.
func (s *Sales) Listening(key wire.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	return l != nil && len(l.waiters) > 0 && !l.deaf
}

// GivenUp implements journal.Memory.
func (s *Sales) GivenUp(key wire.Key) bool { return s.ToldAborted(key) != nil }

// Held says whether the sale is being told just now.
func (s *Sales) Held(key wire.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	return l != nil && l.holds > 0
}

// ToldInterim is the sale as it was told where a telling of "in progress" is reported on; else nil.
// What says of itself that it is one is, and so is each while no other is under way.
func (s *Sales) ToldInterim(key wire.Key, what ecr.Delivery) *journal.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil && l.interim > 0 && (what == ecr.Interim || l.interim == l.holds) {
		return l.interims
	}
	return nil
}

// Released ends one telling; interim says that it was of "in progress".
func (s *Sales) Released(key wire.Key, interim bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sales[key]
	if l == nil || l.holds == 0 {
		return
	}
	l.holds--
	if interim {
		l.interim = max(0, l.interim-1)
		return
	}
	l.heard = ""
}

// Unrecorded keeps what was reported of a telling, for when the journal can be written again.
func (s *Sales) Unrecorded(key wire.Key, what ecr.Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sales[key]; l != nil && l.holds > 0 {
		l.heard = what
	}
}

// Heard is what is known of a telling that no register reports on any more.
func (s *Sales) Heard(key wire.Key) ecr.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l := s.sales[key]; {
	case l != nil && l.interim > 0:
		return ecr.Interim
	case l != nil && l.heard != "":
		return l.heard
	}
	return ecr.Lost
}
