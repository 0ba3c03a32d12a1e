package paymentstest

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"strconv"
	"sync"

	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Card numbers the Fake knows by heart; every other one is approved.
const (
	FakeApproved = "4111111111111111"
	FakeDeclined = "4000000000000002"
)

// Fake is a payments.Service in memory without clock or books: enough to prove clients, handlers, callers and the suite.
// The zero value works.
type Fake struct {
	// Bug is one of Bugs, or "": a mistake that the suite must find.
	Bug string

	mu   sync.Mutex
	all  []*fakePayment
	keys map[string]fakeCall
}

// Bugs are the mistakes a Fake can be told to make.
func Bugs() []string {
	return []string{
		"captures without authorization", "captures too much", "decides too early", "looks keys up too early", "captures after cancel", "authorizes twice",
		"authorizes too much", "cancels after capture", "cancels nothing", "refunds too much", "refunds nothing captured", "forgets keys",
		"ignores the body of a key", "forgets refusals", "uses a key up for an invalid request", "one reference for all", "one id for all",
		"forgets the sale", "forgets the customer", "no reasons", "approves everything", "finds anything", "ignores the basket",
		"validates nothing", "pays in units of account", "has no page", "shows the card", "refunds and forgets",
	}
}

type fakePayment struct {
	id                           string
	req                          payments.CreateRequest
	reserved, captured, refunded int64
	cancelled                    bool
	lists                        map[string][]payments.Entry
}

type fakeCall struct {
	body []byte
	ref  any
	err  error
}

var _ payments.Service = (*Fake)(nil)

func (f *Fake) bug(name string) bool { return f.Bug == name }

// pause lets others in, between a decision and its effect.
func (f *Fake) pause(bug string) {
	for i := 0; f.bug(bug) && i < 100; i++ {
		f.mu.Unlock()
		runtime.Gosched()
		f.mu.Lock()
	}
}

func (f *Fake) refused(reason string) error {
	if f.bug("no reasons") {
		reason = ""
	}
	return payments.Refused("fake", reason, "refused")
}

