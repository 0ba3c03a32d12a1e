package paylinks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

var _ paylinks.Transactions = Transactions{}

// visible reads a transaction that the routes show, with its link.
func visible(r store.Reader, id int64) (*txn, *link, error) {
	t, err := txnByID(r, id)
	if err != nil || t == nil || t.Type == kindRefund {
		if err == nil {
			err = noTxn(id)
		}
		return nil, nil, err
	}
	l, err := linkWhere(r, byID, t.Link)
	if err == nil && l == nil {
		err = fmt.Errorf("link %d of transaction %d is gone", t.Link, id)
	}
	return t, l, err
}

// Read implements paylinks.Transactions.
func (x Transactions) Read(ctx context.Context, id int64) (paylinks.Transaction, error) {
	s := x.s
	var out paylinks.Transaction
	var amount int64
	err := s.touch(ctx, s.Now().UnixMilli(), func(r store.Reader) (*link, error) {
		_, l, err := visible(r, id)
		return l, err
	}, func(r store.Reader, l *link) error {
		t, _, err := visible(r, id)
		if err != nil {
			return err
		}
		o, err := s.options(r, l)
		if err == nil {
			amount = t.Hundredths
			out, err = s.transaction(r, t, l, o)
		}
		return err
	})
	if err == nil {
		err = s.lose(ctx, opTxn, amount, "transaction "+number(id))
	}
	if err != nil {
		return paylinks.Transaction{}, wire.AsError(opTxn, err)
	}
	return out, nil
}

// maxList is how many rows a list gives at most.
const maxList = 1000

// List implements paylinks.Transactions.
func (x Transactions) List(ctx context.Context, f paylinks.Filter) ([]paylinks.Transaction, error) {
	if err := f.Validate(); err != nil {
		return nil, wire.AsError(opTxn, err)
	}
	where, args := []string{"type != 'refund'"}, []any{}
	if !f.After.IsZero() {
		where, args = append(where, "created_ms >= ?"), append(args, (f.After.Unix()+1)*1000)
	}
	if !f.Before.IsZero() {
		where, args = append(where, "created_ms < ?"), append(args, f.Before.Unix()*1000)
	}
	limit := int64(maxList)
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	if _, err := x.s.sweep(room.Everyone(ctx)); err != nil { // what is due belongs on the list, and what cannot move must not hide the others
		x.s.Log.Error("sweep", "err", err)
	}
	out := []paylinks.Transaction{}
	err := x.s.DB.Read(ctx, func(r store.Reader) error {
		out = out[:0]
		where, args := slices.Clone(where), slices.Clone(args)
		if own, more := room.Own(r, linkResource, "links_txn.link"); own != "" {
			where, args = append(where, own), append(args, more...)
		}
		list, err := txnsOf(r, "WHERE "+strings.Join(where, " AND ")+" ORDER BY created_ms, id LIMIT ? OFFSET ?", append(args, limit, f.Offset)...)
		if err != nil {
			return err
		}
		for _, t := range list {
			_, l, err := visible(r, t.ID)
			if err != nil {
				return err
			}
			o, err := x.s.options(r, l)
			if err != nil {
				return err
			}
			full, err := x.s.transaction(r, t, l, o)
			if err != nil {
				return err
			}
			out = append(out, full)
		}
		return nil
	})
	if err != nil {
		return nil, wire.AsError(opTxn, err)
	}
	return out, nil
}

// change plays a write about one transaction.
func change[T any](ctx context.Context, x Transactions, verb string, key wire.Key, id int64, body any, act func(tx store.Tx, l *link, o *options, t *txn, now int64) (T, error)) (T, error) {
	row := func(tx store.Tx) (scenario.Do, error) {
		t, err := txnByID(tx, id)
		if err != nil || t == nil || verb != "refund" {
			return "", err
		}
		return x.s.spoil(tx, t.Hundredths, scenario.Refund, number(id))
	}
	return write(ctx, x.s, "paylinks."+verb, number(id), key, body, row, func(tx store.Tx, now int64) (none T, err error) {
		_, l, err := visible(tx, id)
		if err == nil {
			err = x.s.advance(tx, l, now)
		}
		if err != nil {
			return none, err
		}
		t, err := txnByID(tx, id)
		if err != nil {
			return none, err
		}
		o, err := x.s.options(tx, l)
		if err != nil {
			return none, err
		}
		return act(tx, l, o, t, now)
	})
}

