package drive

import (
	"context"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// The steps a register is shown.
const (
	stepStarting  = ecr.StepStarting
	stepShowCode  = ecr.StepShowCode
	stepWaiting   = ecr.StepWaiting
	stepConfirm   = ecr.StepConfirm
	stepApp       = ecr.StepApp
	stepReversing = ecr.StepReversing
)

// live is what is known of a sale in memory only.
type live struct {
	seq      uint64
	limits   checkout.Limits // as that commit left them
	leaving  int             // the attempt of initialize that is being sent, or was sent last
	readStop chan struct{}   // of the read that waits, nil = none does
	readGen  int             // counts the questions that were scheduled or stopped
	tickStop chan struct{}
	prompt   context.CancelFunc
	lastRead time.Duration // boot clock, 0 = none yet
	waiters  []*waiter
	holds    int          // tellings not yet reported on
	interim  int          // of these, tellings of "in progress"
	heard    ecr.Delivery // what was reported and could not be journalled
	step     ecr.Step
	silence  int           // status questions in a row without an answer
	patient  bool          // the register has acknowledged an intermediate status
	unwanted bool          // the register has asked for an abort that came while an attempt was under way
	told     *ecr.Outcome  // "aborted", told while the journal could not be written
	interims *journal.Row  // what was told "in progress"
	over     chan struct{} // closed when the sale has ended
}

// waiter is one caller that waits for the outcome.
type waiter struct {
	progress chan ecr.Progress
	outcome  chan ecr.Outcome
}

func (d *Drive) live(key wire.Key) *live { // with d.mu
	l := d.lives[key]
	if l == nil {
		l = &live{over: make(chan struct{})}
		d.lives[key] = l
	}
	return l
}

func (d *Drive) seqOf(key wire.Key) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lives[key]; l != nil {
		return l.seq
	}
	return 0
}

// advance says whether seq is the newest commit of the sale that was performed. Then, in the same step, the timer of its next limit
// replaces the older one; stop is nil where there is none.
func (d *Drive) advance(row *journal.Row, seq uint64, timer bool) (stop chan struct{}, fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.live(row.Key)
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

// forget drops what is kept of a sale that has ended.
func (d *Drive) forget(row *journal.Row) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lives[row.Key]
	if l == nil || checkout.Active(row.State) || len(l.waiters) > 0 || l.holds > 0 {
		return
	}
	shut(&l.readStop)
	shut(&l.tickStop)
	shut(&l.over)
	delete(d.lives, row.Key)
}

func shut(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// join makes a waiter and returns its end.
func (d *Drive) join(key wire.Key) (ecr.Sale, *waiter) {
	w := &waiter{progress: make(chan ecr.Progress, 1), outcome: make(chan ecr.Outcome, 1)}
	d.mu.Lock()
	l := d.live(key)
	l.waiters = append(l.waiters, w)
	if l.step != "" {
		w.progress <- d.stepText(l.step)
	}
	d.mu.Unlock()
	return ecr.Sale{ID: string(key), Progress: w.progress, Outcome: w.outcome}, w
}

// joinRow joins a sale and answers at once where it is decided.
func (d *Drive) joinRow(ctx context.Context, key wire.Key) (ecr.Sale, error) {
	sale, w := d.join(key)
	if o := d.toldAborted(key); o != nil && d.take(key, w) {
		d.give(key, w, *o)
		return sale, nil
	}
	row, err := d.hold(ctx, key, w)
	if err != nil {
		return ecr.Sale{}, err
	}
	switch w := row.waiter; {
	case w != nil:
		d.give(key, w, d.outcome(row.Row, row.Told != "" && row.Told != journal.ToldInProgress))
	case row.State.Phase == checkout.Forward:
		d.later(func(ctx context.Context) { d.forwardBound(ctx, row.Row) })
	}
	return sale, nil
}

// held is a row read by hold; waiter is nil when the outcome is still to come, or was given meanwhile.
type held struct {
	*journal.Row
	waiter *waiter
}

// hold reads a sale in the order of the commits and, where it is decided, takes the waiter out for telling: from then on neither
// the grace timer nor the next command touches the sale, until Delivered.
func (d *Drive) hold(ctx context.Context, key wire.Key, w *waiter) (held, error) {
	var h held
	taken := false
	err := d.db.Write(ctx, func(tx store.Tx) error {
		row, err := d.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		h = held{Row: row}
		if decided(row) && (taken || d.take(key, w)) {
			taken, h.waiter = true, w
		}
		return nil
	})
	if err != nil && (taken || d.take(key, w)) {
		d.released(key)
	}
	return h, err
}

func decided(row *journal.Row) bool { return row.State.Result != "" }

// take removes a waiter and counts the telling.
func (d *Drive) take(key wire.Key, w *waiter) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.live(key)
	for i, other := range l.waiters {
		if other == w {
			l.waiters = append(l.waiters[:i:i], l.waiters[i+1:]...)
			l.holds++
			return true
		}
	}
	return false
}

