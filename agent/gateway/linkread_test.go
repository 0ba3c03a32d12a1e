package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// acts are the operations on a transaction: what it must be before and is afterwards.
var acts = []struct {
	name   string
	change func(*paylinks.CreateRequest)
	do     func(ctx context.Context, x paylinks.Transactions, key wire.Key, id int64) (paylinks.Status, *wire.Pending, error)
	after  paylinks.Status
}{
	{"charge", reserve, func(ctx context.Context, x paylinks.Transactions, key wire.Key, id int64) (paylinks.Status, *wire.Pending, error) {
		d, err := x.Charge(ctx, key, id, paylinks.ChargeRequest{Amount: cents(500), ReferenceID: "charge-1"})
		return d.Status, d.Operation, err
	}, paylinks.Confirmed},
	{"capture", authorize, func(ctx context.Context, x paylinks.Transactions, key wire.Key, id int64) (paylinks.Status, *wire.Pending, error) {
		d, err := x.Capture(ctx, key, id)
		return d.Status, d.Operation, err
	}, paylinks.Confirmed},
	{"refund", nil, func(ctx context.Context, x paylinks.Transactions, key wire.Key, id int64) (paylinks.Status, *wire.Pending, error) {
		d, err := x.Refund(ctx, key, id, paylinks.RefundRequest{Amount: cents(500)})
		return d.Status, d.Operation, err
	}, paylinks.PartiallyRefunded},
	{"refund of all", nil, func(ctx context.Context, x paylinks.Transactions, key wire.Key, id int64) (paylinks.Status, *wire.Pending, error) {
		d, err := x.Refund(ctx, key, id, paylinks.RefundRequest{})
		return d.Status, d.Operation, err
	}, paylinks.Refunded},
	{"cancel", reserve, func(ctx context.Context, x paylinks.Transactions, key wire.Key, id int64) (paylinks.Status, *wire.Pending, error) {
		d, err := x.Delete(ctx, key, id)
		return paylinks.Cancelled, d.Operation, err
	}, paylinks.Cancelled},
}

// without is the way to a backend that honours no Keys, as the service this contract is taken from.
func without(way mode) mode {
	return func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
		r.Header.Del(wire.KeyHeader)
		return way(r, answer)
	}
}

func straight(_ *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
	return answer()
}

// An operation on a transaction has one effect although no Key is honoured: its lost answer is found by reading, its lost
// request is sent again.
func TestMoneyC2_TransactionsAreReadAndCompared(t *testing.T) {
	for _, act := range acts {
		for name, way := range map[string]mode{"answer lost": lost, "request lost": missed} {
			t.Run(act.name+", "+name, func(t *testing.T) {
				inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
					var change []func(*paylinks.CreateRequest)
					if act.change != nil {
						change = append(change, act.change)
					}
					tx := s.paid(change...)
					before := len(s.cable.writes())
					s.cable.set(false, without(way))
					_, op, err := act.do(t.Context(), s.front.Transactions(), "k", tx.ID)
					require.NoError(t, err)
					require.NotNil(t, op)
					require.Equal(t, fmt.Sprintf("transaction/%d", tx.ID), s.op(op.Key).Aggregate)
					s.pass(15 * time.Second)
					s.is(op.Key, outbox.Sent)
					s.cable.set(false, without(straight))
					s.box.Online()
					s.pass(3 * time.Minute)
					s.is(op.Key, outbox.Done)
					want := 1
					if name == "request lost" {
						want = 2
					}
					require.Len(t, s.cable.writes()[before:], want)
					status, op, err := act.do(t.Context(), s.front.Transactions(), "k", tx.ID)
					require.NoError(t, err)
					require.Nil(t, op)
					answer := act.after
					if answer == paylinks.PartiallyRefunded {
						answer = paylinks.Refunded // S1 3.1: the route's word
					}
					require.Equal(t, answer, status)
					now, err := s.front.Transactions().Read(t.Context(), tx.ID)
					require.NoError(t, err)
					require.Equal(t, act.after, now.Status)
					if act.after == paylinks.PartiallyRefunded {
						require.EqualValues(t, 500, *now.Invoice.RefundedAmount, "once")
					}
				})
			})
		}
	}
}

