package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// stopWait is what a stop leaves an attempt in flight and its commit.
const stopWait = 5 * time.Second

const (
	maxPanics  = 3 // then the operation is held
	maxSettles = 5 // attempts of a Settled hook that fails; then the operation is held
)

// attempt takes one operation through one send, and through the reading before its first where its
// kind reads.
func (o *Outbox) attempt(ctx context.Context, id int64, s *service) error {
	var v Verdict
	for {
		op, k, go_, err := o.prepare(ctx, id, v.Memo)
		if err != nil || !go_ {
			return err
		}
		a := attemptOf(op, k)
		if a == again && k.Replay == Never {
			v = Verdict{State: Doubt, Reason: "sent, and the answer was lost"}
		} else {
			v = o.send(ctx, k, op)
			if op.Unsure && v.State == Doubt {
				v = o.unsure(ctx, s)
			}
			o.learn(s, v)
		}
		if a == reading && v.Memo != nil {
			continue
		}
		return o.settleFirmly(ctx, op, a, s, v)
	}
}

// attemptOf says what the attempt that prepare has made durable can have done.
func attemptOf(op Op, k *Kind) attempt {
	switch {
	case op.State != Pending:
		return again
	case k.Reads && op.Memo == nil:
		return reading
	case k.Replay == Never:
		return only
	}
	return first
}

// prepare checks an operation and makes the attempt durable before anything leaves, with what was
// seen where its kind reads first.
func (o *Outbox) prepare(ctx context.Context, id int64, seen []byte) (op Op, k *Kind, send bool, err error) {
	var ended []Op
	err = o.db.Write(ctx, func(tx store.Tx) error {
		op, k, send, ended = Op{}, nil, false, nil
		r, err := byID(tx, id)
		if err != nil {
			return err
		}
		if _, do, err := next(r.position(), event{verb: leave}); err != nil || len(do) == 0 {
			return err // held or resolved meanwhile
		}
		if first, err := o.isFirst(tx, &r); err != nil || !first {
			return err
		}
		if r.nextRun > o.clock.run() {
			return nil // it rests: an attempt ended after the schedule was read
		}
		setAside := func(why error) error {
			r.reason = why.Error()
			_, err := o.apply(tx, &r, event{verb: distrust})
			return err
		}
		if err := o.verify(&r); err != nil {
			return setAside(err)
		}
		if k = o.kinds[r.kind]; k == nil {
			return setAside(ErrKind)
		}
		before := r.state
		if before == Pending && k.MaxAge > 0 && o.clock.run()-max(r.acceptedRun, r.revivedRun) > k.MaxAge.Milliseconds() {
			r.reason = "never sent, too old"
			ended, err = o.apply(tx, &r, event{verb: expire})
			return err
		}
		age, unsure := o.clock.old(r.sentAge)
		sentOnce := before == Sent && r.sentAge >= 0
		stale := sentOnce && age > o.ttl.Milliseconds()
		unsure = sentOnce && unsure && !stale
		if unsure && !k.Asks {
			return o.waitForTime(tx, &r)
		}
		if stale && !k.Asks {
			r.reason = "sent more than " + o.ttl.String() + " ago without an answer; the backend may have forgotten the key"
			ended, err = o.apply(tx, &r, event{verb: forget})
			return err
		}
		op = o.op(&r)
		if err := o.open(tx, &r, &op); err != nil {
			if errors.Is(err, store.ErrTampered) || errors.Is(err, store.ErrShredded) {
				op = Op{}
				return setAside(err)
			}
			return err
		}
		r.attempts++
		op.Attempts, op.State, op.ReadOnly, op.Unsure = int(r.attempts), before, stale || unsure, unsure
		op.Ran, op.Started = time.Duration(o.clock.run())*time.Millisecond, time.Duration(o.clock.began())*time.Millisecond
		send = true
		if k.Reads && r.sentAge < 0 {
			if op.Memo = seen; seen == nil {
				return nil
			}
			if err := o.sealMemo(tx, &r, seen); err != nil {
				return err
			}
		}
		if _, err := o.apply(tx, &r, event{verb: leave}); err != nil {
			return err
		}
		return o.clock.keep(tx)
	})
	if err != nil {
		return Op{}, nil, false, fmt.Errorf("prepare operation %d: %w", id, err)
	}
	o.after(ended)
	return op, k, send, nil
}

// timeWait is between two looks whether a true time was heard.
const timeWait = 5 * time.Second

const waitsForTime = "sent before the terminal was switched off: it may be sent again once the backend has told how long ago that was"

// waitForTime rests an operation that may not be sent again yet, and that cannot be read.
func (o *Outbox) waitForTime(tx store.Tx, r *row) error {
	r.reason, r.nextRun = waitsForTime, o.clock.run()+timeWait.Milliseconds()
	return o.save(tx, r)
}

