package perform

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/live"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
	"posagent/store"
)

// initialize sends one attempt, if the sale still wants it.
func (p *Performer) initialize(ctx context.Context, key wire.Key, try int, after time.Duration) {
	if !Pause(ctx, after, nil) {
		return
	}
	var row *journal.Row
	var body []byte
	err := p.db.Read(ctx, func(r store.Reader) error {
		var err error
		if row, err = p.j.ByKey(r, key); err != nil || row.State.Phase != checkout.Initializing {
			return err
		}
		body, err = p.j.Request(r, row)
		return err
	})
	if err == nil && row.State.Phase != checkout.Initializing {
		p.notSent(ctx, key, try)
		return
	}
	if !p.sales.TakeResting(key, try) { // an abort came meanwhile, and has said that it was not sent
		return
	}
	if wait := p.asked(row); err == nil && wait > 0 {
		p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.ReplyFailed, Failure: checkout.NotSent, Try: try, After: wait, Wish: true})
		return
	}
	var req aapay.Request
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		p.log.Error("request not readable", "sale", key, "error", err)
		p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.ReplyFailed, Failure: checkout.NoEffect, Text: "the stored request is not readable"})
		return
	}
	call, cancel := context.WithTimeout(wire.WithTrace(ctx, row.TraceID()), initTimeout)
	defer cancel()
	var reply aapay.Reply
	if row.State.Plain {
		reply, err = p.svc.Initialize(call, aapay.Payment, req)
	} else {
		reply, err = p.svc.InitializeWithIdempotency(call, row.Key, aapay.Payment, req)
	}
	if err != nil && ctx.Err() != nil {
		return // the next start knows that it may have left
	}
	p.reached(err)
	p.couldRead("initialize", err)
	if err == nil {
		p.progress(key, ecr.StepWaiting)
		p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.Replied, Reply: reply})
		return
	}
	p.log.Warn("initialize", "sale", key, "error", err)
	p.keepWish(row, err)
	p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.ReplyFailed, Failure: failureOf(err), Try: try, After: retryAfter(err), Wish: wishes(err), Text: "refused: " + string(wire.CodeOf(err))})
}

// Aborting lets an aborted sale go on whose attempt rests: no answer is to be waited for.
func (p *Performer) Aborting(row *journal.Row) {
	key, try := row.Key, row.State.Sends
	p.Later(func(ctx context.Context) { p.notSent(ctx, key, try) })
}

// notSent ends an attempt that was counted in this run and rests still. It says nothing of any other
// attempt.
func (p *Performer) notSent(ctx context.Context, key wire.Key, try int) {
	if p.sales.TakeResting(key, try) {
		p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.ReplyFailed, Failure: checkout.NotSent, Try: try})
	}
}

// failureOf says what a failed initialize proves.
func failureOf(err error) checkout.Failure {
	switch {
	case routeMissing(err):
		return checkout.RouteMissing
	case wire.NeverSent(err) && wire.CodeOf(err) == wire.Unavailable:
		return checkout.NotSent
	}
	switch wire.CodeOf(err) {
	case wire.Invalid, wire.Unauthorized, wire.Forbidden, wire.TooLarge:
		return checkout.NoEffect
	}
	if wire.OtherBody(err) {
		return checkout.KeyUsed
	}
	if _, runs := wire.MayRun(err); runs {
		return checkout.Busy
	}
	return checkout.EffectUnknown
}

// routeMissing says that an initialize found no idempotent route, at an address where there never
// was one: see Route.
func routeMissing(err error) bool {
	return wire.CodeOf(err) == wire.UnknownOutcome && errors.Is(err, aapay.ErrNoRoute)
}

func retryAfter(err error) time.Duration {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// wishes says that the service itself has asked to wait: not a connection that rests because nobody
// answers, nor the word that the first request still runs, which is asked again under its Key.
func wishes(err error) bool {
	_, runs := wire.MayRun(err)
	return retryAfter(err) > 0 && !wire.NeverSent(err) && !runs
}

// keepWish remembers until when a method's service wants to be left alone, for the sales that follow.
// What is forgotten at a start is asked once more.
func (p *Performer) keepWish(row *journal.Row, err error) {
	if !wishes(err) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until[row.Method.Name] = p.boot() + retryAfter(err)
}

// asked is for how long the service of a sale's method still wants to be left alone; 0 = it does not.
func (p *Performer) asked(row *journal.Row) time.Duration {
	if row == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.until[row.Method.Name]-p.boot())
}

