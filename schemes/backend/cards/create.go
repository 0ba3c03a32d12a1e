package cards

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// Create implements payments.Service.
func (c *Cards) Create(ctx context.Context, key wire.Key, req payments.CreateRequest) (out payments.Created, err error) {
	if err := check.Request(opCreate, req); err != nil {
		return out, err
	}
	body, err := guard(req)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: opCreate, Msg: "request cannot be stored"}
	}
	err = c.Once(ctx, room.Keyed{Op: opCreate, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (scenario.Do, error) {
		p, secret := c.blank(req, now)
		t, why := c.known(tx, p, req, now)
		if why != nil {
			return "", why // nothing to keep, no event to send
		}
		if err := c.register(tx, p, req.Notifications); err != nil {
			return "", err
		}
		if why = c.begin(tx, p, t, req.PaymentMethodDetails, now); why != nil && wire.CodeOf(why) != wire.Conflict {
			return "", why
		}
		if why != nil {
			p.state, _ = next(Fresh, Leave)
			p.Reason = wire.ReasonOf(why)
		}
		do := p.spoil(why)
		if err := c.insert(tx, p, secret); err != nil {
			return "", err
		}
		page := c.Public + PagePrefix + p.id
		out.PaymentID, out.PayPageURL = p.id, &page
		return do, why
	})
	if err != nil {
		return payments.Created{}, err
	}
	return out, nil
}

// guard is what a Key is bound to: the whole request without its validation code.
func guard(req payments.CreateRequest) ([]byte, error) {
	if req.CardDetails != nil {
		d := *req.CardDetails
		d.ValidationCode = ""
		req.CardDetails = &d
	}
	return wire.Encode(req)
}

// blank makes the payment a request asks for, before anything happened to it.
func (c *Cards) blank(req payments.CreateRequest, now int64) (*payment, private) {
	p := &payment{
		id: newID(), created: now, state: Fresh, Type: req.Type, Amount: req.Amount, Currency: req.CurrencyCode, Processing: req.Processing,
		Exemption: req.ScaExemption, Number: req.PaymentNumber, Reference: req.ReconciliationReference,
		Order: order{Checkout: req.CheckoutText, Description: req.Description, Basket: req.Basket, Config: req.PayPageConfiguration},
	}
	if req.RedirectURLs != nil {
		p.Order.Return = req.RedirectURLs.ReturnURL
	}
	secret := private{Customer: req.Customer}
	direct := req.Type == payments.Moto
	if d := req.PaymentMethodDetails; d != nil {
		p.Details, p.Days, p.Until = d.Type, d.IntervalDays, d.ExpiryDate
		secret.Email, secret.Mandate, secret.IBAN = d.CustomerEmail, d.MandateURL, d.IBAN.Reveal()
		direct = direct || d.Type != payments.InitialToken && d.Type != payments.Sofort
		if p.Processing == "" && (d.IsRecurring || d.Type == payments.MerchantInitiated) {
			p.Processing = payments.ProcessSale
		}
	}
	if !direct {
		p.Page, p.PageMS = true, now+pageTime.Milliseconds()
	}
	return p, secret
}

