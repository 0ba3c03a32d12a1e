package backend_test

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/wire"
)

// wrongPayments errs where it has a function, and is next everywhere else. It writes out every method: a new one must not pass by.
type wrongPayments struct {
	next  payments.Service
	write func(ctx context.Context, w *paymentsWrite) (any, error)
	read  func(ctx context.Context, id string) (payments.Payment, error)
}

var _ payments.Service = wrongPayments{}

// paymentsWrite is a write on its way to the service. A wrong service may change all but its op.
type paymentsWrite struct {
	op     string
	key    wire.Key
	id     string                  // of the payment; "" for a create
	create *payments.CreateRequest // nil for all others
	amount *int32                  // nil = all
	send   func() (any, error)     // what the service says
}

func (w wrongPayments) Create(ctx context.Context, key wire.Key, req payments.CreateRequest) (payments.Created, error) {
	return written(ctx, w, paymentsWrite{op: "create", key: key, create: &req}, func(o *paymentsWrite) (payments.Created, error) {
		return w.next.Create(ctx, o.key, req)
	})
}

func (w wrongPayments) Authorize(ctx context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return written(ctx, w, paymentsWrite{op: "authorize", key: key, id: id, amount: req.Amount}, func(o *paymentsWrite) (payments.Done, error) {
		return w.next.Authorize(ctx, o.key, o.id, req)
	})
}

func (w wrongPayments) Cancel(ctx context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return written(ctx, w, paymentsWrite{op: "cancel", key: key, id: id}, func(o *paymentsWrite) (payments.Done, error) {
		return w.next.Cancel(ctx, o.key, o.id, req)
	})
}

func (w wrongPayments) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return written(ctx, w, paymentsWrite{op: "capture", key: key, id: id, amount: req.Amount}, func(o *paymentsWrite) (payments.Done, error) {
		return w.next.Capture(ctx, o.key, o.id, req)
	})
}

func (w wrongPayments) Refund(ctx context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return written(ctx, w, paymentsWrite{op: "refund", key: key, id: id, amount: req.Amount}, func(o *paymentsWrite) (payments.Done, error) {
		return w.next.Refund(ctx, o.key, o.id, req)
	})
}

func written[R any](ctx context.Context, w wrongPayments, o paymentsWrite, send func(*paymentsWrite) (R, error)) (R, error) {
	o.send = func() (any, error) { return send(&o) }
	if w.write == nil {
		return send(&o)
	}
	out, err := w.write(ctx, &o)
	return out.(R), err
}

func (w wrongPayments) Read(ctx context.Context, id string) (payments.Payment, error) {
	if w.read == nil {
		return w.next.Read(ctx, id)
	}
	return w.read(ctx, id)
}

// basketless captures without its basket what does not add up to it.
type basketless struct{ wrongPayments }

func (w basketless) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	out, err := w.next.Capture(ctx, key, id, req)
	if wire.ReasonOf(err) == payments.AmountDiffersFromOrderItems {
		req.Basket = nil
		return w.next.Capture(ctx, key, id, req)
	}
	return out, err
}

type paymentsBug = func(payments.Service) payments.Service

// before changes a write before it is sent.
func before(change func(*paymentsWrite)) paymentsBug {
	return func(s payments.Service) payments.Service {
		return wrongPayments{next: s, write: func(_ context.Context, o *paymentsWrite) (any, error) {
			change(o)
			return o.send()
		}}
	}
}

// after changes what a write is answered with.
func after(change func(o *paymentsWrite, out any, err error) (any, error)) paymentsBug {
	return func(s payments.Service) payments.Service {
		return wrongPayments{next: s, write: func(_ context.Context, o *paymentsWrite) (any, error) {
			out, err := o.send()
			return change(o, out, err)
		}}
	}
}

// shows changes what is read.
func shows(change func(*payments.Payment)) paymentsBug {
	return func(s payments.Service) payments.Service {
		return wrongPayments{next: s, read: func(ctx context.Context, id string) (payments.Payment, error) {
			p, err := s.Read(ctx, id)
			if err == nil {
				change(&p)
			}
			return p, err
		}}
	}
}

// claimed is the answer to an operation that did not happen.
func claimed(o *paymentsWrite) payments.Done {
	return payments.Done{PaymentID: o.id, TransactionRef: string(wire.NewKey())}
}

// claims answers an operation that is refused for one of the reasons as if it were done.
func claims(op string, reasons ...string) paymentsBug {
	return after(func(o *paymentsWrite, out any, err error) (any, error) {
		if o.op == op && slices.Contains(reasons, wire.ReasonOf(err)) {
			return claimed(o), nil
		}
		return out, err
	})
}