// give ends a waiter with the outcome, which is journalled.
func (d *Drive) give(key wire.Key, w *waiter, o ecr.Outcome) {
	close(w.progress)
	w.outcome <- o
	close(w.outcome)
	d.later(func(ctx context.Context) { d.holdBound(ctx, key) })
}

// tell gives the outcome to everybody who waits for it. Nobody waiting for an approval means that the register does not have it.
func (d *Drive) tell(row *journal.Row) {
	d.mu.Lock()
	l := d.live(row.Key)
	waiters := l.waiters
	l.waiters = nil
	l.holds += len(waiters)
	alone := len(waiters) == 0 && l.holds == 0
	d.mu.Unlock()
	if len(waiters) > 0 { // else it is an old sale, nobody stands before the screen
		d.showResult(row)
	}
	for _, w := range waiters {
		d.give(row.Key, w, d.outcome(row, false))
	}
	if key := row.Key; alone && row.State.Phase == checkout.Approved {
		d.later(func(ctx context.Context) { d.insist(ctx, key, checkout.Event{Name: checkout.Lost}) })
	}
}

// tellInterim answers everybody who waits with "in progress"; it was journalled before.
func (d *Drive) tellInterim(row *journal.Row) {
	d.mu.Lock()
	l := d.live(row.Key)
	waiters := l.waiters
	l.waiters = nil
	l.holds += len(waiters)
	l.interim += len(waiters)
	l.interims = row
	d.mu.Unlock()
	for _, w := range waiters {
		d.give(row.Key, w, d.outcome(row, false))
	}
}

func (d *Drive) isHeld(key wire.Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lives[key]
	return l != nil && l.holds > 0
}

// toldInterim is the sale as it was told where the next telling to be reported on was of "in progress"; else nil.
func (d *Drive) toldInterim(key wire.Key) *journal.Row {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lives[key]; l != nil && l.interim > 0 {
		return l.interims
	}
	return nil
}

// released ends one telling.
func (d *Drive) released(key wire.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lives[key]
	if l == nil || l.holds == 0 {
		return
	}
	l.holds--
	l.interim = max(0, l.interim-1)
	l.heard = ""
}

// unrecorded keeps what was reported of a telling, for when the journal can be written again.
func (d *Drive) unrecorded(key wire.Key, what ecr.Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lives[key]; l != nil && l.holds > 0 {
		l.heard = what
	}
}

// heard is what is known of a telling nobody reports on any more.
func (d *Drive) heard(key wire.Key) ecr.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lives[key]; l != nil && l.heard != "" {
		return l.heard
	}
	return ecr.Lost
}

// holdBound ends a telling that nobody reports on.
func (d *Drive) holdBound(ctx context.Context, key wire.Key) {
	deadline := d.boot() + holdMax
	for {
		changed := d.watchChange()
		if !d.isHeld(key) {
			return
		}
		left := deadline - d.boot()
		if left <= 0 {
			break
		}
		if pause(ctx, left, changed) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	for d.isHeld(key) {
		what := d.heard(key)
		d.log.Error("nobody said whether the outcome was told, or it could not be journalled", "sale", key, "counts", what)
		_, err := d.Delivered(context.WithoutCancel(ctx), string(key), what)
		if err == nil || journal.Hopeless(err) {
			return
		}
		d.log.Error("delivery waits for the store", "sale", key, "error", err)
		if !pause(ctx, storeRetry, nil) {
			return
		}
	}
}

// progress shows a step to everybody who waits; only the latest is kept.
func (d *Drive) progress(key wire.Key, s ecr.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.live(key)
	if l.step == s {
		return
	}
	l.step = s
	for _, w := range l.waiters {
		select {
		case <-w.progress:
		default:
		}
		w.progress <- d.stepText(s)
	}
}

// stepText is a step with what a customer is told of it.
func (d *Drive) stepText(s ecr.Step) ecr.Progress {
	switch s {
	case stepShowCode:
		return ecr.Progress{Step: s, Text: words(d.cfg.Language, "Scan the code", "Bitte Code scannen")}
	case stepConfirm:
		return ecr.Progress{Step: s, Text: words(d.cfg.Language, "Confirm in the app", "Bitte in der App bestätigen")}
	case stepApp:
		return ecr.Progress{Step: s, Text: appText(d.cfg.Language)}
	}
	return ecr.Progress{Step: s}
}
