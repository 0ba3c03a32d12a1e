package offlinetest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// The processing of a link that a story begins with.
const (
	reserve   = "reserve"
	authorize = "authorize"
)

func linkPlans() []plan {
	return []plan{
		{"taken-back", false, func(s Story, whole, _ int64) []Write { return []Write{s.createLink(whole, ""), takeBack(0)} }},
		{"charged", false, func(s Story, whole, part int64) []Write {
			return []Write{s.createLink(whole, authorize), charge(0, part+400), giveBack(0, part)}
		}},
		{"captured", false, func(s Story, whole, part int64) []Write {
			return []Write{s.createLink(whole, reserve), collect(0, whole), giveBack(0, part)}
		}},
		{"let-go", false, func(s Story, whole, _ int64) []Write { return []Write{s.createLink(whole, reserve), letGo(0)} }},
	}
}

func (s Story) createLink(amount int64, process string) Write {
	req := paylinks.CreateRequest{
		Title: "Order", Description: "Thank you", ReferenceID: s.Reference(), Purpose: "Order", Amount: amount, Currency: "EUR",
		Reservation: process == reserve, PreAuthorization: process == authorize,
	}
	return Write{"paylinks.create", -1, false, amount, func(ctx context.Context, to Services, key wire.Key, _ string) (string, *wire.Pending, error) {
		out, err := to.Links.Create(ctx, key, req)
		return strconv.FormatInt(out.ID, 10), out.Operation, err
	}}
}

// onNumber makes a write about a link or a transaction.
func onNumber(kind string, paid bool, about int, amount int64, do func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error)) Write {
	return Write{kind, about, paid, amount, func(ctx context.Context, s Services, key wire.Key, about string) (string, *wire.Pending, error) {
		n, err := strconv.ParseInt(about, 10, 64)
		if err != nil {
			return "", nil, err
		}
		id, p, err := do(ctx, s, key, n)
		return strconv.FormatInt(id, 10), p, err
	}}
}

func takeBack(about int) Write {
	return onNumber("paylinks.delete", false, about, 0, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Links.Delete(ctx, key, id)
		return d.ID, d.Operation, err
	})
}

func charge(about int, amount int64) Write {
	return onNumber("paylinks.charge", true, about, amount, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Charge(ctx, key, id, paylinks.ChargeRequest{Amount: &amount})
		return d.ID, d.Operation, err
	})
}

func collect(about int, amount int64) Write {
	return onNumber("paylinks.capture", true, about, amount, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Capture(ctx, key, id)
		return d.ID, d.Operation, err
	})
}

func giveBack(about int, amount int64) Write {
	return onNumber("paylinks.refund", true, about, amount, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Refund(ctx, key, id, paylinks.RefundRequest{Amount: &amount})
		return d.ID, d.Operation, err
	})
}

func letGo(about int) Write {
	return onNumber("paylinks.cancel", true, about, 0, func(ctx context.Context, s Services, key wire.Key, id int64) (int64, *wire.Pending, error) {
		d, err := s.Transactions.Delete(ctx, key, id)
		return d.ID, d.Operation, err
	})
}

// link is one link with the transaction of its customer.
type link struct {
	held           paylinks.Status // what its transaction will be, once it is paid
	deleted        bool
	status         paylinks.Status // of the transaction, "" = none
	total, charged int64
	given          int64
}

const (
	firstLink = 100_000
	// A link's transaction has its number and this.
	toTransaction = 400_000
)

// bankLinks is the bank's own contract.
type bankLinks struct{ b *Bank }

func (l bankLinks) Create(_ context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	held := paylinks.Confirmed
	switch {
	case req.Reservation:
		held = paylinks.Reserved
	case req.PreAuthorization:
		held = paylinks.Authorized
	}
	e, err := l.b.act(Effect{Key: key, Kind: "paylinks.create", Amount: req.Amount, Held: held}, always)
	if err != nil {
		return paylinks.Created{}, err
	}
	n, err := strconv.ParseInt(e.Made, 10, 64)
	return paylinks.Created{Link: l.b.page(n)}, err
}

// page is a link that the bank knows.
func (b *Bank) page(id int64) paylinks.Link {
	b.mu.Lock()
	defer b.mu.Unlock()
	hash, at := fmt.Sprintf("%032x", id), fmt.Sprint("https://pay.example/", id)
	out := paylinks.Link{ID: id, Status: paylinks.Waiting, Hash: &hash, Link: &at, Amount: b.links[id].total, Currency: "EUR"}
	if s := b.links[id].status; s != "" {
		out.Status = s
		out.Invoices = paylinks.Invoices{{Transactions: []paylinks.Transaction{{ID: id + toTransaction, Status: s}}}}
	}
	return out
}