// Charge implements paylinks.Transactions.
func (x Transactions) Charge(ctx context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Done{}, wire.AsError(opTxn, err)
	}
	return change(ctx, x, "charge", key, id, req, func(tx store.Tx, l *link, o *options, t *txn, now int64) (paylinks.Done, error) {
		if req.Purpose != "" {
			t.Purpose = req.Purpose
		}
		if req.ReferenceID != "" {
			t.Reference = req.ReferenceID
		}
		return x.collect(tx, l, o, t, evCharge, req.Amount, now)
	})
}

// Capture implements paylinks.Transactions.
func (x Transactions) Capture(ctx context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	return change(ctx, x, "capture", key, id, nil, func(tx store.Tx, l *link, o *options, t *txn, now int64) (paylinks.Done, error) {
		return x.collect(tx, l, o, t, evCapture, nil, now)
	})
}

// collect takes what was reserved or allowed, or a part of it; the rest is let go.
func (x Transactions) collect(tx store.Tx, l *link, o *options, t *txn, ev event, part *int64, now int64) (paylinks.Done, error) {
	amount, err := portion(part, t.Hundredths, t.Currency)
	if err != nil {
		return paylinks.Done{}, err
	}
	to, ok := next(t.Status, ev)
	if !ok {
		return paylinks.Done{}, forbidden("No Transaction found with id %d and status: authorized, reserved", t.ID)
	}
	minor := minorOf(amount, t.Currency)
	events := []books.Event{{Kind: books.Authorize, Amount: minor}, {Kind: books.Capture, Amount: minor}, {Kind: books.Release}}
	if t.Status == Reserved { // it is held already
		events = events[1:]
	}
	for _, e := range events {
		if err := post(tx, t, t, now, e); err != nil {
			return paylinks.Done{}, err
		}
	}
	t.Status, t.Charged = to, amount
	if err := saveTxn(tx, t); err != nil {
		return paylinks.Done{}, err
	}
	return done(t), x.s.emit(tx, l, o, t, t)
}

// portion checks an amount against what there is: nil means all of it.
func portion(part *int64, rest int64, currency string) (int64, error) {
	switch {
	case part == nil:
		return rest, nil
	case *part <= 0 || minorOf(*part, currency) <= 0:
		return 0, &wire.FieldError{Path: "amount", Reason: "not an amount of the currency", Code: wire.Invalid}
	case *part > rest:
		e := wire.Errorf(wire.Conflict, "", "amount: more than there is left, which is %d", rest)
		e.Reason = paylinks.TooMuch
		return 0, e
	}
	return *part, nil
}

// Refund implements paylinks.Transactions.
func (x Transactions) Refund(ctx context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Done{}, wire.AsError(opTxn, err)
	}
	return change(ctx, x, "refund", key, id, req, func(tx store.Tx, l *link, o *options, t *txn, now int64) (paylinks.Done, error) {
		to, ok := next(t.Status, evRefund)
		if !ok {
			return paylinks.Done{}, forbidden("No Transaction found with id %d and status: confirmed", id)
		}
		amount, err := portion(req.Amount, t.Charged-t.Refunded, t.Currency)
		if err != nil {
			return paylinks.Done{}, err
		}
		back := &txn{
			Link: l.ID, Type: kindRefund, Original: t.ID, Status: Refunded, Hundredths: amount, Refunded: amount, Currency: t.Currency,
			Reference: t.Reference, Purpose: t.Purpose, Lang: t.Lang, Brand: t.Brand, Card: t.Card, Created: now,
		}
		if err := x.s.insertTxn(tx, back, nil); err != nil {
			return paylinks.Done{}, err
		}
		if err := post(tx, t, back, now, books.Event{Kind: books.Refund, Amount: minorOf(amount, t.Currency)}); err != nil {
			return paylinks.Done{}, err
		}
		t.Status, t.Refunded = to, t.Refunded+amount
		if t.Refunded == t.Charged {
			t.Status = Refunded
		}
		if err := saveTxn(tx, t); err != nil {
			return paylinks.Done{}, err
		}
		out := done(t)
		out.Status = paylinks.Refunded // S1 3.1: of the route, also where a part was given back; a reading says which
		return out, x.s.emit(tx, l, o, t, back)
	})
}

// Delete implements paylinks.Transactions. What is cancelled stays so: asking again gives the same answer.
func (x Transactions) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return change(ctx, x, "cancel", key, id, nil, func(tx store.Tx, l *link, o *options, t *txn, now int64) (paylinks.Deleted, error) {
		if t.Status == Cancelled {
			return paylinks.Deleted{ID: id}, nil
		}
		if _, ok := next(t.Status, evRemove); !ok {
			return paylinks.Deleted{}, forbidden("No Transaction found with id %d and status: reserved", id)
		}
		t.Goal = evRemove
		return paylinks.Deleted{ID: id}, x.s.settle(tx, l, o, t, now)
	})
}
