package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

const (
	// quiet is how long a lost request may still be under way before a reading proves that it had no effect.
	quiet = 30 * time.Second
	// untold is the pause between two readings of what was answered as done, and is not shown.
	untold = 5 * time.Second
	// askAgain is the pause while the backend itself has only stored a call.
	askAgain = 5 * time.Second
)

// send makes one attempt of any kind.
func (f *Front) send(ctx context.Context, b *bound, op outbox.Op) (v outbox.Verdict) {
	v.State = outbox.Held
	var p payload
	if err := json.Unmarshal(op.Payload, &p); err != nil {
		v.Reason = "payload not readable: " + err.Error()
		return v
	}
	unsent := op.State == outbox.Pending
	body := []byte(p.Body)
	if p.Now {
		switch full, waits := f.heldBody(op.Key); {
		case waits:
			body = full
		case unsent:
			v.State, v.Result, v.Reason = outbox.Expired, withdrawnResult(), nobodyWaits
			return v
		case p.Part:
			v.State, v.Reason = outbox.Doubt, "sent, the answer was lost, and what it carried is never stored"
			return v
		}
	}
	var t thing
	id, known := "", false
	if !b.Makes {
		err := f.o.DB.Read(ctx, func(r store.Reader) (err error) {
			t, known, err = f.findThing(r, b.Thing, p.Thing)
			return err
		})
		switch id = p.Thing; {
		case errors.Is(err, errThing):
			v.Reason = err.Error()
			return v
		case err != nil:
			v.State, v.After, v.Reason = op.State, time.Second, err.Error()
			return v
		case known && t.backend == "":
			v.Reason = "the backend's id is not known"
			return v
		case known && id != t.backend && (id == t.local || id == string(t.key)):
			id = t.backend
		}
	}
	var m memo
	if len(op.Memo) > 0 {
		if err := json.Unmarshal(op.Memo, &m); err != nil {
			v.Reason = "memo not readable: " + err.Error()
			return v
		}
	}
	class := b.class
	if b.harmless != nil && b.harmless(body) {
		class = outbox.Safe
	}
	ended := false
	if v, ended = f.prepare(ctx, b, op, class, id, body, &m); ended {
		return v
	}
	began := time.Now()
	asking, echo := wire.WithEcho(ctx)
	r, err := b.send(asking, op.Key, id, body)
	left := op.Ran + time.Since(began)
	switch {
	case err != nil || r.pending:
	case !b.Makes:
		err = f.toldBefore(ctx, b, op, r)
	case r.made != "":
		err = f.ours(ctx, b, op.Key, r, body, echo.Named())
	}
	defer func() { f.behind(&v, &m, op, b, known, err) }()
	switch {
	case err != nil && unsent && wire.OtherBody(err): // a restored journal has lost what this key named first
		v.State, v.Reach, v.Reason, v.Result = outbox.Failed, outbox.Reached, err.Error(), refusedResult(err)
	case err != nil && !unsent && b.gone && wire.CodeOf(err) == wire.NotFound:
		v.State, v.Reason = outbox.Done, "gone, after an attempt whose answer was lost"
	// A create that was answered has made something, also where its answer is of no use, and a service that does not honour Keys makes
	// another one for each repeat: such a create ends in doubt by the first answer that no use can be made of, and by the second that is
	// another create's.
	case b.Makes && class == outbox.Safe && (wire.Answered(err) || errors.Is(err, wire.ErrAnothers) && m.Heard):
		v.State, v.Reach, v.Reason = outbox.Doubt, outbox.Reached, err.Error()
	case !b.Makes && errors.Is(err, wire.ErrAnothers) && m.Heard:
		v.State, v.Reach, v.Reason = outbox.Doubt, outbox.Reached, err.Error()
	case err != nil:
		v = outbox.FromError(op, class, err)
		if errors.Is(err, wire.ErrAnothers) {
			m.Heard = true
			remember(&v, &m)
		}
		compared := class == outbox.Compare
		if compared && v.State != outbox.Pending { // it may have left
			m.Left, m.Looked = left, 0
			remember(&v, &m)
		}
		may, runs := wire.MayRun(err)
		switch {
		case may && !runs && compared && m.Clash: // twice, and two readings between have shown no effect: a third decides
			m.Refused, m.Why, v.After = refusedResult(err), v.Reason, quiet
			remember(&v, &m)
		case may && compared:
			m.Clash, v.After = !runs, max(v.After, quiet)
			remember(&v, &m)
		case v.State == outbox.Failed:
			v.Result = refusedResult(err)
		case v.State == outbox.Doubt && compared && wire.CodeOf(err) != wire.KeyReused:
			m.Refused, m.Why = refusedResult(err), v.Reason // two readings have shown no effect: a third decides
			v.State, v.After = outbox.Sent, quiet
			remember(&v, &m)
		case v.State == outbox.Sent && class == outbox.Never:
			v.State = outbox.Doubt
		case v.State == outbox.Sent && compared:
			v.After = max(v.After, quiet)
		}
	case r.pending:
		if class == outbox.Compare {
			m.Left, m.Looked = left, 0
			remember(&v, &m)
		}
		v.State, v.Reach, v.After, v.Reason = outbox.Sent, outbox.Reached, askAgain, "the backend has stored it"
	case class == outbox.Compare && !echo.Named():
		m.Left, m.Looked = left, 0
		v = f.shown(ctx, b, op, id, body, &m, r)
	default:
		v = doneVerdict(r)
	}
	return v
}

