package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// do stores a write and waits for its answer. Errors are the contract's: the backend's own refusal; KeyReused; Unavailable where nothing
// was sent and nothing will be; UnknownOutcome where what cannot be stored was sent and not answered.
func (f *Front) do(ctx context.Context, w write) (answer, error) {
	if w.key != "" {
		if _, err := wire.ParseKey(string(w.key)); err != nil {
			return answer{}, &wire.Error{Code: wire.Invalid, Op: w.row.Kind, Err: err}
		}
	}
	if f.box == nil {
		return answer{}, wire.Errorf(wire.Unavailable, w.row.Kind, "the terminal is starting")
	}
	switch why := f.barred(); {
	case w.refusal != nil:
	case why != "":
		w.refusal = wire.Errorf(wire.Unavailable, w.row.Kind, "%s; nothing was sent, and this is not stored", why)
	default:
		w.refusal = f.trusted(ctx, w.row)
	}
	if w.refusal != nil && w.key == "" {
		return answer{}, w.refusal
	}
	var st acceptance
	down := f.box.Down(w.row.Service)
	told, leave, err := f.put(ctx, &w, &st, down)
	defer func() { leave() }()
	if errors.Is(err, errAway) {
		asking, cancel := context.WithTimeout(ctx, f.o.Within)
		if f.answersAgain(asking, w.row.Service) {
			leave()
			told, leave, err = f.put(ctx, &w, &st, false)
		}
		cancel()
	}
	if err != nil {
		var e *wire.Error
		if errors.As(err, &e) {
			return answer{}, e
		}
		f.o.Log.Error("write not stored", "kind", w.row.Kind, "err", err)
		return answer{}, &wire.Error{Code: wire.Unavailable, Op: w.row.Kind, Msg: "the terminal cannot store anything now", Err: err}
	}
	wire.Did(ctx, st.key)
	if st.heard != st.key {
		leave()
		told, leave = f.listen(st.key)
	}
	if !st.fresh && st.now != "" {
		if err := f.sendAgain(ctx, &w, st.key); err != nil {
			return answer{}, err
		}
	}
	f.box.Accepted(w.row.Service)
	return f.wait(ctx, &w, st, told, leave)
}

// trusted refuses a service that was never proven. One that is not stored for needs no proof, and one that the operator has vouched for
// none as long as it cannot be reached.
func (f *Front) trusted(ctx context.Context, b *bound) error {
	vouched := slices.Contains(f.o.Vouched, b.Service)
	if slices.Contains(f.o.Unstored, b.Service) || f.isProven(b.Service) || vouched && f.box.Down(b.Service) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Within)
	defer cancel()
	err := f.prove(ctx, b.Service)
	switch code := wire.CodeOf(err); {
	case err == nil:
	case vouched && (code == wire.Unavailable || code == wire.UnknownOutcome):
	case code == wire.Unauthorized || code == wire.Forbidden:
		keys := "bearer, or client_id and client_secret"
		if b.Service == Paylinks {
			keys = "instance and secret"
		}
		return &wire.Error{Code: wire.Unavailable, Op: b.Kind, Err: err, Msg: fmt.Sprintf(
			"%s refuses the terminal's own credentials, or there are none: set [upstream.auth] %s", b.Service, keys)}
	default:
		return &wire.Error{Code: wire.Unavailable, Op: b.Kind, Err: err, Msg: fmt.Sprintf(
			"%s has never answered this terminal, and nothing is taken for it before it has: connect the network, check [upstream] %s and [upstream.auth], or leave it out of [offline] services",
			b.Service, b.Service)}
	}
	return nil
}

// sendAgain lends the body of an operation that was not stored whole to the one that its first caller left behind.
func (f *Front) sendAgain(ctx context.Context, w *write, key wire.Key) error {
	f.holdBody(key, w.body)
	if err := f.box.SendNow(ctx, key); err != nil && !errors.Is(err, outbox.ErrState) {
		f.dropBody(key)
		return &wire.Error{Code: wire.UnknownOutcome, Op: w.row.Kind, Msg: "sent, and its answer is not known", Err: err}
	}
	return nil
}