// asks changes what a create asks for.
func asks(change func(*payments.CreateRequest)) paymentsBug {
	return before(func(o *paymentsWrite) {
		if o.create != nil {
			change(o.create)
		}
	})
}

// made changes what a create is answered with.
func made(change func(*payments.Created)) paymentsBug {
	return after(func(o *paymentsWrite, out any, err error) (any, error) {
		if c, ok := out.(payments.Created); ok && err == nil {
			change(&c)
			return c, nil
		}
		return out, err
	})
}

// yield lets other callers in, between a decision and its effect.
func yield() {
	for range 100 {
		runtime.Gosched()
	}
}

// fresh returns a new key in place of a good one. It returns a key that breaks the rules as it is.
func fresh(key wire.Key) wire.Key {
	if _, err := wire.ParseKey(string(key)); err != nil {
		return key
	}
	return wire.NewKey()
}

// looksEarly looks a key up and lets others in before it performs what it did not find.
func looksEarly() paymentsBug {
	var first sync.Map // keys that were sent, by the caller's
	return before(func(o *paymentsWrite) {
		if sent, ok := first.Load(o.key); ok {
			o.key = sent.(wire.Key)
			return
		}
		yield()
		sent := fresh(o.key)
		first.LoadOrStore(o.key, sent)
		o.key = sent
	})
}

// forgetsRefusals performs anew what was refused under the same key.
func forgetsRefusals() paymentsBug {
	var next sync.Map // keys to send after a refusal, by the caller's
	return func(s payments.Service) payments.Service {
		return wrongPayments{next: s, write: func(_ context.Context, o *paymentsWrite) (any, error) {
			asked := o.key
			if sent, ok := next.Load(asked); ok {
				o.key = sent.(wire.Key)
			}
			out, err := o.send()
			if wire.CodeOf(err) == wire.Conflict {
				next.Store(asked, fresh(asked))
			}
			return out, err
		}}
	}
}

// ignoresBodies answers a key that comes with another body as it was answered first.
func ignoresBodies() paymentsBug {
	var first sync.Map // answers, by key
	return after(func(o *paymentsWrite, out any, err error) (any, error) {
		if before, ok := first.LoadOrStore(o.key, out); ok && wire.CodeOf(err) == wire.KeyReused {
			return before, nil
		}
		return out, err
	})
}

// usesUp takes a key for used once it came with an invalid request.
func usesUp() paymentsBug {
	var used sync.Map
	return after(func(o *paymentsWrite, out any, err error) (any, error) {
		if _, ok := used.Load(o.key); ok {
			return out, wire.Errorf(wire.KeyReused, o.op, "key was used with another body")
		}
		if wire.CodeOf(err) == wire.Invalid && o.key != "" {
			used.Store(o.key, true)
		}
		return out, err
	})
}

// decidesEarly decides by what it reads and lets others in. It answers by that decision, whatever
// the service says then.
func decidesEarly() paymentsBug {
	var granted, seen sync.Map // answers, and keys, by key
	return func(s payments.Service) payments.Service {
		return wrongPayments{next: s, write: func(ctx context.Context, o *paymentsWrite) (any, error) {
			if out, ok := granted.Load(o.key); ok {
				return out, nil
			}
			if _, ok := seen.LoadOrStore(o.key, true); ok {
				return o.send()
			}
			p, err := s.Read(ctx, o.id)
			left := map[string]int32{
				"capture": p.Summary.AuthorizedAmount - p.Summary.CapturedAmount, "refund": p.Summary.CapturedAmount - p.Summary.RefundedAmount,
			}[o.op]
			fits := err == nil && o.amount != nil && *o.amount <= left
			yield()
			out, err := o.send()
			if fits && wire.CodeOf(err) == wire.Conflict {
				out, err = claimed(o), nil
				granted.Store(o.key, out)
			}
			return out, err
		}}
	}
}

// cancelsNothing says that a reservation is given up, and leaves it.
func cancelsNothing(s payments.Service) payments.Service {
	return wrongPayments{next: s, write: func(ctx context.Context, o *paymentsWrite) (any, error) {
		p, err := s.Read(ctx, o.id)
		if o.op == "cancel" && err == nil && p.Summary.AuthorizedAmount > 0 && p.Summary.CapturedAmount == 0 {
			return claimed(o), nil
		}
		return o.send()
	}}
}

// findsAnything takes the payment it met last for one that there is not.
func findsAnything(s payments.Service) payments.Service {
	var last sync.Map // one id, under ""
	return wrongPayments{next: s, write: func(_ context.Context, o *paymentsWrite) (any, error) {
		out, err := o.send()
		if id, ok := last.Load(""); ok && wire.CodeOf(err) == wire.NotFound {
			o.id = id.(string)
			return o.send()
		}
		if c, ok := out.(payments.Created); ok && err == nil {
			last.Store("", c.PaymentID)
		}
		return out, err
	}, read: func(ctx context.Context, id string) (payments.Payment, error) {
		p, err := s.Read(ctx, id)
		if id, ok := last.Load(""); ok && wire.CodeOf(err) == wire.NotFound {
			return s.Read(ctx, id.(string))
		}
		return p, err
	}}
}