// unsure is the verdict where reading has decided nothing, and no true time has said yet whether the
// operation may be sent again. It asks the service: any answer tells the time.
func (o *Outbox) unsure(ctx context.Context, s *service) Verdict {
	if o.probe != nil {
		pctx, cancel := context.WithTimeout(ctx, shortCap)
		defer cancel()
		if err := o.probe(pctx, s.name); err != nil {
			return Verdict{State: Sent, Reach: Unreachable, Reason: err.Error()}
		}
	}
	return Verdict{State: Sent, Reach: Reached, After: timeWait, Reason: waitsForTime}
}

// isFirst makes sure that nothing open was accepted before an operation in its aggregate, whatever
// its mark says.
func (o *Outbox) isFirst(tx store.Tx, r *row) (bool, error) {
	var waits bool
	err := tx.QueryRow(openBefore, r.aggregate, r.id).Scan(&waits)
	if err != nil || !waits {
		return true, err
	}
	if _, err := tx.Exec(`UPDATE outbox_ops SET ready = 0 WHERE id = ?`, r.id); err != nil {
		return false, err
	}
	return false, mark(tx, r.aggregate)
}

// send calls the kind and survives it.
func (o *Outbox) send(ctx context.Context, k *Kind, op Op) (v Verdict) {
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { // the stop lets it finish for a while
		t := time.AfterFunc(stopWait, cancel)
		context.AfterFunc(sctx, func() { t.Stop() })
	})
	defer stop()
	defer func() {
		p := recover()
		o.mu.Lock()
		defer o.mu.Unlock()
		if p == nil {
			delete(o.panics, op.ID)
			return
		}
		o.panics[op.ID]++
		v = Verdict{State: Sent, Reason: fmt.Sprintf("sender panicked: %v", p)}
		if o.panics[op.ID] >= maxPanics {
			v.State = Held
			delete(o.panics, op.ID)
		}
		o.log.Error("sender panicked", "op", op.Key, "kind", k.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}()
	return k.Send(wire.Once(wire.WithTrace(sctx, op.Trace)), op) // the queue's pace is the only one
}

// settleFirmly records a verdict; it does not give up while the disk is full, because the answer is
// known now.
func (o *Outbox) settleFirmly(ctx context.Context, op Op, a attempt, s *service, v Verdict) error {
	hooks := 0
	for n := 1; ; n++ {
		to, err := o.settle(ctx, op, a, s, v)
		if err == nil {
			return nil
		}
		var hook *hookError
		if errors.As(err, &hook) {
			if hooks++; hooks >= maxSettles {
				o.log.Error("operation held", "op", op.Key, "err", err)
				v = Verdict{State: Held, Memo: v.Memo, Result: v.Result, Reason: "outcome " + string(to) + " could not be recorded: " + hook.err.Error()}
				hooks = 0
				continue
			}
		}
		o.log.Error("outcome not recorded yet", "op", op.Key, "err", err)
		t := time.NewTimer(o.backoff(n, shortCap))
		select {
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("settle %s: %w", op.Key, err)
		case <-t.C:
		}
	}
}

// settle records a verdict and returns the state it leads to, also beside an error.
func (o *Outbox) settle(ctx context.Context, op Op, a attempt, s *service, v Verdict) (state State, err error) {
	wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopWait)
	defer cancel()
	var ended []Op
	var rests *Op // it is not at its end
	err = o.db.Write(wctx, func(tx store.Tx) error {
		state, ended, rests = "", nil, nil
		r, err := byID(tx, op.ID)
		if err != nil {
			return err
		}
		if r.state.Final() {
			return nil // resolved by a technician while it was under way
		}
		if err := o.verify(&r); err != nil {
			r.reason = err.Error()
			_, err := o.apply(tx, &r, event{verb: distrustAway})
			return err
		}
		to, do, err := next(r.position(), answered(v.State, a))
		if err != nil || len(do) == 0 {
			return err
		}
		state = to.State
		if v.Memo != nil {
			if err := o.sealMemo(tx, &r, v.Memo); err != nil {
				return err
			}
		}
		if v.Result != nil {
			r.result = v.Result
		}
		if v.Reason != "" || to.State.Final() {
			r.reason = wire.MaskPANs(v.Reason) // an error names the path, and the path is the caller's
		}
		r.attempts = int64(op.Attempts)
		waits := slices.Contains(do, rest) || slices.Contains(do, restShort)
		if waits {
			r.nextRun = o.clock.run()
			if !o.late(r.id) {
				r.nextRun += o.delay(s, v, slices.Contains(do, restShort), r.attempts).Milliseconds()
			}
		}
		if ended, err = o.perform(tx, &r, to, do); err != nil || len(ended) == 0 && !waits {
			return err
		}
		if waits {
			now := o.op(&r)
			rests = &now
		}
		return o.clock.keep(tx)
	})
	if err == nil {
		o.after(ended)
		if rests != nil {
			o.watch(*rests)
		}
	}
	return state, err
}
