package hostedtest

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"posagent/schemes/hosted"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// Cards of a Fake.
const (
	FakeApproved = "4111111111111111"
	FakeDeclined = "4000000000000002"
	FakeAsks     = "4000002760003184"
)

// Bugs that a Fake can have, for the test of the suite itself.
func Bugs() []string {
	return []string{
		"pays twice", "pays an order twice", "forgets keys", "takes another body", "refunds more", "captures more", "captures what is void", "finalizes what is not ready",
		"goes on after a cancel", "calls a decline paid", "has one token for all", "loses operations", "charges when authorizing", "ignores the confirmed amount",
	}
}

// Fake is the service in memory.
type Fake struct {
	Bug string

	mu       sync.Mutex
	n        int
	sessions map[string]*fakeSession
	orders   map[string]*fakeOrder
	kept     map[string]fakeAnswer
}

type fakeSession struct {
	req              hosted.BuildRequest
	token, state     string
	pan              string
	canceled         bool
	op               *hosted.Operation
	url              string
	amount           hosted.Text
	sessionID, order string
}

type fakeOrder struct {
	order                                  hosted.Order
	ops                                    []hosted.Operation
	authorized, captured, refunded, voided money.Minor
}

type fakeAnswer struct {
	body string
	out  any
	err  error
}

// once plays f under a key.
func (f *Fake) once(scope string, key wire.Key, body any, do func() (any, error)) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key == "" || f.Bug == "forgets keys" {
		return do()
	}
	text, _ := json.Marshal(body)
	name := scope + " " + string(key)
	if a, ok := f.kept[name]; ok {
		if a.body != string(text) && f.Bug != "takes another body" {
			return nil, wire.Errorf(wire.KeyReused, "", "the key was used with another body")
		}
		return a.out, a.err
	}
	out, err := do()
	if f.kept == nil {
		f.kept = map[string]fakeAnswer{}
	}
	f.kept[name] = fakeAnswer{string(text), out, err}
	return out, err
}

func (f *Fake) id(prefix string) string {
	f.n++
	return prefix + strconv.Itoa(f.n)
}

// Sessions is one half of the service, Orders the other.
func (f *Fake) Sessions() hosted.Sessions { return (*fakeSessions)(f) }

// Orders is the other half.
func (f *Fake) Orders() hosted.Orders { return (*fakeOrders)(f) }

type (
	fakeSessions Fake
	fakeOrders   Fake
)

var (
	_ hosted.Sessions = (*fakeSessions)(nil)
	_ hosted.Orders   = (*fakeOrders)(nil)
)

// Fill lets a customer fill in the card fields.
func (f *Fake) Fill(sessionID, pan string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[sessionID]
	if s == nil {
		return false
	}
	s.pan, s.state = pan, hosted.Ready
	return true
}

// Answer lets a customer answer the challenge.
func (f *Fake) Answer(sessionID string, pass bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[sessionID]
	if s == nil || s.state != hosted.Redirected {
		return false
	}
	s.state, s.url = hosted.Complete, ""
	f.settle(s, map[bool]string{true: "", false: hosted.ThreeDSFailed}[pass])
	return true
}

// Build implements hosted.Sessions.
func (x *fakeSessions) Build(_ context.Context, key wire.Key, req hosted.BuildRequest) (hosted.Built, error) {
	f := (*Fake)(x)
	if err := req.Validate(); err != nil {
		return hosted.Built{}, err
	}
	if _, err := req.Order.Customer(); err != nil {
		return hosted.Built{}, err
	}
	out, err := f.once("build", key, req, func() (any, error) {
		o := f.orders[req.Order.OrderID]
		switch {
		case o != nil && o.order.Currency != req.Order.Currency:
			return hosted.Built{}, hosted.Refused("hosted.build", hosted.OrderDiffers)
		case o != nil && o.authorized > 0:
			return hosted.Built{}, hosted.Refused("hosted.build", hosted.OrderPaid)
		case o == nil:
			o = &fakeOrder{}
		}
		o.order = req.Order
		if f.orders == nil {
			f.orders, f.sessions = map[string]*fakeOrder{}, map[string]*fakeSession{}
		}
		f.orders[req.Order.OrderID] = o
		s := &fakeSession{req: req, token: f.id("token-"), state: hosted.MethodSelection, sessionID: f.id("session-"), order: req.Order.OrderID}
		if f.Bug == "has one token for all" {
			s.token = "token"
		}
		fields := []hosted.Field{{Type: "ACTION", Class: "CARD", ID: "PAY_WITH_CARD", Src: "https://fields.example/PAY_WITH_CARD"}}
		if req.PaymentSession.PaymentService == hosted.CardService {
			s.state, fields = hosted.CardCollection, []hosted.Field{{Type: "TEXT", Class: "CARD_FIELD", ID: "CARD_NUMBER", Src: "https://fields.example/CARD_NUMBER"}}
		}
		f.sessions[s.sessionID] = s
		return hosted.Built{SessionID: s.sessionID, SecurityToken: wire.Secret(s.token), Fields: fields}, nil
	})
	b, _ := out.(hosted.Built)
	return b, err
}

