package paylink_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/paylink"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// page is one link of the bank.
type page struct {
	paylinks.Link
	deleted bool
}

// bank is a payment-link service with a script. It keeps the truth: what was paid and what was given back.
type bank struct {
	mu    sync.Mutex
	links []*page
	txns  []*paylinks.Transaction
	keys  map[wire.Key]any // answers kept under keys
	calls []string         // in order, with their effect

	keyed    bool  // it honours keys
	silent   bool  // it does not say refunded amounts
	careless bool  // it deletes links that are paid, or being paid
	nameless bool  // transactions do not name their link
	refuse   int64 // an amount it makes no link for
	pageCap  int   // rows of a list at most, 0 = no cap

	before func(call string) error // ahead of the effect
	after  func(call string) error // an error loses the answer
	seen   map[int64]int           // reads per link
	onRead func(p *page, n int)
}

func newBank() *bank { return &bank{keys: map[wire.Key]any{}, seen: map[int64]int{}} }

var (
	errGone = &wire.Error{Code: wire.Unavailable, Op: "bank", Msg: "no network"}
	errLost = &wire.Error{Code: wire.UnknownOutcome, Op: "bank", Msg: "reply 404"} // as a captive portal on the way back has it
)

type linkHalf struct{ *bank }
type txnHalf struct{ *bank }

var (
	_ paylink.Links        = linkHalf{}
	_ paylink.Transactions = txnHalf{}
)

// do makes one call: fn is its effect.
func (b *bank) do(call string, fn func() error) error {
	b.mu.Lock()
	before, after := b.before, b.after
	b.mu.Unlock()
	if before != nil {
		if err := before(call); err != nil {
			return err
		}
	}
	b.mu.Lock()
	err := fn()
	if err == nil {
		b.calls = append(b.calls, call)
	}
	b.mu.Unlock()
	if after != nil {
		if lost := after(call); lost != nil {
			return lost
		}
	}
	return err
}

func no(code wire.Code, reason string) error {
	return &wire.Error{Code: code, Reason: reason, Op: "bank", Msg: "refused"}
}

func (b linkHalf) Create(_ context.Context, key wire.Key, req paylinks.CreateRequest) (out paylinks.Created, err error) {
	err = b.do("create", func() error {
		if kept, ok := b.keys[key].(paylinks.Created); ok && b.keyed && key != "" {
			out = kept
			return nil
		}
		if req.Amount == b.refuse || req.Amount > 1<<31-1 {
			return no(wire.Invalid, "")
		}
		n := int64(len(b.links) + 100001)
		hash := "h" + strconv.FormatInt(n, 10)
		url := "https://pay.example/" + hash
		p := &page{Link: paylinks.Link{
			ID: n, Status: paylinks.Waiting, Hash: &hash, Link: &url, ReferenceID: req.ReferenceID, Amount: req.Amount, Currency: req.Currency,
			CreatedAt: time.Now().Unix(),
		}}
		b.links = append(b.links, p)
		out.Link = p.Link
		b.keys[key] = out
		return nil
	})
	return out, err
}

// page finds a link by number; nil.
func (b *bank) page(id int64) *page {
	if id < 100001 || id >= int64(100001+len(b.links)) {
		return nil
	}
	return b.links[id-100001]
}

func (b linkHalf) Read(_ context.Context, id int64) (out paylinks.Link, err error) {
	err = b.do("read link", func() error {
		p := b.page(id)
		if p == nil || p.deleted {
			return no(wire.NotFound, "")
		}
		b.seen[id]++
		if b.onRead != nil {
			b.onRead(p, b.seen[id])
		}
		out = p.Link
		return nil
	})
	return out, err
}

func (b linkHalf) Delete(_ context.Context, _ wire.Key, id int64) (out paylinks.Deleted, err error) {
	err = b.do("delete link", func() error {
		p := b.page(id)
		switch {
		case p == nil || p.deleted:
			return no(wire.NotFound, "")
		case !b.careless && (p.Status != paylinks.Waiting || b.busy(p)):
			return no(wire.Conflict, paylinks.WrongStatus)
		}
		p.deleted = true
		out.ID = id
		return nil
	})
	return out, err
}

// busy says that somebody is paying.
func (b *bank) busy(p *page) bool {
	for _, t := range b.txns {
		if t.Invoice.PaymentRequestID == p.ID && t.Status == paylinks.Waiting {
			return true
		}
	}
	return false
}

func (b *bank) txn(id int64) *paylinks.Transaction {
	if id < 500001 || id >= int64(500001+len(b.txns)) {
		return nil
	}
	return b.txns[id-500001]
}

// shape is a transaction as the service tells it.
func (b *bank) shape(t *paylinks.Transaction) paylinks.Transaction {
	out := *t
	i := *t.Invoice
	if b.silent {
		i.RefundedAmount = nil
	}
	if b.nameless {
		i.PaymentRequestID, i.PaymentLink = 0, nil
	}
	out.Invoice = &i
	return out
}