// shown is the verdict on a success that names nothing of a compared write: it may be the answer to another one on the same thing, so a
// reading has to show an effect (law II). Where it shows none the write is read on, and not sent again: the data may lag.
func (f *Front) shown(ctx context.Context, b *bound, op outbox.Op, id string, body []byte, m *memo, r reply) (v outbox.Verdict) {
	done := doneVerdict(r)
	now, err := b.look(ctx, id)
	if err == nil {
		var others []outbox.Op
		if others, err = f.done(ctx, op); err == nil {
			if _, what := b.compare(m.Before, now, body, others); what != nothing {
				return done
			}
		}
	}
	m.Told = done.Result
	v.State, v.Reach, v.After, v.Reason = outbox.Sent, outbox.Reached, untold, "answered as done, and no reading shows it yet"
	remember(&v, m)
	return v
}

// behind looks at how an attempt ended that came after one which may have had its effect. A no says little then: it may be another
// site's, whose data lag, or that of what stands in the service's place while it is away. It counts once nothing else was heard for the
// quiet time, and "not found" of what this journal knows the service to have made is no end at all (law V).
func (f *Front) behind(v *outbox.Verdict, m *memo, op outbox.Op, b *bound, known bool, err error) {
	no := err != nil && op.State == outbox.Sent && (v.State == outbox.Failed || v.State == outbox.Done)
	switch {
	case !no && m.No == nil:
		return
	case !no:
		m.No = nil
	case m.No == nil:
		m.No = &op.Ran
	}
	switch {
	case !no && v.State.Final():
	case !no:
		remember(v, m)
	case op.Since(*m.No) < quiet:
		*v = outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: quiet - op.Since(*m.No), Reason: "refused behind an attempt whose answer was lost, and asked again: " + err.Error()}
		remember(v, m)
	case known && !b.gone && wire.CodeOf(err) == wire.NotFound:
		*v = outbox.Verdict{State: outbox.Doubt, Reach: outbox.Reached, Reason: "its answer was lost, and the service does not find any more what it is about: " + err.Error()}
	}
}

// prepare is what has to be known before a send. ended = this attempt sends nothing.
func (f *Front) prepare(ctx context.Context, b *bound, op outbox.Op, class outbox.Replay, id string, body []byte, m *memo) (v outbox.Verdict, ended bool) {
	v.State = outbox.Doubt
	sent, compared, known := op.State == outbox.Sent, class == outbox.Compare, len(m.Before) > 0
	switch {
	case op.ReadOnly && !(compared && known):
		v.Reason = "sent too long ago: the backend may have forgotten the key"
		return v, true
	case sent && class == outbox.Never, sent && compared && !known:
		v.Reason = "sent, and the answer was lost"
		return v, true
	case !compared, !sent && known:
		return v, false
	}
	now, err := b.look(ctx, id)
	if err != nil {
		v = outbox.FromError(op, class, err)
		if sent && v.State != outbox.Doubt {
			v.State = outbox.Sent // a reading that fails proves nothing
		} else if v.State == outbox.Failed {
			v.Result = refusedResult(err)
		}
		return v, true
	}
	if !sent { // durable before anything is sent
		v.State, v.Reach, m.Before = outbox.Pending, outbox.Reached, now
		remember(&v, m)
		return v, true
	}
	others, err := f.done(ctx, op)
	if err != nil {
		v.State, v.After, v.Reason = outbox.Sent, time.Second, err.Error()
		return v, true
	}
	r, what := b.compare(m.Before, now, body, others)
	if what != absent {
		m.No = nil
	} else if m.No == nil {
		m.No = &op.Ran
	}
	switch {
	case what == absent && op.Since(*m.No) < quiet:
		v.State, v.Reach, v.After, v.Reason = outbox.Sent, outbox.Reached, quiet-op.Since(*m.No), "it seems to be gone, and is read again"
		remember(&v, m)
	case len(m.Told) > 0 && what != nothing:
		v.State, v.Result = outbox.Done, m.Told
	case len(m.Told) > 0 && op.Since(m.Left) < quiet:
		v.State, v.Reach, v.After, v.Reason = outbox.Sent, outbox.Reached, untold, "answered as done, and no reading shows it yet"
		remember(&v, m)
	case len(m.Told) > 0:
		v.Reason = "answered as done, perhaps with another's answer: no reading shows its effect"
	case what == exactly, what == absent:
		v = doneVerdict(r)
	case what == unclear:
		v.Reason = "the answer was lost, and reading does not tell whether it had its effect"
	case !op.ReadOnly && op.Since(m.Left) < quiet: // however often it is asked
		v.State, v.Reach, v.After, v.Reason = outbox.Sent, outbox.Reached, quiet-op.Since(m.Left), "no effect yet"
		m.Looked = op.Attempts
		remember(&v, m)
	case len(m.Refused) > 0:
		v.State, v.Result, v.Reason = outbox.Failed, m.Refused, m.Why
	case op.ReadOnly:
		v.Reason = "it had no effect, and it is too old to be sent again"
	case m.Looked != op.Attempts-1 || m.Looked == 0: // it may still be under way
		v.State, v.Reach, v.After, v.Reason = outbox.Sent, outbox.Reached, quiet, "no effect yet"
		m.Looked = op.Attempts
		remember(&v, m)
	default:
		return v, false
	}
	return v, true
}

func remember(v *outbox.Verdict, m *memo) {
	v.Memo, _ = json.Marshal(m) // plain fields marshal
}