func (f *Fake) find(op, id string) (*fakeSession, error) {
	s := f.sessions[id]
	switch {
	case s == nil:
		return nil, wire.Errorf(wire.NotFound, op, "no such session")
	case s.canceled && f.Bug != "goes on after a cancel":
		return nil, hosted.Refused(op, hosted.SessionCanceled)
	}
	return s, nil
}

func (s *fakeSession) show() hosted.SessionState {
	return hosted.SessionState{State: s.state, URL: s.url, Operation: s.op}
}

func (f *Fake) add(s *fakeSession, kind, result string, amount hosted.Text, of string) *hosted.Operation {
	o := f.orders[s.order]
	op := hosted.Operation{
		OrderID: s.order, OperationID: f.id("op-"), Channel: hosted.Ecommerce, OperationType: kind, OperationResult: result, OperationTime: "2026-11-22T10:00:00.000Z",
		PaymentMethod: hosted.Card, PaymentCircuit: "VISA", OperationAmount: amount, OperationCurrency: o.order.Currency, CancelledOperationID: of,
	}
	if f.Bug != "loses operations" || kind != hosted.Refund {
		o.ops = append(o.ops, op)
	}
	return &op
}

// settle ends a payment.
func (f *Fake) settle(s *fakeSession, result string) {
	o := f.orders[s.order]
	explicit := s.req.PaymentSession.CaptureType == hosted.Explicit || s.req.PaymentSession.ActionType == hosted.Preauth
	kind, good := hosted.Capture, hosted.Executed
	if explicit {
		kind, good = hosted.Authorization, hosted.Authorized
	}
	n, _ := s.amount.Minor()
	switch {
	case result != "":
	case s.pan == FakeDeclined && f.Bug != "calls a decline paid":
		result = hosted.Declined
	case s.req.PaymentSession.ActionType == hosted.Verify:
		kind, result = hosted.Authorization, hosted.Executed
	default:
		result = good
		o.authorized += n
		if !explicit || f.Bug == "charges when authorizing" {
			o.captured += n
		}
	}
	s.op = f.add(s, kind, result, s.amount, "")
	s.state = hosted.Complete
}

// Finalize implements hosted.Sessions.
func (x *fakeSessions) Finalize(_ context.Context, key wire.Key, id string, amount hosted.Text) (hosted.SessionState, error) {
	f := (*Fake)(x)
	const op = "hosted.finalize"
	out, err := f.once("finalize "+id, key, amount, func() (any, error) {
		s, err := f.find(op, id)
		if err != nil {
			return nil, err
		}
		if n, _ := amount.Minor(); amount != "" {
			if total, _ := s.req.Order.Amount.Minor(); n > total {
				return nil, &wire.Error{Code: wire.Invalid, Reason: hosted.AmountAboveOrder, Op: op, Msg: "amount: above the order's"}
			}
		}
		switch {
		case s.state == hosted.Complete && f.Bug != "pays twice", s.state == hosted.Redirected:
			return s.show(), nil
		case s.state != hosted.Ready && s.state != hosted.Complete && f.Bug != "finalizes what is not ready":
			return nil, hosted.Refused(op, hosted.SessionNotReady)
		case f.orders[s.order].authorized > 0 && s.state == hosted.Ready && f.Bug != "pays an order twice":
			return nil, hosted.Refused(op, hosted.OrderPaid)
		}
		s.amount = s.req.PaymentSession.Amount
		if amount != "" && f.Bug != "ignores the confirmed amount" {
			s.amount = amount
		}
		if s.pan == FakeAsks {
			s.state, s.url = hosted.Redirected, "https://bank.example/challenge"
			return s.show(), nil
		}
		f.settle(s, "")
		return s.show(), nil
	})
	st, _ := out.(hosted.SessionState)
	return st, err
}

// Cancel implements hosted.Sessions.
func (x *fakeSessions) Cancel(_ context.Context, key wire.Key, id string) (hosted.SessionState, error) {
	f := (*Fake)(x)
	out, err := f.once("cancel "+id, key, nil, func() (any, error) {
		s, err := f.find("hosted.cancel", id)
		switch {
		case err != nil:
			return nil, err
		case s.state == hosted.Complete:
			return nil, hosted.Refused("hosted.cancel", hosted.SessionComplete)
		}
		s.canceled = true
		return hosted.SessionState{State: hosted.Abandoned}, nil
	})
	st, _ := out.(hosted.SessionState)
	return st, err
}

// State implements hosted.Sessions.
func (x *fakeSessions) State(_ context.Context, id string) (hosted.SessionState, error) {
	f := (*Fake)(x)
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.find("hosted.state", id)
	if err != nil {
		return hosted.SessionState{}, err
	}
	return s.show(), nil
}

// Card implements hosted.Sessions.
func (x *fakeSessions) Card(_ context.Context, id string) (hosted.CardData, error) {
	f := (*Fake)(x)
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.find("hosted.card", id)
	switch {
	case err != nil:
		return hosted.CardData{}, err
	case s.pan == "":
		return hosted.CardData{}, hosted.Refused("hosted.card", hosted.SessionNotReady)
	}
	return hosted.CardData{BIN: s.pan[:6], LastFourDigits: s.pan[12:], ExpiringDate: "12/99", Circuit: "VISA"}, nil
}