func (b txnHalf) Read(_ context.Context, id int64) (out paylinks.Transaction, err error) {
	err = b.do("read transaction", func() error {
		t := b.txn(id)
		if t == nil {
			return no(wire.NotFound, "")
		}
		out = b.shape(t)
		return nil
	})
	return out, err
}

func (b txnHalf) Refund(_ context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (out paylinks.Done, err error) {
	err = b.do("refund", func() error {
		if kept, ok := b.keys[key].(paylinks.Done); ok && b.keyed && key != "" {
			out = kept
			return nil
		}
		t := b.txn(id)
		if t == nil {
			return no(wire.NotFound, "")
		}
		rest := t.Invoice.TotalAmount - *t.Invoice.RefundedAmount
		amount := rest
		if req.Amount != nil {
			amount = *req.Amount
		}
		if t.Status != paylinks.Confirmed && t.Status != paylinks.PartiallyRefunded || amount > rest || amount <= 0 {
			return no(wire.Conflict, paylinks.TooMuch)
		}
		*t.Invoice.RefundedAmount += amount
		t.Status = paylinks.PartiallyRefunded
		if amount == rest {
			t.Status = paylinks.Refunded
		}
		out = paylinks.Done{ID: id, Status: t.Status}
		b.keys[key] = out
		return nil
	})
	return out, err
}

func (b txnHalf) Delete(_ context.Context, _ wire.Key, id int64) (out paylinks.Deleted, err error) {
	err = b.do("delete transaction", func() error {
		t := b.txn(id)
		if t == nil || t.Status != paylinks.Reserved && t.Status != paylinks.Authorized {
			return no(wire.Conflict, paylinks.WrongStatus)
		}
		t.Status = paylinks.Cancelled
		b.page(t.Invoice.PaymentRequestID).Status = paylinks.Waiting
		return nil
	})
	return out, err
}

func (b txnHalf) List(_ context.Context, f paylinks.Filter) (out []paylinks.Transaction, err error) {
	err = b.do("list", func() error {
		limit := f.Limit
		if b.pageCap > 0 {
			limit = min(limit, int64(b.pageCap))
		}
		n := int64(0)
		for _, t := range b.txns {
			at, _ := time.Parse(paylinks.TimeLayout, t.Time)
			if !f.After.IsZero() && !at.After(f.After) {
				continue
			}
			if n++; n > f.Offset && int64(len(out)) < limit {
				out = append(out, b.shape(t))
			}
		}
		return nil
	})
	return out, err
}

// begin is a customer who presses pay: the provider thinks. false: the page is not there, or taken. With b.mu.
func (b *bank) begin(p *page) *paylinks.Transaction {
	if p.deleted || p.Status != paylinks.Waiting || b.busy(p) {
		return nil
	}
	zero := int64(0)
	t := &paylinks.Transaction{
		ID: int64(500001 + len(b.txns)), Status: paylinks.Waiting, Time: time.Now().UTC().Format(paylinks.TimeLayout), ReferenceID: p.ReferenceID,
		Invoice: &paylinks.TransactionInvoice{
			CurrencyAlpha3: p.Currency, TotalAmount: p.Amount, PaymentRequestID: p.ID, RefundedAmount: &zero,
			PaymentLink: &paylinks.PageLink{Hash: *p.Hash, ReferenceID: p.ReferenceID},
		},
	}
	b.txns = append(b.txns, t)
	return t
}

// end is the provider's decision.
func (b *bank) end(t *paylinks.Transaction, s paylinks.Status) {
	t.Status = s
	if s == paylinks.Confirmed || s == paylinks.Reserved {
		b.page(t.Invoice.PaymentRequestID).Status = s
	}
}

// pay is both at once; false as begin.
func (b *bank) pay(p *page) bool {
	t := b.begin(p)
	if t != nil {
		b.end(t, paylinks.Confirmed)
	}
	return t != nil
}

// spoil sets what stands before and after every call.
func (b *bank) spoil(before, after func(call string) error) {
	b.lock(func() { b.before, b.after = before, after })
}

func (b *bank) lock(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// of finds the newest link of a reference.
func (b *bank) of(t *testing.T, reference string) *page {
	t.Helper()
	for i := len(b.links) - 1; i >= 0; i-- {
		if b.links[i].ReferenceID == reference {
			return b.links[i]
		}
	}
	require.Fail(t, "no link of "+reference)
	return nil
}

// net is what the merchant has.
func (b *bank) net() (sum int64) {
	b.lock(func() {
		for _, t := range b.txns {
			switch t.Status {
			case paylinks.Confirmed, paylinks.PartiallyRefunded, paylinks.Refunded:
				sum += t.Invoice.TotalAmount - *t.Invoice.RefundedAmount
			}
		}
	})
	return sum
}

// count says how often a call had its effect.
func (b *bank) count(call string) (n int) {
	b.lock(func() {
		for _, c := range b.calls {
			if strings.HasPrefix(c, call) {
				n++
			}
		}
	})
	return n
}
