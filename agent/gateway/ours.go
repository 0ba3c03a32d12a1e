package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// ours refuses an answer to a create that is another's (law II): its id is under another operation of this journal, or a reading of what
// it names is of something else. What became of ours is not known, and is asked again. Nothing is read where the answer names our Key or
// our reference, and one reading is made where it names neither.
func (f *Front) ours(ctx context.Context, b *bound, key wire.Key, r reply, body []byte, named bool) error {
	var t thing
	found := false
	err := f.o.DB.Read(context.WithoutCancel(ctx), func(rd store.Reader) (err error) {
		t, found, err = f.readThing(rd, byBackend, b.Thing, strings.ToLower(r.made), r.made)
		return err
	})
	switch {
	case err != nil:
		return &wire.Error{Code: wire.UnknownOutcome, Op: b.Kind, Msg: "answered, and the terminal cannot tell whether the answer is its own", Err: err}
	case found && t.key != key:
		return &wire.Error{Code: wire.UnknownOutcome, Op: b.Kind, Msg: fmt.Sprintf("the answer is that of operation %s", t.key), Err: wire.ErrAnothers}
	case named || r.named || b.shows == nil:
		return nil
	}
	ours, err := b.shows(ctx, r.made, body)
	switch {
	case err != nil:
		return &wire.Error{Code: wire.UnknownOutcome, Op: b.Kind, Msg: fmt.Sprintf("answered, and what it made, %s, cannot be read", r.made), RetryAfter: wire.AsError(b.Kind, err).RetryAfter, Err: err}
	case !ours:
		return &wire.Error{Code: wire.UnknownOutcome, Op: b.Kind, Msg: fmt.Sprintf("the answer names %s, which is something else", r.made), Err: wire.ErrAnothers}
	}
	return nil
}

// paymentShows reads a payment, and reports whether it is the one that a create asks for: all that it tells of that agrees.
func (f *Front) paymentShows(ctx context.Context, id string, body []byte) (bool, error) {
	req, err := wire.Parse[payments.CreateRequest](KindPaymentCreate, body)
	if err != nil {
		return false, err
	}
	p, err := f.o.Payments.Read(ctx, id)
	if err != nil {
		return false, err
	}
	told, agree := 0, true
	compare := func(is, want string) {
		if is != "" {
			told++
			agree = agree && is == want
		}
	}
	if req.Amount == 0 || p.Summary.PaymentAmount != 0 {
		compare(fmt.Sprint(p.Summary.PaymentAmount), fmt.Sprint(req.Amount))
	}
	compare(strings.ToUpper(p.CurrencyCode), strings.ToUpper(req.CurrencyCode))
	if p.PaymentNumber != nil && req.PaymentNumber != "" { // else the service may number it
		compare(*p.PaymentNumber, req.PaymentNumber)
	}
	if d, c := p.PaymentDetails, req.CardDetails; d != nil && d.CardDetails != nil && d.CardDetails.MaskedPAN != nil && c != nil {
		if last := digitsAtEnd(*d.CardDetails.MaskedPAN); len(last) == lastFour {
			compare(last, digitsAtEnd(c.PAN.Masked()))
		}
	}
	return agree && told > 0, nil
}

// lastFour is how many digits of a card's number stand at the end of a masked one.
const lastFour = 4

// digitsAtEnd are the last digits of a masked card number, four at most.
func digitsAtEnd(masked string) string {
	digits := []byte{}
	for i := len(masked) - 1; i >= 0 && len(digits) < lastFour && masked[i] >= '0' && masked[i] <= '9'; i-- {
		digits = append(digits, masked[i])
	}
	slices.Reverse(digits)
	return string(digits)
}

// linkShows reads a link, and reports whether it is the one that a create asks for.
func (f *Front) linkShows(ctx context.Context, id string, body []byte) (bool, error) {
	var asked linkBody
	if err := json.Unmarshal(body, &asked); err != nil {
		return false, err
	}
	n, err := linkID(KindLinkCreate, id)
	if err != nil {
		return false, err
	}
	l, err := f.o.Links.Read(ctx, n)
	return err == nil && answers(l, asked.CreateRequest), err
}

// toldBefore refuses an answer to an operation on a payment whose transactionRef this journal has under another operation on it: that
// names one operation (S0 2.1), so it is the answer to the other one (law II). What became of ours is not known, and is asked again.
func (f *Front) toldBefore(ctx context.Context, b *bound, op outbox.Op, r reply) error {
	told, ok := r.body.(payments.Done)
	if !ok || told.TransactionRef == "" {
		return nil
	}
	var of wire.Key
	others, err := f.done(ctx, op)
	for _, other := range others {
		if transactionRef(other) == told.TransactionRef {
			of = other.Key
		}
	}
	switch {
	case err != nil:
		return &wire.Error{Code: wire.UnknownOutcome, Op: b.Kind, Msg: "answered, and the terminal cannot tell whether the answer is its own", Err: err}
	case of != "":
		return &wire.Error{Code: wire.UnknownOutcome, Op: b.Kind, Msg: fmt.Sprintf("the answer is that of operation %s", of), Err: wire.ErrAnothers}
	}
	return nil
}

// done are the other operations on what an operation is about that are done, where its service stands.
func (f *Front) done(ctx context.Context, op outbox.Op) (others []outbox.Op, err error) {
	err = f.o.DB.Read(context.WithoutCancel(ctx), func(r store.Reader) error {
		ops, err := f.box.List(r, outbox.Filter{Aggregate: op.Aggregate, State: outbox.Done, Limit: 1000})
		if err == nil {
			ops, err = here(r, f.rows[op.Kind].Service, ops)
		}
		others = slices.DeleteFunc(ops, func(other outbox.Op) bool { return other.Key == op.Key })
		return err
	})
	return others, err
}

// transactionRef is the bank's name of an operation on a payment that is done, "" = none was told.
func transactionRef(op outbox.Op) string {
	var was payments.Done
	if json.Unmarshal(keptOf(op).Body, &was) != nil {
		return ""
	}
	return was.TransactionRef
}
