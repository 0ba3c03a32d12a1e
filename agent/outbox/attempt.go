package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

const (
	maxPanics  = 3 // then the operation is held
	maxSettles = 5 // attempts of a Settled hook that fails; then the operation is held
)

// attempt takes one operation through one send, and through the reading before its first where its kind reads.
func (o *Outbox) attempt(ctx context.Context, id int64, s *service) error {
	var v Verdict
	for {
		op, k, go_, err := o.prepare(ctx, id, v.Memo)
		if err != nil || !go_ {
			return err
		}
		unsent := op.State == Pending
		if !unsent && k.Replay == Never {
			v = Verdict{State: Doubt, Reason: "sent, and the answer was lost"}
		} else {
			v = o.send(ctx, k, op)
			o.learn(s, v)
		}
		switch {
		case unsent && k.Reads && op.Memo == nil: // it was only read
			if v.Memo != nil {
				continue
			}
			if v.State == Doubt {
				v.State = Pending
			}
		case v.State == Sent && k.Replay == Never:
			v.State = Doubt
		case v.State == Expired && !unsent:
			v.State = Sent // an earlier attempt may have had an effect
		}
		return o.settleFirmly(ctx, op, s, v)
	}
}

// prepare checks an operation and makes the attempt durable before anything leaves, with what was seen where its kind reads first.
func (o *Outbox) prepare(ctx context.Context, id int64, seen []byte) (op Op, k *Kind, send bool, err error) {
	var ended []Op
	err = o.db.Write(ctx, func(tx store.Tx) error {
		op, k, send, ended = Op{}, nil, false, nil
		r, err := byID(tx, id)
		if err != nil {
			return err
		}
		if r.state != Pending && r.state != Sent {
			return nil // held or resolved meanwhile
		}
		if first, err := o.isFirst(tx, &r); err != nil || !first {
			return err
		}
		hold := func(why error) error {
			r.resume, r.state, r.reason = r.state, Held, why.Error()
			return o.save(tx, &r)
		}
		if err := o.verify(&r); err != nil {
			return hold(err)
		}
		if k = o.kinds[r.kind]; k == nil {
			return hold(ErrKind)
		}
		before := r.state
		if before == Pending && k.MaxAge > 0 && o.clock.run()-max(r.acceptedRun, r.revivedRun) > k.MaxAge.Milliseconds() {
			r.reason = "never sent, too old"
			ended, err = o.end(tx, &r, Expired)
			return err
		}
		age := o.clock.age()
		stale := before == Sent && r.sentAge >= 0 && age-r.sentAge > o.ttl.Milliseconds()
		if stale && !k.Asks {
			r.reason = "sent more than " + o.ttl.String() + " ago without an answer; the backend may have forgotten the key"
			ended, err = o.end(tx, &r, Doubt)
			return err
		}
		op = o.op(&r)
		if err := o.open(tx, &r, &op); err != nil {
			if errors.Is(err, store.ErrTampered) || errors.Is(err, store.ErrShredded) {
				op = Op{}
				return hold(err)
			}
			return err
		}
		r.attempts++
		op.Attempts, op.State, op.ReadOnly = int(r.attempts), before, stale
		send = true
		if k.Reads && r.sentAge < 0 {
			if op.Memo = seen; seen == nil {
				return nil
			}
			if err := o.sealMemo(tx, &r, seen); err != nil {
				return err
			}
		}
		r.state, r.resume = Sent, Sent
		if r.sentAge < 0 {
			r.sentAge = age
		}
		if err := o.save(tx, &r); err != nil {
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

// isFirst makes sure that nothing open was accepted before an operation in its aggregate, whatever its mark says.
func (o *Outbox) isFirst(tx store.Tx, r *row) (bool, error) {
	var waits bool
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM outbox_ops WHERE aggregate = ? AND open = 1 AND id < ?)`, r.aggregate, r.id).Scan(&waits)
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
	return k.Send(sctx, op)
}

// settleFirmly records a verdict; it does not give up while the disk is full, because the answer is known now.
func (o *Outbox) settleFirmly(ctx context.Context, op Op, s *service, v Verdict) error {
	hooks := 0
	for n := 1; ; n++ {
		err := o.settle(ctx, op, s, v)
		if err == nil {
			return nil
		}
		var hook *hookError
		if errors.As(err, &hook) {
			if hooks++; hooks >= maxSettles {
				o.log.Error("operation held", "op", op.Key, "err", err)
				v = Verdict{State: Held, Memo: v.Memo, Result: v.Result, Reason: "outcome " + string(v.State) + " could not be recorded: " + hook.err.Error()}
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

// hookError marks the failure of a Settled hook.
type hookError struct{ err error }

func (e *hookError) Error() string { return e.err.Error() }
func (e *hookError) Unwrap() error { return e.err }

func (o *Outbox) settle(ctx context.Context, op Op, s *service, v Verdict) error {
	wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopWait)
	defer cancel()
	var ended []Op
	var rests *Op // it is not at its end
	err := o.db.Write(wctx, func(tx store.Tx) error {
		ended, rests = nil, nil
		r, err := byID(tx, op.ID)
		if err != nil {
			return err
		}
		if r.state.Final() {
			return nil // resolved by a technician while it was under way
		}
		if err := o.verify(&r); err != nil {
			if r.state != Held {
				r.resume = Sent
			}
			r.state, r.reason = Held, err.Error()
			return o.save(tx, &r)
		}
		if v.Memo != nil {
			if err := o.sealMemo(tx, &r, v.Memo); err != nil {
				return err
			}
		}
		if v.Result != nil {
			r.result = v.Result
		}
		if v.Reason != "" || v.State.Final() {
			r.reason = wire.MaskPANs(v.Reason) // an error names the path, and the path is the caller's
		}
		next := r.resume // PENDING = it was only read; anything a sender says that is not a known verdict proves nothing
		r.attempts = int64(op.Attempts)
		switch v.State {
		case Done, Failed, Doubt, Expired:
			ended, err = o.end(tx, &r, v.State)
			if err != nil {
				return err
			}
			return o.clock.keep(tx)
		case Pending:
			if op.State == Pending {
				next, r.sentAge = Pending, -1
			}
		case Held:
			r.state = Held
			return o.save(tx, &r)
		}
		r.resume = next
		if r.state != Held {
			r.state = next
		}
		r.nextRun = o.clock.run() + o.delay(s, v, r.attempts).Milliseconds()
		if err := o.save(tx, &r); err != nil {
			return err
		}
		now := o.op(&r)
		rests = &now
		return o.clock.keep(tx)
	})
	if err == nil {
		o.after(ended)
		if rests != nil {
			o.watch(*rests)
		}
	}
	return err
}

// end makes a row final or doubtful inside the caller's commit: hook, key destroyed, dependants.
func (o *Outbox) end(tx store.Tx, r *row, state State) ([]Op, error) {
	op := o.op(r)
	if err := o.open(tx, r, &op); err != nil {
		op.Payload, op.Memo = nil, nil // it ends all the same; the hook sees neither
	}
	op.State = state
	if state == Doubt {
		r.resume = r.state
		if r.resume != Pending {
			r.resume = Sent
		}
	}
	r.state, op.NextTry = state, time.Time{}
	if state.Final() {
		r.settledMS = o.now().UnixMilli()
		op.Settled = time.UnixMilli(r.settledMS)
		r.payload, r.memo, r.dataKey = nil, nil, nil
		if err := o.db.Shred(tx, table, r.key); err != nil {
			return nil, fmt.Errorf("destroy key of %s: %w", r.key, err)
		}
	}
	if err := o.save(tx, r); err != nil {
		return nil, err
	}
	k := o.kinds[r.kind]
	if k != nil && k.Settled != nil {
		if err := o.hook(k, tx, op); err != nil {
			return nil, &hookError{fmt.Errorf("%s of %s: %w", state, r.key, err)}
		}
	}
	ended := []Op{op}
	if k != nil && k.Breaks && (state == Failed || state == Expired) {
		more, err := o.breakBehind(tx, r)
		if err != nil {
			return nil, err
		}
		ended = append(ended, more...)
	}
	return ended, nil
}

// hook turns a panic of a Settled hook into an error.
func (o *Outbox) hook(k *Kind, tx store.Tx, op Op) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return k.Settled(tx, op)
}

// breakBehind fails the unsent operations behind a failed one.
func (o *Outbox) breakBehind(tx store.Tx, failed *row) ([]Op, error) {
	var ended []Op
	for {
		r, err := scan(tx.QueryRow(`SELECT `+columns+` FROM outbox_ops WHERE aggregate = ? AND open = 1 AND id > ?
			AND state = 'PENDING' ORDER BY id LIMIT 1`, failed.aggregate, failed.id))
		if errors.Is(err, ErrUnknown) {
			return ended, nil
		}
		if err != nil {
			return nil, err
		}
		r.reason = "the operation before it failed: " + failed.key
		more, err := o.end(tx, &r, Failed)
		if err != nil {
			return nil, err
		}
		ended = append(ended, more...)
	}
}

// after runs the After hooks of what a commit ended.
func (o *Outbox) after(ended []Op) {
	for _, op := range ended {
		o.log.Info("operation ended", "op", op.Key, "kind", op.Kind, "state", op.State, "attempts", op.Attempts)
		o.watch(op)
		k := o.kinds[op.Kind]
		if k == nil || k.After == nil {
			continue
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					o.log.Error("after hook panicked", "op", op.Key, "panic", fmt.Sprint(p))
				}
			}()
			k.After(op)
		}()
	}
}