func (b *Bank) find(op string, id int64) (*link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.links[id]
	if l == nil || l.deleted {
		return nil, wire.Errorf(wire.NotFound, op, "no such link")
	}
	return l, nil
}

func (l bankLinks) Read(_ context.Context, id int64) (paylinks.Link, error) {
	if _, err := l.b.find("paylinks.read", id); err != nil {
		return paylinks.Link{}, err
	}
	return l.b.page(id), nil
}

func (l bankLinks) Delete(_ context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	const op = "paylinks.delete"
	found, err := l.b.find(op, id)
	if err != nil {
		return paylinks.Deleted{}, err
	}
	_, err = l.b.act(Effect{Key: key, Kind: op, About: strconv.FormatInt(id, 10)}, func() error {
		if found.status != "" {
			return wire.Errorf(wire.Conflict, op, "it is paid")
		}
		return nil
	})
	return paylinks.Deleted{ID: id}, err
}

// Pay is what the customer of a link does.
func (b *Bank) Pay(_ context.Context, hash string) error {
	id, err := strconv.ParseInt(hash, 16, 64)
	if err != nil {
		return err
	}
	l, err := b.find(Paid, id)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.status != "" {
		return nil
	}
	e := Effect{Kind: Paid, About: strconv.FormatInt(id, 10), Amount: l.total}
	b.happen(e)
	if b.tell != nil {
		b.tell(e)
	}
	return nil
}

type bankTransactions struct{ b *Bank }

// when is the time of every transaction: nothing is made beside one.
var when = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(paylinks.TimeLayout)

func (t bankTransactions) Read(_ context.Context, id int64) (paylinks.Transaction, error) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	l := t.b.links[id-toTransaction]
	if l == nil || l.status == "" {
		return paylinks.Transaction{}, wire.Errorf(wire.NotFound, "paylinks.transaction", "no such transaction")
	}
	given, total := l.given, l.total
	if l.charged > 0 { // the bank tells what was collected
		total = l.charged
	}
	return paylinks.Transaction{ID: id, UUID: fmt.Sprint("uuid-", id), Status: l.status, Time: when,
		Invoice: &paylinks.TransactionInvoice{CurrencyAlpha3: "EUR", TotalAmount: total, RefundedAmount: &given}}, nil
}

func (t bankTransactions) List(context.Context, paylinks.Filter) ([]paylinks.Transaction, error) {
	return nil, nil
}

func (t bankTransactions) do(key wire.Key, kind string, id, amount int64, may func(l *link) bool) (paylinks.Done, error) {
	l, err := t.b.find(kind, id-toTransaction)
	if err != nil {
		return paylinks.Done{}, err
	}
	_, err = t.b.act(Effect{Key: key, Kind: kind, About: strconv.FormatInt(id, 10), Amount: amount}, func() error {
		if !may(l) {
			return wire.Errorf(wire.Conflict, kind, "it is %s", l.status)
		}
		return nil
	})
	if err != nil {
		return paylinks.Done{}, err
	}
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return paylinks.Done{ID: id, UUID: fmt.Sprint("uuid-", id), Time: when, Status: l.status}, nil
}

func waits(l *link) bool { return l.status == paylinks.Reserved || l.status == paylinks.Authorized }

func (t bankTransactions) Charge(_ context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	return t.do(key, "paylinks.charge", id, *req.Amount, waits)
}

func (t bankTransactions) Capture(_ context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	l, err := t.b.find("paylinks.capture", id-toTransaction)
	if err != nil {
		return paylinks.Done{}, err
	}
	return t.do(key, "paylinks.capture", id, l.total, waits)
}

func (t bankTransactions) Refund(_ context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	return t.do(key, "paylinks.refund", id, *req.Amount, func(l *link) bool {
		return (l.status == paylinks.Confirmed || l.status == paylinks.PartiallyRefunded) && l.given+*req.Amount <= l.charged
	})
}

func (t bankTransactions) Delete(_ context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	d, err := t.do(key, "paylinks.cancel", id, 0, waits)
	return paylinks.Deleted{ID: d.ID}, err
}
