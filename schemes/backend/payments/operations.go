package payments

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// operate plays one of the operations on a payment. It writes the payment's row whenever it stores anything, as everything does that
// changes the payment, its ledger or its operations: of two that meet the second is run again on what the first left (Own).
func (c *Cards) operate(ctx context.Context, op string, key wire.Key, id string, req check.Checked, act func(tx store.Tx, p *payment, now int64) (*operation, error)) (out payments.Done, err error) {
	if err := payments.Validate(op, id, req); err != nil {
		return out, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be stored"}
	}
	err = c.Once(ctx, room.Keyed{Op: op, About: id, Key: key, Body: body, Own: true}, &out, func(tx store.Tx, now int64) (scenario.Do, error) {
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
			if err := journal.Traced(tx, Service, o.ref, wire.TraceOf(ctx)); err != nil {
				return "", err
			}
			out = payments.Done{PaymentID: id, TransactionRef: o.ref}
		}
		return do, why
	})
	if err != nil {
		return payments.Done{}, err
	}
	return out, nil
}

// spoil says how the reply to a fresh reservation is to be spoilt.
func (p *payment) spoil(why error) scenario.Do {
	if do := p.do(); why == nil && do.Spoils() && !p.Spoilt && (p.state == Reserved || p.state == Charged) {
		p.Spoilt = true
		return do
	}
	return ""
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

// reserve holds money (S0 3 rule 1).
func (c *Cards) reserve(tx store.Tx, p *payment, o *operation, now int64) error {
	const op = "payments.authorize"
	to, reason := next(p.state, Reserve)
	switch {
	case reason != "":
		return refused(op, reason)
	case o.amount > p.Amount || o.amount <= 0:
		return payments.Refused(op, payments.OverCharge, "want an amount from 1 to the payment's "+strconv.Itoa(int(p.Amount))+", in minor units")
	case !payable(p.Currency):
		return refused(op, payments.CurrencyNotPayable)
	}
	reason, err := p.agreed(tx, now)
	if err != nil {
		return err
	}
	if reason = cmp.Or(reason, p.verdict(now)); reason != "" {
		return c.refuse(tx, p, o.amount, refused(op, reason), now)
	}
	if err := journal.Begin(tx, o.causes(now), p.Currency, money.Minor(p.Amount), money.Minor(p.Fee), books.Event{Kind: books.Authorize, Amount: money.Minor(o.amount)}); err != nil {
		return err
	}
	p.state, p.PageMS, p.HoldMS, p.Reason = to, 0, now+c.opt.Hold.Milliseconds(), ""
	if p.do() == scenario.Lapse {
		p.HoldMS = now + lapseTime.Milliseconds()
	}
	if err := o.insert(tx); err != nil {
		return err
	}
	return c.tellReserved(tx, p, o, now)
}

// payable says whether money moves in a currency.
func payable(code string) bool {
	cur, ok := money.Lookup(code)
	return ok && cur.Payable()
}

// Capture implements payments.Service.
func (c *Cards) Capture(ctx context.Context, key wire.Key, id string, req payments.CaptureRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.capture", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		o := newOp(p, capture, 0, req.Description, req.TerminalID, now)
		a, err := account(tx, o, now)
		if err != nil {
			return nil, err
		}
		o.amount = or(req.Amount, int32(a.Reserved))
		return o, c.take(tx, p, o, a, req.Basket, now)
	})
}

// take collects what is reserved on an account (S0 3 rule 2).
func (c *Cards) take(tx store.Tx, p *payment, o *operation, a *journal.Account, basket []payments.BasketItem, now int64) error {
	const op = "payments.capture"
	to, reason := next(p.state, Capture)
	if reason != "" {
		return refused(op, reason)
	}
	reserved := int32(a.Reserved)
	switch {
	case reserved == 0:
		return refused(op, payments.AlreadyCharged)
	case o.amount > reserved:
		return overCharge(op, reserved)
	case p.Means.PayType == webhooks.TypeInvoice && len(basket) == 0 && p.state == Reserved && p.Processing != payments.ProcessSale:
		return refused(op, payments.OrderItemsMissing)
	case differs(op, basket, o.amount) != nil:
		return differs(op, basket, o.amount)
	case p.do() == scenario.CaptureFails:
		return c.refuseCharge(tx, p, o, basket, now)
	}
	if _, err := a.Post(tx, books.Event{Kind: books.Capture, Amount: money.Minor(o.amount)}); err != nil {
		return err
	}
	if p.state = to; o.amount == reserved {
		p.HoldMS = 0
	}
	if p.Charge == "" {
		p.Charge = o.ref
	}
	if err := o.insert(tx); err != nil {
		return err
	}
	return c.tellMove(tx, p, now, webhooks.ChargeCreated, o, nil, basket)
}

