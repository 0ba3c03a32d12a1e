package gateway

import (
	"context"
	"errors"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
	"posagent/store"
)

// What is said of a stored thing follows the state of its operations, in this file alone: a reading, a page and a refusal say the same.

// doubtNote is what is true of an operation that a person has to decide.
func doubtNote(key wire.Key) string {
	return "its outcome is in doubt, and a person decides: posagent ops show " + string(key)
}

// pendingOf is the mark of an operation that is not at its end.
func (f *Front) pendingOf(op outbox.Op) *wire.Pending {
	note := f.rows[op.Kind].Risk
	if op.State == outbox.Doubt || op.State == outbox.Held {
		note = doubtNote(op.Key)
	}
	return &wire.Pending{Key: op.Key, Status: wire.PendingStatus, Note: note}
}

// newest is the mark of the last write of a thing that is not at its end, nil = none.
func (f *Front) newest(ops []outbox.Op) *wire.Pending {
	for i := len(ops) - 1; i >= 0; i-- {
		if f.rows[ops[i].Kind] != nil && !ops[i].State.Final() {
			return f.pendingOf(ops[i])
		}
	}
	return nil
}

// text says of a thing without an id of the backend's how the operation ended that was to make it.
func (e end) text() string {
	if e.State == outbox.Done {
		return "a person has noted that it was made, and the backend's id is not known here: " + e.Reason
	}
	return "it was never made: " + e.Reason
}

// mark is the mark of a thing whose operation ended so.
func (e end) mark(key wire.Key) *wire.Pending {
	return &wire.Pending{Key: key, Status: strings.ToLower(string(e.State)), Note: e.text()}
}

// madeBy is how the operation stands that is to make a thing: its row, or what was kept when it was purged.
func (f *Front) madeBy(r store.Reader, t thing) (op outbox.Op, e end, err error) {
	op, err = f.load(r, t.key)
	switch {
	case errors.Is(err, outbox.ErrUnknown): // purged
		return outbox.Op{New: outbox.New{Key: t.key}}, seenOf(t).Ended, nil
	case err == nil && op.State.Final():
		e = endOf(op)
	}
	return op, e, err
}

// openOn are the operations on a thing that are not at their end, the oldest first.
func (f *Front) openOn(ctx context.Context, op, about, id string, t thing, known bool) (ops []outbox.Op, err error) {
	if f.box == nil {
		return nil, nil
	}
	err = f.o.DB.Read(ctx, func(r store.Reader) (err error) {
		ops, err = f.box.List(r, outbox.Filter{Aggregate: f.aggregateOf(about, id, t, known), Open: true})
		return err
	})
	if err != nil {
		return nil, &wire.Error{Code: wire.Internal, Op: op, Err: err}
	}
	return ops, nil
}

// pageOf is what the page of a payment says: whether money may have moved.
func pageOf(s seen, made bool, op outbox.Op, e end) pageState {
	switch {
	case e.State == outbox.Failed, e.State == outbox.Expired:
		return pageEnded
	case made, e.State == outbox.Done:
		return pageMade
	case op.State == outbox.Doubt, op.State == outbox.Held:
		return pageLost
	case op.State == outbox.Sent && s.AtOnce: // no customer has to confirm it
		return pageUnder
	}
	return pageWaits
}
