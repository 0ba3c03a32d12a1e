package gateway

import (
	"context"
	"encoding/json"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// Read implements payments.Service: by any of a payment's ids, or by the Key of its create. The backend's own answer where it can be had,
// with the newest write that is not in it; else what the terminal knows.
func (p paymentFront) Read(ctx context.Context, id string) (payments.Payment, error) {
	if err := payments.CheckID(id); err != nil {
		return payments.Payment{}, err
	}
	const op = "payments.read"
	var t thing
	var ops []outbox.Op
	known := false
	err := p.f.o.DB.Read(ctx, func(r store.Reader) (err error) {
		if t, known, err = p.f.findThing(r, "payment", id); err == nil {
			_, err = p.f.ownerOf(r, op, "payment", id, t, known, wire.CallerOf(ctx))
		}
		if err == nil {
			err = t.elsewhere(op)
		}
		if err != nil || p.f.box == nil {
			return err
		}
		ops, err = p.f.box.List(r, outbox.Filter{Aggregate: p.f.aggregateOf("payment", id, t, known), Limit: 1000})
		return err
	})
	if err != nil {
		return payments.Payment{}, unread(op, err)
	}
	asked := id
	if known && t.backend == "" {
		out, err := p.unmade(t, ops)
		out.PaymentID = asked
		return out, err
	}
	if known && (id == t.local || id == string(t.key)) {
		id = t.backend
	}
	out, err := p.f.o.Payments.Read(ctx, id)
	err = p.f.doubtNotFound(ctx, op, "payment", id, known, err)
	switch {
	case err == nil:
		out.Operation = p.f.newest(ops)
		if d := out.PaymentDetails; known && d != nil && d.CardDetails != nil {
			err = p.f.keepToken(ctx, op, t, d.CardDetails.Token)
		}
	case wire.CodeOf(err) == wire.Unavailable && known && len(ops) > 0 && ops[0].Key == t.key: // all of its history
		out, err = p.f.local(t, ops, false), nil
		if out.Operation = p.f.newest(ops); out.Operation == nil {
			out.Operation = &wire.Pending{Key: t.key, Status: "settled"}
		}
		out.Operation.Note = "the backend does not answer: this is what the terminal knows"
	}
	if err == nil {
		out.PaymentID = asked // whichever of its ids that is
	}
	return out, err
}

// unmade shows a payment that the backend does not know yet, or never will.
func (p paymentFront) unmade(t thing, ops []outbox.Op) (payments.Payment, error) {
	out := p.f.local(t, ops, false)
	out.Operation = &wire.Pending{Key: t.key, Status: wire.PendingStatus, Note: p.f.rows[KindPaymentCreate].Risk}
	e := seenOf(t).Ended
	if len(ops) > 0 && ops[0].Key == t.key {
		if e = (end{}); ops[0].State.Final() {
			e = endOf(ops[0])
		} else {
			out.Operation = p.f.pendingOf(ops[0])
		}
	}
	if e.State != "" {
		out.Operation = e.mark(t.key)
	}
	return out, nil
}

// local is a payment as its answered operations leave it; hoped = as it will be when those that wait succeed.
func (f *Front) local(t thing, ops []outbox.Op, hoped bool) payments.Payment {
	s := seenOf(t)
	out := payments.Payment{PaymentID: t.local, CurrencyCode: s.Currency, Summary: payments.Summary{PaymentAmount: s.Amount}}
	if s.Number != "" {
		out.PaymentNumber = &s.Number
	}
	for _, op := range ops {
		b := f.rows[op.Kind]
		if b == nil || b.show == nil || op.State != outbox.Done && (!hoped || op.State.Final()) {
			continue
		}
		var d payments.Done
		_ = json.Unmarshal(keptOf(op).Body, &d) // a create's answer has no reference
		b.show(&out, s, payments.Entry{Amount: int32(op.AmountMin), DateTime: op.Settled.UTC().Format(time.RFC3339), TransactionRef: d.TransactionRef})
	}
	return out
}

// rest is the amount of an operation that names none, on a payment that we made: what is left as far as the terminal knows, else all of
// it. false = a payment that we know nothing of.
func (f *Front) rest(b *bound, t thing, ops []outbox.Op) (int64, bool) {
	all := int64(seenOf(t).Amount)
	left := all
	if b.left != nil {
		left = b.left(levelsOf(f.local(t, ops, true)))
	}
	if left <= 0 {
		left = all
	}
	return left, all > 0
}

// Payments is the payment service that stores what the backend does not take.
func (f *Front) Payments() payments.Service { return paymentFront{f} }

// paymentFront implements the contract. It writes out every method: a new one must not pass the outbox by.
type paymentFront struct{ f *Front }
