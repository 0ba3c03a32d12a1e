package drive

import (
	"context"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// answerBefore is how long before the end of the register's patience "aborted" is told without the journal. A journal that works
// has told it 2 s earlier.
const answerBefore = 2 * time.Second

// Waits implements ecr.Waiter.
func (d *Drive) Waits(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lives[wire.Key(id)]; l != nil {
		l.patient = true
	}
}

// Patient implements journal.Memory.
func (d *Drive) Patient(key wire.Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lives[key]
	return l != nil && l.patient
}

// deadline is the sale's as its method and its register stand now: the method may have been chosen since the sale began.
func (d *Drive) deadline(l *live) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.patient {
		return max(l.limits.Deadline, l.limits.Long)
	}
	return l.limits.Deadline
}

// toldAborted is what was told of a sale before the journal had it; nil = nothing.
func (d *Drive) toldAborted(key wire.Key) *ecr.Outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lives[key]; l != nil {
		return l.told
	}
	return nil
}

// GivenUp implements journal.Memory.
func (d *Drive) GivenUp(key wire.Key) bool { return d.toldAborted(key) != nil }

// answerInTime tells a register that still waits at the end of its patience that a payment is aborted, though the journal could not
// be written. The sale's row is from its acceptance: the undo is owed by it, also after a crash. In this life every
// later event finds the sale given up first.
func (d *Drive) answerInTime(ctx context.Context, row *journal.Row) {
	key := row.Key
	d.mu.Lock()
	l := d.lives[key]
	var over chan struct{}
	if l != nil {
		over = l.over
	}
	d.mu.Unlock()
	if over == nil { // it has ended
		return
	}
	for {
		left := row.State.StartedAt + d.deadline(l) + checkout.LastReadAt - answerBefore - d.boot()
		if left <= 0 {
			break
		}
		if !pause(ctx, left, over) {
			return
		}
	}
	told := *row
	told.DecidedMS = d.now().UnixMilli()
	told.State.Phase, told.State.Result, told.State.Code = checkout.Reversing, ecr.Aborted, ecr.AbortedByUser
	o := d.outcome(&told, false)
	d.mu.Lock()
	waiters := l.waiters
	if l.waiters = nil; len(waiters) > 0 {
		l.told = &o
		l.holds += len(waiters)
	}
	d.mu.Unlock()
	if len(waiters) == 0 {
		return
	}
	d.log.Error("told aborted before it could be journalled", "sale", key)
	d.clearScreen(key)
	for _, w := range waiters {
		d.give(key, w, o)
	}
	d.insist(ctx, key, checkout.Event{Name: checkout.ToldAborted})
}