// The link is cut for hours: an operation on a transaction is stored, and has one effect afterwards.
func TestTransactionsAreStored(t *testing.T) {
	for _, act := range acts {
		t.Run(act.name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				var change []func(*paylinks.CreateRequest)
				if act.change != nil {
					change = append(change, act.change)
				}
				tx := s.paid(change...)
				s.cut()
				_, op, err := act.do(t.Context(), s.front.Transactions(), "", tx.ID)
				require.NoError(t, err)
				require.NotNil(t, op)
				s.pass(3 * time.Hour)
				s.mend()
				s.pass(time.Minute)
				s.is(op.Key, outbox.Done)
				now, err := s.front.Transactions().Read(t.Context(), tx.ID)
				require.NoError(t, err)
				require.Equal(t, act.after, now.Status)
			})
		})
	}
}

// scripted is a service whose transaction is read as the script says; what is written to it is never answered.
type scripted struct {
	paylinks.Transactions
	before, after paylinks.Transaction
	beside        []paylinks.Transaction // made since
	gone          bool
	writes        int
}

func (s *scripted) Read(context.Context, int64) (paylinks.Transaction, error) {
	switch {
	case s.writes == 0:
		return s.before, nil
	case s.gone:
		return paylinks.Transaction{}, wire.Errorf(wire.NotFound, "read", "gone")
	}
	return s.after, nil
}

func (s *scripted) List(_ context.Context, f paylinks.Filter) ([]paylinks.Transaction, error) {
	list := []paylinks.Transaction{s.before}
	if s.writes > 0 {
		list = append(list, s.beside...)
	}
	return list[min(f.Offset, int64(len(list))):], nil
}

func (s *scripted) write() error {
	s.writes++
	return wire.Errorf(wire.UnknownOutcome, "write", "no answer")
}

func (s *scripted) Charge(context.Context, wire.Key, int64, paylinks.ChargeRequest) (paylinks.Done, error) {
	return paylinks.Done{}, s.write()
}

func (s *scripted) Capture(context.Context, wire.Key, int64) (paylinks.Done, error) {
	return paylinks.Done{}, s.write()
}

func (s *scripted) Refund(context.Context, wire.Key, int64, paylinks.RefundRequest) (paylinks.Done, error) {
	return paylinks.Done{}, s.write()
}

func (s *scripted) Delete(context.Context, wire.Key, int64) (paylinks.Deleted, error) {
	return paylinks.Deleted{}, s.write()
}