// unread is which answer could not be read, and since when none could.
type unread struct {
	what  string
	since time.Duration // boot clock
}

// unreadFor is how long answers about sales cannot be read before people are told: less than a sale lasts, so that they know before the
// next one.
const unreadFor = 50 * time.Second

// couldRead notes whether an answer about a sale could be read. One that did not come says nothing.
func (p *Performer) couldRead(reply string, err error) {
	what, bad := wire.Unreadable(err)
	switch was := p.unread.Load(); {
	case err == nil || wire.CodeOf(err) == wire.NotFound:
		p.unread.Store(nil)
	case bad && was == nil:
		p.unread.Store(&unread{reply + ", " + what, p.boot()})
	case bad:
		p.unread.Store(&unread{reply + ", " + what, was.since})
	}
}

// Unreadable is which reply about sales cannot be read, and which field of it; "" = none for unreadFor.
func (p *Performer) Unreadable() string {
	if u := p.unread.Load(); u != nil && p.boot()-u.since >= unreadFor {
		return u.what
	}
	return ""
}

// reached notes whether the backend answers.
func (p *Performer) reached(err error) {
	switch wire.CodeOf(err) {
	case wire.Unavailable, wire.UnknownOutcome, wire.Internal:
		p.offline.Store(true)
	default:
		p.offline.Store(err != nil && wire.CodeOf(err) == "")
	}
}

// scheduleRead schedules the next read. A sale is never read faster than the floor.
func (p *Performer) scheduleRead(row *journal.Row, after time.Duration, seq uint64) {
	floor := p.cfg.Poll
	if floor <= 0 {
		floor = 2 * time.Second
	}
	key := row.Key
	if r, ok := p.sales.PlanRead(key, after, floor, p.boot(), seq); ok {
		p.Later(func(ctx context.Context) { p.readStatus(ctx, key, r) })
	}
}

func (p *Performer) readStatus(ctx context.Context, key wire.Key, r live.Read) {
	if !Pause(ctx, r.After, r.Stop) {
		return
	}
	p.sales.BeginRead(key, r, p.boot())
	row, err := p.j.Sale(ctx, key)
	if err != nil {
		if ctx.Err() == nil {
			p.log.Error("status not asked for", "sale", key, "error", err)
			p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.StatusFailed, Failure: checkout.EffectUnknown})
		}
		return
	}
	call, cancel := context.WithTimeout(wire.Once(wire.WithTrace(ctx, row.TraceID())), statusTimeout)
	defer cancel()
	asked := p.boot()
	st, err := p.status(call, row)
	if err != nil && ctx.Err() != nil {
		return
	}
	p.reached(err)
	p.couldRead("status", err)
	if err == nil {
		p.sales.Silence(key, true)
		p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.StatusRead, Asked: asked, Status: st})
		return
	}
	if p.sales.Overtaken(key, r) { // another question is on its way, or none is wanted: this one's silence says nothing
		return
	}
	failure := checkout.EffectUnknown
	if wire.CodeOf(err) == wire.NotFound {
		failure = checkout.NotFound
	}
	silence := p.sales.Silence(key, failure == checkout.NotFound)
	e := wire.AsError("status", err)
	p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.StatusFailed, Asked: asked, Failure: failure, Silence: silence, After: retryAfter(err), Wish: wishes(err), Text: e.Op + " " + string(e.Code)})
}

// status asks about a sale, by our own name: an id may have come with another's answer. Before anything
// is sent under a Key that a journal before this one may have used, each service is asked where it may
// have been used, and no method is named: there may have been another one then.
func (p *Performer) status(ctx context.Context, row *journal.Row) (aapay.Status, error) {
	switch several, ok := p.svc.(everywhere); {
	case !row.State.ReadFirst || row.State.Phase != checkout.Initializing:
		return p.svc.Status(ctx, row.Reference, row.Method.Name)
	case ok:
		return several.Used(ctx, row.Reference)
	}
	return p.svc.Status(ctx, row.Reference, "")
}

// everywhere is a scheme service that is made of several. Its Used says what any of them knows under a
// reference.
type everywhere interface {
	Used(ctx context.Context, reference string) (aapay.Status, error)
}