// once performs do under a key in its scope.
func once[R any](f *Fake, key wire.Key, scope string, body []byte, check error, do func() (R, error)) (R, error) {
	var none R
	if key != "" {
		if _, err := wire.ParseKey(string(key)); err != nil {
			return none, &wire.Error{Code: wire.Invalid, Op: "fake", Err: err}
		}
	}
	if check != nil && !f.bug("validates nothing") && !f.bug("uses a key up for an invalid request") {
		return none, check
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := scope + " " + string(key)
	if before, ok := f.keys[at]; ok && key != "" && !f.bug("forgets keys") {
		if !bytes.Equal(before.body, body) && !f.bug("ignores the body of a key") {
			return none, wire.Errorf(wire.KeyReused, "fake", "key was used with another body")
		}
		if before.err != nil {
			return none, before.err
		}
		return before.ref.(R), nil
	}
	f.pause("looks keys up too early")
	out, err := none, check
	if err == nil || f.bug("validates nothing") {
		out, err = do()
	}
	if f.keys == nil {
		f.keys = map[string]fakeCall{}
	}
	if err == nil || !f.bug("forgets refusals") && wire.CodeOf(err) != wire.NotFound {
		if _, ok := f.keys[at]; !ok {
			f.keys[at] = fakeCall{body: body, ref: out, err: err}
		}
	}
	return out, err
}

// Create implements payments.Service.
func (f *Fake) Create(_ context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	body, err := wire.Encode(req)
	if err != nil {
		return payments.Created{}, &wire.Error{Code: wire.Invalid, Op: "fake", Err: err}
	}
	return once(f, key, "create", body, check.Request("fake", req), func() (payments.Created, error) {
		p := &fakePayment{id: "P" + strconv.Itoa(len(f.all)+1001), req: req, lists: map[string][]payments.Entry{}}
		if f.bug("one id for all") {
			p.id = "P1"
		}
		out := payments.Created{PaymentID: p.id}
		if d := req.PaymentMethodDetails; req.Type != payments.Moto && (d == nil || d.Type == payments.InitialToken || d.Type == payments.Sofort) {
			page := "https://pay.example/" + p.id
			if out.PayPageURL = &page; f.bug("has no page") {
				out.PayPageURL = nil
			}
		} else if err := f.process(p); err != nil {
			return payments.Created{}, err
		}
		f.all = append(f.all, p)
		return out, nil
	})
}

// process does what the body says is to be done once it is known what to pay with.
func (f *Fake) process(p *fakePayment) error {
	cur, _ := money.Lookup(p.req.CurrencyCode)
	moves := p.req.Processing == payments.ProcessAuthorize || p.req.Processing == payments.ProcessSale
	if moves && !cur.Payable() && !f.bug("pays in units of account") {
		return f.refused(payments.CurrencyNotPayable)
	}
	if p.declined() && !f.bug("approves everything") && (moves || p.req.Processing == payments.ProcessVerify) {
		return f.refused(payments.HardDecline)
	}
	if moves {
		p.reserved = int64(p.req.Amount)
		f.note(p, "authorizations", p.reserved, "")
	}
	if p.req.Processing == payments.ProcessSale && !f.bug("forgets the sale") {
		p.captured = p.reserved
		f.note(p, "captures", p.captured, "")
	}
	return nil
}

func (p *fakePayment) declined() bool {
	return p.req.CardDetails != nil && p.req.CardDetails.PAN.Reveal() == FakeDeclined
}

func (f *Fake) note(p *fakePayment, list string, amount int64, description string) string {
	n := 0
	for _, l := range p.lists {
		n += len(l)
	}
	ref := p.id + "-" + strconv.Itoa(n+1)
	if f.bug("one reference for all") {
		ref = "T1"
	}
	var d *string
	if description != "" {
		d = &description
	}
	p.lists[list] = append(p.lists[list], payments.Entry{Amount: int32(amount), DateTime: "2026-11-21T10:00:00Z", Description: d, TransactionRef: ref})
	return ref
}

func (f *Fake) find(id string) *fakePayment {
	for _, p := range f.all {
		if p.id == id || f.bug("finds anything") {
			return p
		}
	}
	return nil
}

// operate finds the payment and lets rule decide: an amount to move, or the reason against it.
func (f *Fake) operate(key wire.Key, op, id string, req any, check error, rule func(p *fakePayment) (list, description string, amount int64, reason string)) (payments.Done, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return payments.Done{}, &wire.Error{Code: wire.Invalid, Op: "fake", Err: err}
	}
	return once(f, key, id+" "+op, body, check, func() (payments.Done, error) {
		p := f.find(id)
		if p == nil {
			return payments.Done{}, wire.Errorf(wire.NotFound, "fake", "no such payment")
		}
		list, description, amount, reason := rule(p)
		if reason != "" {
			return payments.Done{}, f.refused(reason)
		}
		f.pause("decides too early")
		switch list {
		case "authorizations":
			p.reserved = amount
		case "captures":
			p.captured += amount
		case "refunds":
			if !f.bug("refunds and forgets") {
				p.refunded += amount
			}
		default:
			p.cancelled = !f.bug("cancels nothing")
		}
		return payments.Done{PaymentID: p.id, TransactionRef: f.note(p, list, amount, description)}, nil
	})
}

// or is what v points at, or otherwise.
func or(v *int32, otherwise int64) int64 {
	if v == nil {
		return otherwise
	}
	return int64(*v)
}

// Authorize implements payments.Service.
func (f *Fake) Authorize(_ context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return f.operate(key, "authorize", id, req, payments.Validate("fake", id, req), func(p *fakePayment) (string, string, int64, string) {
		amount, reason := or(req.Amount, int64(p.req.Amount)), ""
		cur, _ := money.Lookup(p.req.CurrencyCode)
		switch {
		case p.cancelled:
			reason = payments.AlreadyCancelled
		case p.reserved > 0 && !f.bug("authorizes twice"):
			reason = payments.AlreadyReserved
		case amount > int64(p.req.Amount) && !f.bug("authorizes too much"):
			reason = payments.OverCharge
		case !cur.Payable() && !f.bug("pays in units of account"):
			reason = payments.CurrencyNotPayable
		case p.declined() && !f.bug("approves everything"):
			reason = payments.HardDecline
		}
		return "authorizations", req.Description, amount, reason
	})
}

// Cancel implements payments.Service.
func (f *Fake) Cancel(_ context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return f.operate(key, "cancel", id, req, payments.Validate("fake", id, req), func(p *fakePayment) (string, string, int64, string) {
		reason := ""
		switch {
		case p.cancelled:
			reason = payments.AlreadyCancelled
		case p.captured > 0 && !f.bug("cancels after capture"):
			reason = payments.AlreadyCharged
		case p.reserved == 0:
			reason = payments.NotReserved
		}
		return "cancellations", req.Description, p.reserved, reason
	})
}

