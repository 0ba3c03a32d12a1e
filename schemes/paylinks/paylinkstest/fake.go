package paylinkstest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// Fake is the payment-link service in memory, without clock or books: enough to prove clients, handlers and callers. The zero
// value works. Links wait until Pay.
type Fake struct {
	mu    sync.Mutex
	links []*fakeLink
	txns  []*fakeTxn
	keys  map[wire.Key]fakeCall
	Calls []string // operations and ids in the order of their effect
}

type fakeLink struct {
	link    paylinks.Link
	req     paylinks.CreateRequest
	deleted bool
}

type fakeTxn struct {
	txn     paylinks.Transaction
	amount  int64
	charged int64
	given   int64 // back
}

type fakeCall struct {
	body   string
	result any
	err    error
}

// Links is the link half.
func (f *Fake) Links() paylinks.Links { return fakeLinks{f} }

// Transactions is the transaction half.
func (f *Fake) Transactions() paylinks.Transactions { return fakeTxns{f} }

type fakeLinks struct{ *Fake }

type fakeTxns struct{ *Fake }

var (
	_ paylinks.Links        = fakeLinks{}
	_ paylinks.Transactions = fakeTxns{}
)

// once performs act under a key.
func once[T any](f *Fake, key wire.Key, op string, body any, act func() (T, error)) (T, error) {
	var none T
	data, err := json.Marshal(body)
	if err != nil {
		return none, wire.Errorf(wire.Invalid, op, "body cannot be written")
	}
	text := op + " " + string(data)
	f.mu.Lock()
	defer f.mu.Unlock()
	if before, ok := f.keys[key]; ok && key != "" {
		if before.body != text {
			return none, wire.Errorf(wire.KeyReused, op, "key was used with another body")
		}
		out, _ := before.result.(T) // the same operation gives the same type
		return out, before.err
	}
	out, err := act()
	if key != "" && wire.CodeOf(err) != wire.Invalid {
		if f.keys == nil {
			f.keys = map[wire.Key]fakeCall{}
		}
		f.keys[key] = fakeCall{text, out, err}
	}
	if err == nil {
		f.Calls = append(f.Calls, text)
	}
	return out, err
}

const fakeTime = "2026-11-21 10:00:00"

func refuse(code wire.Code, reason string) error {
	return &wire.Error{Code: code, Reason: reason, Op: "fake", Msg: "refused"}
}

// Create implements paylinks.Links.
func (f fakeLinks) Create(_ context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Created{}, err
	}
	return once(f.Fake, key, "create", req, func() (paylinks.Created, error) {
		n := int64(len(f.links) + 1)
		hash := "hash" + strconv.FormatInt(n, 10)
		page := "https://demo.example/pay?tid=" + hash
		reserved := paylinks.Bit(req.Reservation)
		l := paylinks.Link{
			ID: n, Status: paylinks.Waiting, Hash: &hash, Link: &page, ReferenceID: req.ReferenceID, PreAuthorization: paylinks.Bit(req.PreAuthorization),
			Reservation: &reserved, Name: req.Name, API: true, PM: append([]string{}, req.PM...), Purpose: req.Purpose, Amount: req.Amount, VatRate: req.VatRate,
			Currency: req.Currency, SKU: req.SKU, SubscriptionState: req.SubscriptionState, SubscriptionInterval: req.SubscriptionInterval,
			SubscriptionPeriod: req.SubscriptionPeriod, SubscriptionCancellationInterval: req.SubscriptionCancellationInterval,
			SubscriptionPeriodMinAmount: paylinks.Cents(req.SubscriptionPeriodMinAmount), CreatedAt: 1795255200,
		}
		if len(req.PSP) > 0 {
			l.PSP = paylinks.Provider(req.PSP[0])
		}
		if c, ok := req.Fields["email"]; ok {
			l.Fields.Email = paylinks.Field{Active: true, Mandatory: c.Mandatory}
		}
		f.links = append(f.links, &fakeLink{link: l, req: req})
		return paylinks.Created{Link: l}, nil
	})
}

func (f *Fake) link(id int64) (*fakeLink, error) {
	if id < 1 || id > int64(len(f.links)) || f.links[id-1].deleted {
		return nil, refuse(wire.NotFound, "")
	}
	return f.links[id-1], nil
}

// Read implements paylinks.Links.
func (f fakeLinks) Read(_ context.Context, id int64) (paylinks.Link, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := f.link(id)
	if err != nil {
		return paylinks.Link{}, err
	}
	return l.link, nil
}

// Delete implements paylinks.Links.
func (f fakeLinks) Delete(_ context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return once(f.Fake, key, "delete", id, func() (paylinks.Deleted, error) {
		l, err := f.link(id)
		switch {
		case err != nil:
			return paylinks.Deleted{}, err
		case l.link.Status != paylinks.Waiting:
			return paylinks.Deleted{}, refuse(wire.Conflict, paylinks.WrongStatus)
		}
		l.deleted = true
		return paylinks.Deleted{ID: id}, nil
	})
}