// validatesNothing answers an invalid request like a good one.
func validatesNothing(s payments.Service) payments.Service {
	return wrongPayments{next: s, write: func(ctx context.Context, o *paymentsWrite) (any, error) {
		out, err := o.send()
		switch {
		case wire.CodeOf(err) != wire.Invalid:
			return out, err
		case o.create != nil:
			*o.create = paymentstest.Fixture{Currency: "EUR"}.Hosted("")
			return o.send()
		}
		return claimed(o), nil
	}}
}

// showsCards shows the whole number of a card.
func showsCards(s payments.Service) payments.Service {
	var pans sync.Map // by payment
	w := shows(func(p *payments.Payment) {
		if pan, ok := pans.Load(p.PaymentID); ok {
			p.PaymentDetails.CardDetails.MaskedPAN = new(pan.(string))
		}
	})(s).(wrongPayments)
	w.write = func(_ context.Context, o *paymentsWrite) (any, error) {
		out, err := o.send()
		if c, ok := out.(payments.Created); ok && err == nil && o.create.CardDetails != nil {
			pans.Store(c.PaymentID, o.create.CardDetails.PAN.Reveal())
		}
		return out, err
	}
	return w
}

// paymentsBugs are the mistakes that the suite of payments must find.
func paymentsBugs() map[string]paymentsBug {
	var first sync.Map // the one id for all, under ""
	return map[string]paymentsBug{
		"":                                     func(s payments.Service) payments.Service { return wrongPayments{next: s} },
		"captures without authorization":       claims("capture", payments.NotReserved),
		"captures too much":                    claims("capture", payments.AlreadyCharged, payments.OverCharge),
		"captures after cancel":                claims("capture", payments.AlreadyCancelled),
		"authorizes twice":                     claims("authorize", payments.AlreadyReserved, payments.AlreadyCharged),
		"authorizes too much":                  claims("authorize", payments.OverCharge),
		"cancels after capture":                claims("cancel", payments.AlreadyCharged),
		"cancels nothing":                      cancelsNothing,
		"refunds too much":                     claims("refund", payments.InvalidRefundAmount, payments.PaymentAlreadyRefunded),
		"refunds nothing captured":             claims("refund", payments.ChargeNotFound),
		"refunds and forgets":                  shows(func(p *payments.Payment) { p.Summary.RefundedAmount = 0 }),
		"decides too early":                    decidesEarly(),
		"looks keys up too early":              looksEarly(),
		"forgets keys":                         before(func(o *paymentsWrite) { o.key = fresh(o.key) }),
		"forgets refusals":                     forgetsRefusals(),
		"ignores the body of a key":            ignoresBodies(),
		"uses a key up for an invalid request": usesUp(),
		"one reference for all": after(func(_ *paymentsWrite, out any, err error) (any, error) {
			if d, ok := out.(payments.Done); ok && err == nil {
				d.TransactionRef = "T1"
				return d, nil
			}
			return out, err
		}),
		"one id for all": made(func(c *payments.Created) {
			id, _ := first.LoadOrStore("", c.PaymentID)
			c.PaymentID = id.(string)
		}),
		"has no page":          made(func(c *payments.Created) { c.PayPageURL = "" }),
		"forgets the customer": shows(func(p *payments.Payment) { p.Customer = payments.CustomerInfo{} }),
		"shows the card":       showsCards,
		"forgets the sale": asks(func(req *payments.CreateRequest) {
			if req.Processing == payments.ProcessSale {
				req.Processing = payments.ProcessAuthorize
			}
		}),
		"approves everything": asks(func(req *payments.CreateRequest) {
			if req.CardDetails != nil {
				card := *req.CardDetails
				card.PAN = wire.NewPAN("4111111111111111")
				req.CardDetails = &card
			}
		}),
		"pays in units of account": asks(func(req *payments.CreateRequest) {
			if c, ok := money.Lookup(req.CurrencyCode); ok && !c.Payable() {
				req.CurrencyCode = "EUR"
			}
		}),
		"no reasons": after(func(_ *paymentsWrite, out any, err error) (any, error) {
			if wire.CodeOf(err) == wire.Conflict {
				err = wire.Errorf(wire.Conflict, "payments", "refused")
			}
			return out, err
		}),
		"finds anything":     findsAnything,
		"ignores the basket": func(s payments.Service) payments.Service { return basketless{wrongPayments{next: s}} },
		"validates nothing":  validatesNothing,
	}
}