// Methods implements hosted.Orders.
func (x *fakeOrders) Methods(context.Context) (hosted.MethodList, error) {
	return hosted.MethodList{PaymentMethods: []hosted.Method{{PaymentMethodType: hosted.Card, Circuit: "VISA", ImageLink: "https://fields.example/visa.svg", RecurringSupported: true}}}, nil
}

// Order implements hosted.Orders.
func (x *fakeOrders) Order(_ context.Context, id string) (hosted.Report, error) {
	f := (*Fake)(x)
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.orders[id]
	if o == nil {
		return hosted.Report{}, wire.Errorf(wire.NotFound, "hosted.order", "no such order")
	}
	r := hosted.Report{OrderStatus: hosted.OrderStatus{Order: o.order, AuthorizedAmount: hosted.TextOf(o.authorized), CapturedAmount: hosted.TextOf(o.captured)}, Operations: append([]hosted.Operation{}, o.ops...)}
	if n := len(o.ops); n > 0 {
		r.OrderStatus.LastOperationType, r.OrderStatus.LastOperationTime = o.ops[n-1].OperationType, o.ops[n-1].OperationTime
	}
	return r, nil
}

func (f *Fake) post(key wire.Key, op, verb, id string, req hosted.PostRequest) (hosted.Posted, error) {
	if err := req.Validate(op); err != nil {
		return hosted.Posted{}, err
	}
	out, err := f.once(verb+" "+id, key, req, func() (any, error) { return f.postOnce(op, verb, id, req) })
	p, _ := out.(hosted.Posted)
	return p, err
}

func (f *Fake) postOnce(op, verb, id string, req hosted.PostRequest) (any, error) {
	for _, o := range f.orders {
		for _, of := range o.ops {
			if of.OperationID != id {
				continue
			}
			s := &fakeSession{order: of.OrderID}
			if req.Currency != "" && req.Currency != o.order.Currency {
				return nil, &wire.Error{Code: wire.Invalid, Reason: hosted.BadCurrency, Op: op, Msg: "currency: not the order's"}
			}
			n, _ := req.Amount.Minor()
			switch good := of.OperationResult == hosted.Authorized || of.OperationResult == hosted.Executed; {
			case !good:
				return nil, hosted.Refused(op, hosted.NotPossible)
			case verb == hosted.Capture:
				if n == 0 {
					n = o.authorized - o.captured
				}
				switch {
				case o.voided > 0 && f.Bug != "captures what is void":
					return nil, hosted.Refused(op, hosted.VoidedNoCapture)
				case o.captured+n > o.authorized && f.Bug != "captures more", n == 0:
					return nil, hosted.Refused(op, hosted.ExecutedNoCapture)
				}
				o.captured += n
				done := f.add(s, hosted.Capture, hosted.Executed, hosted.TextOf(n), "")
				return hosted.Posted{OperationID: done.OperationID, OperationTime: done.OperationTime}, nil
			case verb == hosted.Refund:
				if n == 0 {
					n = o.captured - o.refunded
				}
				switch {
				case o.captured > 0 && o.captured == o.refunded:
					return nil, hosted.Refused(op, hosted.AlreadyRefunded)
				case o.refunded+n > o.captured && f.Bug != "refunds more", n == 0:
					return nil, hosted.Refused(op, hosted.RefundAboveCaptured)
				}
				o.refunded += n
				done := f.add(s, hosted.Refund, hosted.Refunded, hosted.TextOf(n), "")
				return hosted.Posted{OperationID: done.OperationID, OperationTime: done.OperationTime}, nil
			}
			switch {
			case o.voided > 0:
				return nil, hosted.Refused(op, hosted.AlreadyVoided)
			case of.OperationType == hosted.Authorization && o.captured > 0:
				return nil, hosted.Refused(op, hosted.NotPossible)
			}
			kind, result := hosted.Void, hosted.Voided
			if of.OperationType != hosted.Authorization {
				kind, result = hosted.Cancel, hosted.Executed
				o.refunded = o.captured
			}
			o.voided = o.authorized
			done := f.add(s, kind, result, of.OperationAmount, id)
			return hosted.Posted{OperationID: done.OperationID, OperationTime: done.OperationTime}, nil
		}
	}
	return nil, wire.Errorf(wire.NotFound, op, "no such operation")
}

// Capture implements hosted.Orders.
func (x *fakeOrders) Capture(_ context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return (*Fake)(x).post(key, "hosted.capture", hosted.Capture, id, req)
}

// Refund implements hosted.Orders.
func (x *fakeOrders) Refund(_ context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return (*Fake)(x).post(key, "hosted.refund", hosted.Refund, id, req)
}

// Cancel implements hosted.Orders.
func (x *fakeOrders) Cancel(_ context.Context, key wire.Key, id string, req hosted.PostRequest) (hosted.Posted, error) {
	return (*Fake)(x).post(key, "hosted.undo", hosted.Cancel, id, req)
}