// register keeps who wants to be told about this payment.
func (c *Cards) register(tx store.Tx, p *payment, n *payments.Notifications) error {
	if n == nil || len(n.WebHooks) == 0 || c.opt.Deliver == nil {
		return nil
	}
	hooks := make([]deliver.Hook, 0, len(n.WebHooks))
	for i, h := range n.WebHooks {
		if !webhooks.Known(h.EventName) {
			return wire.Errorf(wire.Invalid, opCreate, "notifications.webHooks[%d].eventName: no such event", i)
		}
		hook := deliver.Hook{Event: h.EventName, URL: h.URL, Authorization: h.Authorization}
		for _, pairs := range h.Headers {
			for name, value := range pairs {
				hook.Headers = append(hook.Headers, [2]string{name, value})
			}
		}
		slices.SortFunc(hook.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		hooks = append(hooks, hook)
	}
	p.Hooks = len(hooks)
	return c.opt.Deliver.Register(tx, p.subject(), hooks)
}

// known finds out what a payment without a page is paid with, and the token that says so, if one does.
func (c *Cards) known(tx store.Tx, p *payment, req payments.CreateRequest, now int64) (t *token, err error) {
	d := req.PaymentMethodDetails
	switch {
	case p.Page:
	case d == nil || d.Type == payments.InitialToken:
		cd := req.CardDetails
		var m *means
		if m, _, err = c.cardMeans(tx, opCreate, cd.PAN, cd.ExpiryYear, cd.ExpiryMonth, now); err == nil {
			p.Means = m
		}
	case d.Type == payments.SepaA || d.Type == payments.SepaC:
		p.Means = &means{Method: sepa, PayType: webhooks.TypeA2A, Masked: maskIBAN(d.IBAN.Reveal())}
	default:
		t, err = c.payWith(tx, p, d, now)
	}
	return t, err
}

// begin does what happens at once. A refusal happened to the payment and is recorded.
func (c *Cards) begin(tx store.Tx, p *payment, t *token, d *payments.PaymentMethodDetails, now int64) error {
	if p.Page {
		return nil
	}
	if err := c.press(tx, p, now); err != nil {
		return err
	}
	if t != nil {
		if reason := t.terms(p, d, now); reason != "" {
			return c.refuse(tx, p, p.Amount, refused(opCreate, reason), now)
		}
	}
	p.state, _ = next(p.state, Identify)
	if err := c.process(tx, p, now); err != nil {
		return err
	}
	if t != nil && d.IsRecurring {
		t.Last = now
		return t.save(tx)
	}
	return c.keepToken(tx, p, now)
}

// spoil says how the reply to a fresh reservation is to be spoilt.
func (p *payment) spoil(why error) scenario.Do {
	if do := p.do(); why == nil && do.Spoils() && !p.Spoilt && (p.state == Reserved || p.state == Charged) {
		p.Spoilt = true
		return do
	}
	return ""
}

// operate plays one of the operations on a payment.
func (c *Cards) operate(ctx context.Context, op string, key wire.Key, id string, req check.Checked, act func(tx store.Tx, p *payment, now int64) (*operation, error)) (out payments.Done, err error) {
	if err := payments.Validate(op, id, req); err != nil {
		return out, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be stored"}
	}
	err = c.Once(ctx, room.Keyed{Op: op, About: id, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (scenario.Do, error) {
		p, err := c.load(tx, op, id, now)
		if err != nil {
			return "", err
		}
		o, why := act(tx, p, now)
		var refusal *wire.Error
		if why != nil && (!errors.As(why, &refusal) || refusal.Code != wire.Conflict) {
			return "", why
		}
		do := p.spoil(why)
		if err := save(tx, p); err != nil {
			return "", err
		}
		if why == nil {
			out = payments.Done{PaymentID: id, TransactionRef: o.ref}
		}
		return do, why
	})
	if err != nil {
		return payments.Done{}, err
	}
	return out, nil
}

func or(amount *int32, otherwise int32) int32 {
	if amount != nil {
		return *amount
	}
	return otherwise
}

// Authorize implements payments.Service.
func (c *Cards) Authorize(ctx context.Context, key wire.Key, id string, req payments.AuthorizeRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.authorize", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		o := newOp(p, authorize, or(req.Amount, p.Amount), req.Description, req.TerminalID, now)
		if p.state == Fresh { // pre-authenticated, as by the first test card
			first, day := scenario.Cards()[0], time.UnixMilli(now).UTC()
			p.Means = &means{Method: first.Brand, PayType: card, Row: first.Name, Masked: wire.NewPAN(first.PAN).Masked(), Year: int32(day.Year() + 1), Month: 12}
			if err := c.press(tx, p, now); err != nil {
				return nil, err
			}
		}
		was := p.state
		err := c.reserve(tx, p, o, now)
		if err != nil && was == Fresh {
			p.Means = nil
		}
		return o, err
	})
}

// Cancel implements payments.Service.
func (c *Cards) Cancel(ctx context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.cancel", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		o := newOp(p, cancel, 0, req.Description, req.TerminalID, now)
		return o, c.void(tx, p, o, now)
	})
}

// Capture implements payments.Service.
func (c *Cards) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.capture", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		l, err := ledger(tx, id)
		if err != nil {
			return nil, err
		}
		o := newOp(p, capture, or(req.Amount, int32(l.Reserved)), req.Description, req.TerminalID, now)
		return o, c.take(tx, p, o, req.Basket, now)
	})
}

// Refund implements payments.Service.
func (c *Cards) Refund(ctx context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.refund", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		o := newOp(p, refund, or(req.Amount, 0), req.Description, "", now)
		return o, c.giveBack(tx, p, o, req.Basket, now)
	})
}
