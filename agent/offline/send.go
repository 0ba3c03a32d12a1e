package offline

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
	soon = 100 * time.Millisecond
	// quiet is how long a lost request may still be under way before a reading proves that it had no effect.
	quiet = 30 * time.Second
	// askAgain is the pause while the backend itself has only stored a call.
	askAgain = 5 * time.Second
)

// memo is what an attempt leaves for the next, where the backend honours no Keys.
type memo struct {
	Before json.RawMessage `json:"before,omitempty"` // the thing before the first send
	Looked int             `json:"looked,omitempty"` // the attempt that found no effect
}

// send makes one attempt of any kind.
func (f *Front) send(ctx context.Context, b *bound, op outbox.Op) outbox.Verdict {
	var p payload
	if err := json.Unmarshal(op.Payload, &p); err != nil {
		return outbox.Verdict{State: outbox.Held, Reason: "payload not readable: " + err.Error()}
	}
	body := []byte(p.Body)
	if p.Now {
		switch full, waits := f.held(op.Key); {
		case waits:
			body = full
		case op.State == outbox.Pending:
			return outbox.Verdict{State: outbox.Failed, Reach: outbox.Reached, Result: withdrawn(), Reason: "nobody waits for it, and it is not stored: never sent"}
		case p.Part:
			return outbox.Verdict{State: outbox.Doubt, Reason: "sent, the answer was lost, and what it carried is never stored"}
		}
	}
	var t thing
	id, known := "", false
	if !b.Makes {
		err := f.o.DB.Read(ctx, func(r store.Reader) (err error) {
			t, known, err = f.find(r, b.Thing, p.Thing)
			return err
		})
		switch id = p.Thing; {
		case errors.Is(err, errThing):
			return outbox.Verdict{State: outbox.Held, Reason: err.Error()}
		case err != nil:
			return outbox.Verdict{State: op.State, After: time.Second, Reason: err.Error()}
		case known && t.backend == "":
			return outbox.Verdict{State: outbox.Held, Reason: "the backend's id is not known"}
		case known && id != t.backend && (id == t.local || id == string(t.key)):
			id = t.backend
		}
	}
	var m memo
	if len(op.Memo) > 0 {
		if err := json.Unmarshal(op.Memo, &m); err != nil {
			return outbox.Verdict{State: outbox.Held, Reason: "memo not readable: " + err.Error()}
		}
	}
	class := b.class
	if b.harmless != nil && b.harmless(body) {
		class = outbox.Safe
	}
	if v, ended := f.before(ctx, b, op, class, id, body, &m); ended {
		return v
	}
	r, err := b.send(ctx, op.Key, id, body)
	switch {
	case err != nil && op.State == outbox.Sent && b.gone && wire.CodeOf(err) == wire.NotFound:
		return outbox.Verdict{State: outbox.Done, Reason: "gone, after an attempt whose answer was lost"}
	case err != nil:
		v := outbox.FromError(op, class, err)
		switch {
		case v.State == outbox.Failed:
			v.Result = refused(err)
		case v.State == outbox.Sent && class == outbox.Never:
			v.State = outbox.Doubt
		case v.State == outbox.Sent && class == outbox.Compare:
			v.After = max(v.After, quiet)
		}
		return v
	case r.pending:
		return outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: askAgain, Reason: "the backend has stored it"}
	}
	return done(r)
}

// before is what has to be known before a send. ended = this attempt sends nothing.
func (f *Front) before(ctx context.Context, b *bound, op outbox.Op, class outbox.Replay, id string, body []byte, m *memo) (v outbox.Verdict, ended bool) {
	doubt := outbox.Verdict{State: outbox.Doubt, Reason: "sent, and the answer was lost"}
	switch {
	case op.ReadOnly && (class != outbox.Compare || len(m.Before) == 0):
		return outbox.Verdict{State: outbox.Doubt, Reason: "sent too long ago: the backend may have forgotten the key"}, true
	case class == outbox.Never && op.State == outbox.Sent:
		return doubt, true
	case class != outbox.Compare:
		return v, false
	case op.State == outbox.Pending && len(m.Before) > 0:
		return v, false
	case op.State == outbox.Sent && len(m.Before) == 0:
		return doubt, true
	}
	now, err := b.look(ctx, id)
	if err != nil {
		v := outbox.FromError(op, class, err)
		if op.State == outbox.Sent && v.State != outbox.Doubt {
			v.State = outbox.Sent // a reading that fails proves nothing
		} else if v.State == outbox.Failed {
			v.Result = refused(err)
		}
		return v, true
	}
	if op.State == outbox.Pending { // durable before anything is sent
		return remembered(outbox.Verdict{State: outbox.Pending, Reach: outbox.Reached, After: soon, Reason: "read before it is sent"}, memo{Before: now}), true
	}
	switch r, what := b.compare(m.Before, now, body); {
	case what == exactly:
		return done(r), true
	case what == unclear:
		return outbox.Verdict{State: outbox.Doubt, Reach: outbox.Reached, Reason: "the answer was lost, and reading does not tell whether it had its effect"}, true
	case op.ReadOnly:
		return outbox.Verdict{State: outbox.Doubt, Reach: outbox.Reached, Reason: "it had no effect, and it is too old to be sent again"}, true
	case m.Looked != op.Attempts-1 || m.Looked == 0: // it may still be under way
		return remembered(outbox.Verdict{State: outbox.Sent, Reach: outbox.Reached, After: quiet, Reason: "no effect yet"}, memo{Before: m.Before, Looked: op.Attempts}), true
	}
	return v, false
}

func remembered(v outbox.Verdict, m memo) outbox.Verdict {
	v.Memo, _ = json.Marshal(m) // plain fields marshal
	return v
}

func done(r reply) outbox.Verdict {
	body, err := json.Marshal(r.body)
	if err != nil {
		return outbox.Verdict{State: outbox.Held, Reason: "answer not writable: " + err.Error()}
	}
	result, _ := json.Marshal(kept{Made: r.made, Body: body}) // plain fields marshal
	return outbox.Verdict{State: outbox.Done, Result: result}
}

func refused(err error) []byte {
	e := wire.AsError("", err)
	result, _ := json.Marshal(kept{Code: e.Code, Reason: e.Reason, Msg: wire.MaskPANs(e.Msg)}) // plain fields marshal
	return result
}

// settled keeps the totals and the ids, in the commit that ends an operation.
func (f *Front) settled(tx store.Tx, b *bound, op outbox.Op) error {
	if !op.State.Final() {
		return nil // it is stored still
	}
	if _, _, err := count(tx, op.Currency, -1, -b.bounded(op.AmountMin)); err != nil {
		return err
	}
	if k := keptOf(op); b.Makes && op.State == outbox.Done && k.Made != "" {
		return f.name(tx, b, op.Key, k.Made)
	}
	return nil
}

// ReplyOf is the backend's own answer to an operation that is done, as JSON; "" where there is none.
func ReplyOf(op outbox.Op) string { return string(keptOf(op).Body) }