// Pay lets the customer of a link pay; false if it is not waiting.
func (f *Fake) Pay(id int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := f.link(id)
	if err != nil || l.link.Status != paylinks.Waiting {
		return false
	}
	n := int64(len(f.txns) + 1001)
	t := &fakeTxn{amount: l.req.Amount, txn: paylinks.Transaction{
		ID: n, UUID: "uuid-" + strconv.FormatInt(n, 10), Time: fakeTime, Lang: "en", PSP: "Test", PSPID: 1, Mode: "TEST", ReferenceID: l.req.ReferenceID,
		Payment: &paylinks.Payment{Brand: "visa"}, Invoice: &paylinks.TransactionInvoice{
			CurrencyAlpha3: l.req.Currency, Products: []paylinks.Product{{Quantity: 1, Name: l.req.Purpose, Amount: l.req.Amount}}, TotalAmount: l.req.Amount},
		Contact: &paylinks.Person{},
	}}
	switch {
	case l.req.Reservation:
		t.txn.Status = paylinks.Reserved
	case l.req.PreAuthorization:
		t.txn.Status = paylinks.Authorized
	default:
		t.txn.Status, t.charged = paylinks.Confirmed, t.amount
	}
	l.link.Status = t.txn.Status
	f.txns = append(f.txns, t)
	return true
}

func (f *Fake) txn(id int64) (*fakeTxn, error) {
	if id < 1001 || id > int64(len(f.txns)+1000) {
		return nil, refuse(wire.NotFound, "")
	}
	return f.txns[id-1001], nil
}

// Read implements paylinks.Transactions.
func (f fakeTxns) Read(_ context.Context, id int64) (paylinks.Transaction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.txn(id)
	if err != nil {
		return paylinks.Transaction{}, err
	}
	return t.txn, nil
}

func (t *fakeTxn) done() paylinks.Done {
	return paylinks.Done{ID: t.txn.ID, UUID: t.txn.UUID, Time: t.txn.Time, Status: t.txn.Status, Lang: t.txn.Lang, PSP: t.txn.PSP}
}

func (t *fakeTxn) held() bool {
	return t.txn.Status == paylinks.Reserved || t.txn.Status == paylinks.Authorized
}

// Charge implements paylinks.Transactions.
func (f fakeTxns) Charge(_ context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Done{}, err
	}
	return f.collect(key, "charge", id, req, req.Amount)
}

// Capture implements paylinks.Transactions.
func (f fakeTxns) Capture(_ context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	return f.collect(key, "capture", id, nil, nil)
}

func (f fakeTxns) collect(key wire.Key, op string, id int64, body any, amount *int64) (paylinks.Done, error) {
	return once(f.Fake, key, op, []any{id, body}, func() (paylinks.Done, error) {
		t, err := f.txn(id)
		switch {
		case err != nil:
			return paylinks.Done{}, err
		case !t.held():
			return paylinks.Done{}, refuse(wire.Conflict, paylinks.WrongStatus)
		case amount != nil && *amount > t.amount:
			return paylinks.Done{}, refuse(wire.Conflict, paylinks.TooMuch)
		}
		t.txn.Status, t.charged = paylinks.Confirmed, t.amount
		if amount != nil {
			t.charged = *amount
		}
		return t.done(), nil
	})
}

// Refund implements paylinks.Transactions.
func (f fakeTxns) Refund(_ context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	if err := req.Validate(); err != nil {
		return paylinks.Done{}, err
	}
	return once(f.Fake, key, "refund", []any{id, req}, func() (paylinks.Done, error) {
		t, err := f.txn(id)
		if err != nil {
			return paylinks.Done{}, err
		}
		rest := t.charged - t.given
		if rest == 0 {
			return paylinks.Done{}, refuse(wire.Conflict, paylinks.WrongStatus)
		}
		amount := rest
		if req.Amount != nil {
			amount = *req.Amount
		}
		if amount > rest {
			return paylinks.Done{}, refuse(wire.Conflict, paylinks.TooMuch)
		}
		t.given += amount
		t.txn.Status = paylinks.PartiallyRefunded
		if amount == rest {
			t.txn.Status = paylinks.Refunded
		}
		return t.done(), nil
	})
}

// Delete implements paylinks.Transactions.
func (f fakeTxns) Delete(_ context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return once(f.Fake, key, "cancel", id, func() (paylinks.Deleted, error) {
		t, err := f.txn(id)
		switch {
		case err != nil:
			return paylinks.Deleted{}, err
		case t.txn.Status != paylinks.Reserved:
			return paylinks.Deleted{}, refuse(wire.Conflict, paylinks.WrongStatus)
		}
		t.txn.Status = paylinks.Cancelled
		return paylinks.Deleted{ID: id}, nil
	})
}

// List implements paylinks.Transactions.
func (f fakeTxns) List(_ context.Context, by paylinks.Filter) ([]paylinks.Transaction, error) {
	if err := by.Validate(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []paylinks.Transaction{}
	for _, t := range f.txns {
		if !by.After.IsZero() && t.txn.Time <= by.After.UTC().Format(paylinks.TimeLayout) ||
			!by.Before.IsZero() && t.txn.Time >= by.Before.UTC().Format(paylinks.TimeLayout) {
			continue
		}
		out = append(out, t.txn)
	}
	out = out[min(by.Offset, int64(len(out))):]
	if by.Limit > 0 {
		out = out[:min(by.Limit, int64(len(out)))]
	}
	return slices.Clone(out), nil
}