// What two readings prove, and what they do not: an effect is of this thing, of this amount, of this kind and status, and nobody else's.
func TestField2_M42WhatReadingsProve(t *testing.T) {
	is := func(status paylinks.Status, change ...func(*paylinks.Transaction)) paylinks.Transaction {
		tx := paylinks.Transaction{ID: 7, UUID: "u", Status: status, Time: "2026-11-22 10:00:00", ReferenceID: "r", PageUUID: "p",
			Invoice: &paylinks.TransactionInvoice{TotalAmount: 1000, CurrencyAlpha3: "EUR"}}
		for _, c := range change {
			c(&tx)
		}
		return tx
	}
	gave := func(n int64) func(*paylinks.Transaction) {
		return func(tx *paylinks.Transaction) { tx.Invoice.RefundedAmount = &n }
	}
	ref := func(s string) func(*paylinks.Transaction) {
		return func(tx *paylinks.Transaction) { tx.ReferenceID = s }
	}
	of := func(link int64) func(*paylinks.Transaction) {
		return func(tx *paylinks.Transaction) { tx.Invoice.PaymentRequestID = link }
	}
	total := func(n int64) func(*paylinks.Transaction) {
		return func(tx *paylinks.Transaction) { tx.Invoice.TotalAmount = n }
	}
	other := func(id, amount int64, reference, page string, change ...func(*paylinks.Transaction)) paylinks.Transaction {
		tx := paylinks.Transaction{ID: id, UUID: "o", Status: paylinks.Confirmed, Time: "2026-11-22 10:00:05", ReferenceID: reference, PageUUID: page,
			Invoice: &paylinks.TransactionInvoice{TotalAmount: amount}}
		for _, c := range change {
			c(&tx)
		}
		return tx
	}
	const done, again, doubt = "done", "again", "doubt"
	charge := func(amount *int64, reference string) func(ctx context.Context, x paylinks.Transactions) (*wire.Pending, error) {
		return func(ctx context.Context, x paylinks.Transactions) (*wire.Pending, error) {
			d, err := x.Charge(ctx, "", 7, paylinks.ChargeRequest{Amount: amount, ReferenceID: reference})
			return d.Operation, err
		}
	}
	refund := func(amount *int64) func(ctx context.Context, x paylinks.Transactions) (*wire.Pending, error) {
		return func(ctx context.Context, x paylinks.Transactions) (*wire.Pending, error) {
			d, err := x.Refund(ctx, "", 7, paylinks.RefundRequest{Amount: amount})
			return d.Operation, err
		}
	}
	drop := func(ctx context.Context, x paylinks.Transactions) (*wire.Pending, error) {
		d, err := x.Delete(ctx, "", 7)
		return d.Operation, err
	}
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, x paylinks.Transactions) (*wire.Pending, error)
		s    scripted
		want string
	}{
		{"charge: confirmed", charge(nil, ""), scripted{before: is(paylinks.Authorized), after: is(paylinks.Confirmed)}, done},
		{"charge: as it was", charge(nil, ""), scripted{before: is(paylinks.Authorized), after: is(paylinks.Authorized)}, again},
		{"charge: with its reference", charge(nil, "mine"), scripted{before: is(paylinks.Reserved), after: is(paylinks.Confirmed, ref("mine"))}, done},
		{"charge: with another's", charge(nil, "mine"), scripted{before: is(paylinks.Reserved), after: is(paylinks.Confirmed, ref("theirs"))}, doubt},
		{"charge: declined meanwhile", charge(nil, ""), scripted{before: is(paylinks.Reserved), after: is(paylinks.Declined)}, doubt},
		{"charge: and given back already", charge(nil, ""), scripted{before: is(paylinks.Reserved, gave(0)), after: is(paylinks.Confirmed, gave(100))}, doubt},
		{"charge: a transaction of its own", charge(cents(400), "mine"), scripted{
			before: is(paylinks.Authorized, of(5)), after: is(paylinks.Authorized, of(5)), beside: []paylinks.Transaction{other(8, 400, "mine", "", of(5)), other(9, 400, "mine", "p", of(6))}}, done},
		{"charge: two of them", charge(cents(400), "mine"), scripted{
			before: is(paylinks.Authorized, of(5)), after: is(paylinks.Authorized, of(5)), beside: []paylinks.Transaction{other(8, 400, "mine", "", of(5)), other(9, 400, "mine", "p", of(5))}}, doubt},
		{"charge: one of another amount", charge(cents(400), "mine"), scripted{
			before: is(paylinks.Authorized, of(5)), after: is(paylinks.Authorized, of(5)), beside: []paylinks.Transaction{other(8, 500, "mine", "", of(5))}}, doubt},
		{"charge: one that a customer may have paid", charge(cents(400), ""), scripted{
			before: is(paylinks.Authorized, of(5)), after: is(paylinks.Authorized, of(5)), beside: []paylinks.Transaction{other(8, 400, "r", "", of(5))}}, doubt},
		{"charge: one that is reserved only", charge(cents(400), "mine"), scripted{
			before: is(paylinks.Authorized, of(5)), after: is(paylinks.Authorized, of(5)), beside: []paylinks.Transaction{other(8, 400, "mine", "", of(5), func(tx *paylinks.Transaction) { tx.Status = paylinks.Reserved })}}, doubt},
		{"charge: one of another link", charge(nil, ""), scripted{
			before: is(paylinks.Authorized, of(5)), after: is(paylinks.Authorized, of(5)), beside: []paylinks.Transaction{other(8, 1000, "r", "p", of(6))}}, again},
		{"charge: one of a link that is not told", charge(cents(400), "mine"), scripted{
			before: is(paylinks.Authorized), after: is(paylinks.Authorized), beside: []paylinks.Transaction{other(8, 400, "mine", "p")}}, doubt},
		{"charge: a part, and all was collected", charge(cents(400), ""), scripted{before: is(paylinks.Authorized), after: is(paylinks.Confirmed)}, doubt},
		{"charge: a part, and another part was collected", charge(cents(400), ""), scripted{before: is(paylinks.Authorized), after: is(paylinks.Confirmed, total(500))}, doubt},
		{"charge: a part", charge(cents(400), ""), scripted{before: is(paylinks.Authorized), after: is(paylinks.Confirmed, total(400))}, done},
		{"charge: a part, with its reference", charge(cents(400), "mine"), scripted{before: is(paylinks.Authorized), after: is(paylinks.Confirmed, ref("mine"))}, done},
		{"charge: a part, with its reference and another amount", charge(cents(400), "mine"), scripted{before: is(paylinks.Authorized), after: is(paylinks.Confirmed, ref("mine"), total(500))}, doubt},
		{"charge: no time to look from", charge(nil, ""), scripted{
			before: is(paylinks.Authorized, func(tx *paylinks.Transaction) { tx.Time = "" }), after: is(paylinks.Authorized, func(tx *paylinks.Transaction) { tx.Time = "" })}, doubt},
		{"charge: another transaction", charge(nil, ""), scripted{before: is(paylinks.Reserved), after: is(paylinks.Confirmed, func(tx *paylinks.Transaction) { tx.UUID = "v" })}, doubt},

		{"refund: its amount", refund(cents(300)), scripted{before: is(paylinks.PartiallyRefunded, gave(100)), after: is(paylinks.PartiallyRefunded, gave(400))}, done},
		{"refund: nothing", refund(cents(300)), scripted{before: is(paylinks.Confirmed, gave(0)), after: is(paylinks.Confirmed, gave(0))}, again},
		{"refund: another amount", refund(cents(300)), scripted{before: is(paylinks.Confirmed, gave(0)), after: is(paylinks.PartiallyRefunded, gave(200))}, doubt},
		{"refund: twice", refund(cents(300)), scripted{before: is(paylinks.Confirmed, gave(0)), after: is(paylinks.PartiallyRefunded, gave(600))}, doubt},
		{"refund: the service is at it", refund(cents(300)), scripted{before: is(paylinks.Confirmed, gave(0)), after: is(paylinks.RefundPending, gave(0))}, doubt},
		{"refund of all: all", refund(nil), scripted{before: is(paylinks.Confirmed, gave(0)), after: is(paylinks.Refunded, gave(1000))}, done},
		{"refund of all: a part", refund(nil), scripted{before: is(paylinks.Confirmed, gave(0)), after: is(paylinks.PartiallyRefunded, gave(10))}, doubt},
		{"refund untold: nothing", refund(cents(300)), scripted{before: is(paylinks.Confirmed), after: is(paylinks.Confirmed)}, again},
		{"refund untold: a part", refund(cents(300)), scripted{before: is(paylinks.Confirmed), after: is(paylinks.PartiallyRefunded)}, done},
		{"refund untold: all of it", refund(cents(1000)), scripted{before: is(paylinks.Confirmed), after: is(paylinks.Refunded)}, done},
		{"refund untold: a part became all", refund(cents(300)), scripted{before: is(paylinks.Confirmed), after: is(paylinks.Refunded)}, doubt},
		{"refund untold: a second part", refund(cents(300)), scripted{before: is(paylinks.PartiallyRefunded), after: is(paylinks.PartiallyRefunded)}, doubt},

		{"cancel: cancelled", drop, scripted{before: is(paylinks.Reserved), after: is(paylinks.Cancelled)}, done},
		{"cancel: gone", drop, scripted{before: is(paylinks.Reserved), gone: true}, done},
		{"cancel: as it was", drop, scripted{before: is(paylinks.Reserved), after: is(paylinks.Reserved)}, again},
		{"cancel: collected", drop, scripted{before: is(paylinks.Reserved), after: is(paylinks.Confirmed)}, doubt},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := c.s
			inShop(t, gateway.Options{Transactions: &script}, func(t *testing.T, s *shop) {
				op, err := c.do(t.Context(), s.front.Transactions())
				require.NoError(t, err)
				require.NotNil(t, op)
				s.pass(70 * time.Second)
				switch c.want {
				case done:
					s.is(op.Key, outbox.Done)
					require.Equal(t, 1, script.writes)
				case doubt:
					s.is(op.Key, outbox.Doubt)
					require.Equal(t, 1, script.writes)
				default:
					s.pass(2 * time.Minute)
					require.Greater(t, script.writes, 1)
					s.is(op.Key, outbox.Sent)
				}
			})
		})
	}
}
