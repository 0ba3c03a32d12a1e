package offlinetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// Effect is one thing that the bank did: under a Key, or for the customer of a link.
type Effect struct {
	Key    wire.Key // "" = the customer's
	Kind   string   // in the operation table, or Paid
	About  string   // the bank's id of what it was done to; "" where something was made
	Made   string   // the bank's id of what was made, or of the effect
	Amount int64    // minor units
	Held   paylinks.Status
}

// Paid is the kind of what the customer of a link does.
const Paid = "customer"

// Bank is a backend of all these services.
type Bank struct {
	tell func(Effect)

	mu      sync.Mutex
	effects []Effect
	byKey   map[wire.Key]Effect // of services that honour Keys
	made    map[string]string   // kind by the id of what was made
	links   map[int64]*link
	loses   int // answers yet to be lost
	chance  *rand.Rand
	keyless bool
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

// NewBank makes a bank in which past has happened. tell hears of every effect as it happens, before anybody is answered; nil = nobody does.
func NewBank(tell func(Effect), past ...Effect) *Bank {
	b := &Bank{tell: tell, byKey: map[wire.Key]Effect{}, made: map[string]string{}, links: map[int64]*link{}}
	for _, e := range past {
		b.happen(e)
	}
	return b
}

// Lose loses every third answer, as chance has it, until n are lost; -1 = always.
func (b *Bank) Lose(n int, chance *rand.Rand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loses, b.chance = n, chance
}

// Forget makes a bank that sees no Keys: a tooth.
func (b *Bank) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keyless = true
}

// Effects counts the effects of a Key.
func (b *Bank) Effects() map[wire.Key]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := map[wire.Key]int{}
	for _, e := range b.effects {
		if e.Key != "" {
			n[e.Key]++
		}
	}
	return n
}

// Services are the bank's own contracts.
func (b *Bank) Services() Services {
	return Services{bankPayments{b: b}, bankTokens{b}, bankLinks{b}, bankTransactions{b}, b.Pay}
}

// happen takes an effect over.
func (b *Bank) happen(e Effect) {
	b.effects = append(b.effects, e)
	if !strings.HasPrefix(e.Kind, "paylinks.") || e.Kind == "paylinks.create" {
		b.byKey[e.Key] = e
	}
	if e.About == "" {
		b.made[e.Made] = e.Kind
	}
	n, _ := strconv.ParseInt(e.About, 10, 64) // 0 where it is no number
	l := b.links[n]
	if n > toTransaction {
		l = b.links[n-toTransaction]
	}
	switch e.Kind {
	case "paylinks.create":
		n, _ = strconv.ParseInt(e.Made, 10, 64)
		b.links[n] = &link{total: e.Amount, held: e.Held}
	case "paylinks.delete":
		l.deleted = true
	case Paid:
		l.status = l.held
	case "paylinks.charge", "paylinks.capture":
		l.status, l.charged = paylinks.Confirmed, e.Amount
	case "paylinks.cancel":
		l.status = paylinks.Cancelled
	case "paylinks.refund":
		l.given += e.Amount
		if l.status = paylinks.PartiallyRefunded; l.given == l.charged {
			l.status = paylinks.Refunded
		}
	}
}

// act does something that may be done, and may lose the answer.
func (b *Bank) act(e Effect, may func() error) (Effect, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, again := b.byKey[e.Key]
	switch {
	case again && !b.keyless:
		e = old
	default:
		if err := may(); err != nil {
			return e, err
		}
		if e.Made = fmt.Sprint("B", e.Key); e.Kind == "paylinks.create" {
			e.Made = strconv.Itoa(firstLink + len(b.links))
		}
		b.happen(e)
		if b.tell != nil {
			b.tell(e)
		}
	}
	if b.loses != 0 && b.chance.IntN(3) == 0 {
		b.loses--
		return e, wire.Errorf(wire.UnknownOutcome, e.Kind, "no reply")
	}
	return e, nil
}

// about asks for a thing that was made by one of kinds.
func (b *Bank) about(id string, kinds ...string) func() error {
	return func() error {
		for _, k := range kinds {
			if b.made[id] == k {
				return nil
			}
		}
		return wire.Errorf(wire.NotFound, kinds[0], "the bank never gave the id %s", id)
	}
}

func always() error { return nil }

type bankPayments struct {
	payments.Service // what is not here is not called
	b                *Bank
}

func (p bankPayments) Create(_ context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	e, err := p.b.act(Effect{Key: key, Kind: "payments.create", Amount: int64(req.Amount)}, always)
	return payments.Created{PaymentID: e.Made}, err
}

func (p bankPayments) on(key wire.Key, kind, id string, amount int32) (payments.Done, error) {
	e, err := p.b.act(Effect{Key: key, Kind: kind, About: id, Amount: int64(amount)}, p.b.about(id, "payments.create"))
	return payments.Done{PaymentID: id, TransactionRef: e.Made}, err
}

func (p bankPayments) Authorize(_ context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return p.on(key, "payments.authorize", id, *req.Amount)
}

func (p bankPayments) Capture(_ context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return p.on(key, "payments.capture", id, *req.Amount)
}

func (p bankPayments) Refund(_ context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return p.on(key, "payments.refund", id, *req.Amount)
}

func (p bankPayments) Cancel(_ context.Context, key wire.Key, id string, _ payments.CancelRequest) (payments.Done, error) {
	return p.on(key, "payments.cancel", id, 0)
}

func (p bankPayments) Read(context.Context, string) (payments.Payment, error) {
	return payments.Payment{}, wire.Errorf(wire.NotFound, "payments.read", "no such payment")
}

type bankTokens struct{ b *Bank }

func (t bankTokens) Create(_ context.Context, key wire.Key, _ tokens.CreateRequest) (tokens.Created, error) {
	e, err := t.b.act(Effect{Key: key, Kind: "tokens.create"}, always)
	return tokens.Created{TokenizationID: e.Made}, err
}

func (t bankTokens) CreateRecurring(_ context.Context, key wire.Key, _ tokens.RecurringRequest) (tokens.Created, error) {
	e, err := t.b.act(Effect{Key: key, Kind: "tokens.recurring"}, always)
	return tokens.Created{TokenizationID: e.Made}, err
}

func (t bankTokens) Verify(_ context.Context, key wire.Key, id string) (tokens.Created, error) {
	_, err := t.b.act(Effect{Key: key, Kind: "tokens.verify", About: id}, t.b.about(id, "tokens.create", "tokens.recurring"))
	return tokens.Created{TokenizationID: id}, err
}

func (t bankTokens) Token(context.Context, string) (tokens.TokenReply, error) {
	return tokens.TokenReply{}, wire.Errorf(wire.NotFound, "tokens.token", "no such tokenization")
}

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
	given := l.given
	return paylinks.Transaction{ID: id, UUID: fmt.Sprint("uuid-", id), Status: l.status, Time: when,
		Invoice: &paylinks.TransactionInvoice{CurrencyAlpha3: "EUR", TotalAmount: l.total, RefundedAmount: &given}}, nil
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