// Capture implements payments.Service.
func (f *Fake) Capture(_ context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	broken := payments.Validate("fake", id, req)
	if f.bug("ignores the basket") && wire.ReasonOf(broken) != "" {
		broken = nil
	}
	return f.operate(key, "capture", id, req, broken, func(p *fakePayment) (string, string, int64, string) {
		amount, reason := or(req.Amount, p.reserved-p.captured), ""
		switch {
		case p.cancelled && !f.bug("captures after cancel"):
			reason = payments.AlreadyCancelled
		case p.reserved == 0 && !f.bug("captures without authorization"):
			reason = payments.NotReserved
		case f.bug("captures too much") || f.bug("captures without authorization"):
		case p.captured == p.reserved:
			reason = payments.AlreadyCharged
		case p.captured+amount > p.reserved:
			reason = payments.OverCharge
		}
		return "captures", req.Description, amount, reason
	})
}

// Refund implements payments.Service.
func (f *Fake) Refund(_ context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return f.operate(key, "refund", id, req, payments.Validate("fake", id, req), func(p *fakePayment) (string, string, int64, string) {
		amount, reason := or(req.Amount, p.captured-p.refunded), ""
		switch {
		case f.bug("refunds too much") && p.captured > 0:
		case p.captured == 0 && !f.bug("refunds nothing captured"):
			reason = payments.ChargeNotFound
		case p.captured == p.refunded && p.captured > 0:
			reason = payments.PaymentAlreadyRefunded
		case p.refunded+amount > p.captured && p.captured > 0:
			reason = payments.InvalidRefundAmount
		}
		return "refunds", req.Description, amount, reason
	})
}

// Read implements payments.Service.
func (f *Fake) Read(_ context.Context, id string) (payments.Payment, error) {
	if err := payments.CheckID(id); err != nil {
		return payments.Payment{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.find(id)
	if p == nil {
		return payments.Payment{}, wire.Errorf(wire.NotFound, "fake", "no such payment")
	}
	out := payments.Payment{PaymentID: p.id, CurrencyCode: p.req.CurrencyCode, PaymentNumber: text(p.req.PaymentNumber),
		Summary: payments.Summary{PaymentAmount: p.req.Amount, AuthorizedAmount: int32(p.reserved), CapturedAmount: int32(p.captured), RefundedAmount: int32(p.refunded)},
	}
	for list, into := range map[string]*[]payments.Entry{"authorizations": &out.Authorizations, "captures": &out.Captures,
		"refunds": &out.Refunds, "cancellations": &out.Cancellations} {
		*into = append([]payments.Entry{}, p.lists[list]...)
	}
	if p.cancelled {
		out.Summary.AuthorizedAmount = 0
	}
	if c := p.req.CardDetails; c != nil {
		kind, masked := payments.KindCard, c.PAN.Masked()
		if f.bug("shows the card") {
			masked = c.PAN.Reveal()
		}
		year, month := payments.Digits(c.ExpiryYear), payments.Digits(c.ExpiryMonth)
		out.PaymentDetails = &payments.PaymentDetails{PaymentMethodType: &kind,
			CardDetails: &payments.CardInfo{MaskedPAN: &masked, ExpiryYear: &year, ExpiryMonth: &month}}
	}
	if c := p.req.Customer; c != nil && !f.bug("forgets the customer") {
		out.Customer = payments.CustomerInfo{Type: text(c.Type), RegistrationNumber: text(c.RegistrationNumber), CompanyName: text(c.CompanyName),
			ContactFirstName: text(c.ContactFirstName), ContactLastName: text(c.ContactLastName), FirstName: text(c.FirstName),
			LastName: text(c.LastName), CustomerNumber: text(c.CustomerNumber), Email: text(c.Email), Phone: text(c.Phone)}
		if a := c.Address; a != nil {
			out.Customer.Address = payments.AddressInfo{Address1: text(a.Address1), Address2: text(a.Address2), City: text(a.City),
				PostalCode: text(a.PostalCode), CountryCode: text(a.CountryCode)}
		}
	}
	return out, nil
}

// Pay lets the customer pay at the page; false if nobody is waited for there.
func (f *Fake) Pay(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.find(id)
	return p != nil && p.reserved == 0 && !p.cancelled && f.process(p) == nil
}

// text is s, or null where there is none.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
