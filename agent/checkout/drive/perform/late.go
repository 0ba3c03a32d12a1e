package perform

import (
	"context"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// AnswerInTime tells a register that a payment is aborted, shortly before the register's time-out,
// if the journal cannot be written. The row from the sale's acceptance demands the undo, also after
// a crash. Until a restart, every later event first applies ToldAborted; a start undoes a payment
// that is older than this instant.
func (p *Performer) AnswerInTime(ctx context.Context, row *journal.Row) {
	key := row.Key
	l, over := p.sales.Find(key)
	if over == nil { // it has ended
		return
	}
	for {
		left := checkout.AnsweredBy(row.State, p.sales.Deadline(l)) - p.boot()
		if left <= 0 {
			break
		}
		if !Pause(ctx, left, over) {
			return
		}
	}
	told := *row
	told.DecidedMS = p.now().UnixMilli()
	told.State.Phase, told.State.Result, told.State.Code = checkout.Reversing, ecr.Aborted, ecr.AbortedByUser
	o := p.Outcome(&told, false)
	waiters := p.sales.GiveUp(l, o)
	if len(waiters) == 0 {
		return
	}
	p.log.Error("told aborted before it could be journalled", "sale", key)
	p.clearScreen(key)
	for _, w := range waiters {
		p.give(key, w, o)
	}
	p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.ToldAborted})
}

// Withdrawn is why an operation was never sent.
const Withdrawn = "not done: no connection"

// Withdrawal ends a refund or reversal of which nothing has left the terminal for 30 s, or once the
// register has asked for its abort. An attempt that is under way is waited for. One that had a
// connection makes it the outbox's for good.
func (p *Performer) Withdrawal(ctx context.Context, key wire.Key) {
	for until := p.boot() + withdrawAfter; ; {
		changed := p.sales.Changed()
		if row, err := p.j.Sale(ctx, key); err == nil && row.State.Phase != checkout.Forward || journal.IsPermanent(err) {
			return
		}
		if p.sales.Unwanted(key) || Pause(ctx, until-p.boot(), changed) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	for n := 0; ; n++ {
		if err := p.box.Withdraw(ctx, key, nil, Withdrawn); err == nil || journal.IsPermanent(err) {
			return
		}
		if row, err := p.j.Sale(ctx, key); err == nil && row.State.Phase != checkout.Forward {
			return
		}
		wait := 250 * time.Millisecond
		if n > 500 { // two minutes
			wait = 20 * time.Second
		}
		if !Pause(ctx, wait, nil) {
			return
		}
	}
}