func (c *Cards) refuseCharge(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	why := refused("payments.capture", payments.PaymentMethodChargeFailed)
	if err := c.tellMove(tx, p, now, webhooks.ChargeFailed, o, why, basket); err != nil {
		return err
	}
	return why
}

// Cancel implements payments.Service.
func (c *Cards) Cancel(ctx context.Context, key wire.Key, id string, req payments.CancelRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.cancel", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		o := newOp(p, cancel, 0, req.Description, req.TerminalID, now)
		return o, c.void(tx, p, o, now)
	})
}

// void gives the reservation up (S0 3 rule 3).
func (c *Cards) void(tx store.Tx, p *payment, o *operation, now int64) error {
	const op = "payments.cancel"
	to, reason := next(p.state, Cancel)
	if reason != "" {
		return refused(op, reason)
	}
	a, err := account(tx, o, now)
	if err != nil {
		return err
	}
	o.amount = int32(a.Reserved)
	var why error
	name := webhooks.CancelCreated
	if p.do() == scenario.CancelFails {
		why, name = payments.Refused(op, "", "cancellation refused by the bank"), webhooks.CancelFailed
	} else {
		if _, err := a.Post(tx, books.Event{Kind: books.Close}); err != nil {
			return err
		}
		p.state, p.HoldMS = to, 0
		if err := o.insert(tx); err != nil {
			return err
		}
	}
	if err := c.tellMove(tx, p, now, name, o, why, nil); err != nil {
		return err
	}
	return why
}

// Refund implements payments.Service.
func (c *Cards) Refund(ctx context.Context, key wire.Key, id string, req payments.RefundRequest) (payments.Done, error) {
	return c.operate(ctx, "payments.refund", key, id, req, func(tx store.Tx, p *payment, now int64) (*operation, error) {
		o := newOp(p, refund, or(req.Amount, 0), req.Description, "", now)
		return o, c.giveBack(tx, p, o, req.Basket, now)
	})
}

// giveBack begins a refund.
func (c *Cards) giveBack(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	const op = "payments.refund"
	to, reason := next(p.state, Refund)
	if reason != "" {
		return refused(op, reason)
	}
	a, err := account(tx, o, now)
	if err != nil {
		return err
	}
	if o.amount == 0 {
		o.amount = int32(a.Rest())
	}
	switch {
	case a.Rest() == 0:
		return refused(op, payments.PaymentAlreadyRefunded)
	case differs(op, basket, o.amount) != nil:
		return differs(op, basket, o.amount)
	case p.do() == scenario.RefundNo:
		why := refused(op, payments.RefundFailed)
		if err := c.tellMove(tx, p, now, webhooks.RefundFailed, o, why, basket); err != nil {
			return err
		}
		return why
	}
	_, err = a.Post(tx, books.Event{Kind: books.BeginRefund, Amount: money.Minor(o.amount)})
	if errors.Is(err, books.ErrRest) {
		return refused(op, payments.InvalidRefundAmount)
	}
	if err != nil {
		return err
	}
	p.state, o.state, o.due = to, pending, now+refundTime.Milliseconds()
	p.Refunding++
	if p.RefundMS == 0 || o.due < p.RefundMS {
		p.RefundMS = o.due
	}
	if err := o.insert(tx); err != nil {
		return err
	}
	return c.tellMove(tx, p, now, webhooks.RefundInitiated, o, nil, basket)
}

// process does what the merchant asked to be done as soon as the means are known (S0 2.4).
func (c *Cards) process(tx store.Tx, p *payment, now int64) error {
	if p.Processing == "" || p.Processing == payments.ProcessNone {
		return nil
	}
	if p.Processing == payments.ProcessVerify {
		if reason := p.verdict(now); reason != "" {
			return c.refuse(tx, p, p.Amount, refused("payments.create", reason), now)
		}
		return nil
	}
	sale := p.Processing == payments.ProcessSale
	if sale && p.do() == scenario.CaptureFails { // a sale is one thing: nothing stays reserved
		return c.refuseCharge(tx, p, newOp(p, capture, p.Amount, "", "", now), nil, now)
	}
	if err := c.reserve(tx, p, newOp(p, authorize, p.Amount, p.Order.Description, "", now), now); err != nil || !sale {
		return err
	}
	o := newOp(p, capture, p.Amount, p.Order.Description, "", now)
	a, err := account(tx, o, now)
	if err != nil {
		return err
	}
	return c.take(tx, p, o, a, nil, now)
}
