package payments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	deliver "posagent/schemes/backend/webhooks"
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
	err = c.Once(ctx, room.Keyed{Op: opCreate, Key: key, Body: body, Own: !byToken(req)}, &out, func(tx store.Tx, now int64) (scenario.Do, error) {
		p, secret := blank(req, now)
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
		if err := journal.Traced(tx, Service, p.id, wire.TraceOf(ctx)); err != nil {
			return "", err
		}
		page := c.Public + PagePrefix + p.id
		out.PaymentID, out.PayPageURL = p.id, page
		return do, why
	})
	if err != nil {
		return payments.Created{}, err
	}
	return out, nil
}

// byToken says that a payment is decided by a token, a row that it may only read while others change it. Any other new payment rests on
// rows that it makes, and on a card's row in the vault, which has a unique key and is never changed.
func byToken(req payments.CreateRequest) bool {
	d := req.PaymentMethodDetails
	if d == nil {
		return false
	}
	switch d.Type {
	case payments.InitialToken, payments.Sofort, payments.SepaA, payments.SepaC:
		return false
	}
	return true
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

// register keeps who wants to be told about this payment.
func (c *Cards) register(tx store.Tx, p *payment, n *payments.Notifications) error {
	if n == nil || len(n.WebHooks) == 0 || c.opt.Deliver == nil {
		return nil
	}
	hooks := make([]deliver.Hook, 0, len(n.WebHooks))
	for i, h := range n.WebHooks {
		if !webhooks.Known(h.EventName) {
			return wire.Errorf(wire.Invalid, opCreate, "notifications.webHooks[%d].eventName: no such event, want one of %s", i, strings.Trim(fmt.Sprint(webhooks.Names()), "[]"))
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