// wait waits for an operation's answer as long as the caller is willing to.
func (f *Front) wait(ctx context.Context, w *write, st acceptance, told <-chan struct{}, leave func() bool) (answer, error) {
	within := f.o.Within
	if st.now != "" {
		within = f.o.Patience
		defer f.dropBody(st.key)
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	late := false
	for asked := !st.fresh || st.held || st.heard != st.key; ; asked = true { // what was just stored is pending
		op, err := outbox.Op{State: outbox.Pending}, error(nil)
		down := f.box.Down(w.row.Service)
		if asked || down && st.now != "" { // that it is down is known before the attempt is recorded
			err = f.o.DB.Read(context.WithoutCancel(ctx), func(r store.Reader) (err error) {
				op, err = f.load(r, st.key)
				return err
			})
		}
		if err != nil { // it is stored, and that is all that is known
			f.o.Log.Error("operation not read", "op", st.key, "err", err)
			if st.now != "" {
				return answer{}, unknownAnswer(w, st)
			}
			return f.pendingAnswer(w, st, ""), nil
		}
		switch {
		case op.State.Final():
			return f.finalAnswer(ctx, w, st, op)
		case st.now != "" && (late || op.State == outbox.Doubt || op.State == outbox.Held || down && op.State == outbox.Pending):
			return f.giveUp(ctx, w, st)
		case st.now == "" && (late || down || op.State == outbox.Doubt || op.State == outbox.Held):
			ended := leave()
			if !asked && !ended {
				return f.pendingAnswer(w, st, op.State), nil
			}
			if err := f.o.DB.Read(context.WithoutCancel(ctx), func(r store.Reader) (err error) { op, err = f.load(r, st.key); return err }); err == nil && op.State.Final() {
				return f.finalAnswer(ctx, w, st, op)
			}
			return f.pendingAnswer(w, st, op.State), nil
		}
		select {
		case <-told:
		case <-timer.C:
			late = true
		case <-ctx.Done():
			late = true
		}
	}
}

// giveUp ends the wait for what is never stored: either it is never sent, or nobody knows what became of it.
func (f *Front) giveUp(ctx context.Context, w *write, st acceptance) (answer, error) {
	f.dropBody(st.key)
	ctx = context.WithoutCancel(ctx)
	none := wire.Errorf(wire.Unavailable, w.row.Kind, "the backend did not answer in time, nothing was sent, and this is not stored: %s", st.now)
	err := f.box.Withdraw(ctx, st.key, withdrawnResult(), nobodyWaits)
	if err == nil {
		return answer{}, none
	}
	var op outbox.Op
	if err := f.o.DB.Read(ctx, func(r store.Reader) (err error) { op, err = f.load(r, st.key); return err }); err == nil && op.State.Final() {
		return f.finalAnswer(ctx, w, st, op)
	}
	return answer{}, unknownAnswer(w, st)
}

func unknownAnswer(w *write, st acceptance) error {
	return wire.Errorf(wire.UnknownOutcome, w.row.Kind, "the answer did not come in time: ask again under the same Idempotency-Key; operation %s", st.key)
}

// pendingAnswer is the answer to what is stored.
func (f *Front) pendingAnswer(w *write, st acceptance, state outbox.State) answer {
	return answer{key: st.key, local: st.local, pending: f.pendingOf(outbox.Op{New: outbox.New{Key: st.key, Kind: w.row.Kind}, State: state})}
}

// finalAnswer is the answer of an operation that is at its end: the backend's own, frozen.
func (f *Front) finalAnswer(ctx context.Context, w *write, st acceptance, op outbox.Op) (answer, error) {
	f.takeAlertBack(ctx, op)
	k := keptOf(op)
	switch {
	case op.State == outbox.Done:
		return answer{key: st.key, local: st.local, body: k.Body}, nil
	case k.Withdrawn:
		return answer{}, wire.Errorf(wire.Unavailable, w.row.Kind, "nothing was sent, and this is not stored")
	case op.State == outbox.Expired:
		return answer{}, wire.Errorf(wire.Unavailable, w.row.Kind, "never sent, and expired")
	case k.Code != "":
		return answer{}, &wire.Error{Code: k.Code, Reason: k.Reason, Op: w.row.Kind, Msg: k.Msg}
	}
	return answer{}, wire.Errorf(wire.NotFound, w.row.Kind, "%s", op.Reason) // what it needed failed, or a person ended it
}
