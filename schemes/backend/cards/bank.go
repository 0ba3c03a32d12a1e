package cards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Times of the bank.
const (
	holdTime   = 7 * 24 * time.Hour
	lapseTime  = 5 * time.Second // scenario.Lapse
	pageTime   = 24 * time.Hour
	refundTime = 2 * time.Second
)

// load reads a payment and lets everything happen to it that is due by now.
func (c *Cards) load(tx store.Tx, op, id string, now int64) (*payment, error) {
	p, err := find(tx, op, id)
	if err != nil {
		return nil, err
	}
	return p, c.advance(tx, p, now)
}

// advance lets everything happen to p that is due by now, and stores it.
func (c *Cards) advance(tx store.Tx, p *payment, now int64) (err error) {
	moved := false
	for at := p.due(); err == nil && at != 0 && at <= now; at = p.due() {
		moved = true
		switch at {
		case p.RefundMS:
			err = c.settleRefund(tx, p, at)
		case p.HoldMS:
			err = c.lapse(tx, p, at)
		default:
			p.PageMS = 0
			p.state, _ = next(p.state, Leave)
		}
	}
	if err == nil && moved {
		c.Log.Debug("payment moved", "id", p.id, "state", string(p.state))
		err = save(tx, p)
	}
	return err
}

// lapse ends the reservation: what is still held goes back.
func (c *Cards) lapse(tx store.Tx, p *payment, at int64) error {
	p.HoldMS = 0
	l, err := ledger(tx, p.id)
	if err != nil || l.Reserved == 0 {
		return err
	}
	p.state, _ = next(p.state, Lapse)
	return post(tx, &operation{payment: p.id, ref: p.id}, at, books.Release, 0)
}

// settleRefund ends the oldest refund under way, as the row has it.
func (c *Cards) settleRefund(tx store.Tx, p *payment, at int64) error {
	list, err := operations(tx, p.id)
	if err != nil {
		return err
	}
	p.Refunding, p.RefundMS = 0, 0
	settled := false
	for i := range list {
		o := &list[i]
		switch {
		case o.state != pending:
			continue
		case settled:
			if p.Refunding++; p.RefundMS == 0 || o.due < p.RefundMS {
				p.RefundMS = o.due
			}
			continue
		}
		settled = true
		kind := books.EndRefund
		if o.state = done; p.do() == scenario.RefundFails {
			kind, o.state = books.FailRefund, failed
		}
		if err := post(tx, o, at, kind, o.amount); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE cards_op SET state = ?, due_ms = NULL WHERE ref = ?`, o.state, o.ref); err != nil {
			return fmt.Errorf("settle refund %s: %w", o.ref, err)
		}
		if err := c.tellRefund(tx, p, o, at); err != nil {
			return err
		}
	}
	return nil
}

// peek reads a payment as it stands now; what is due happens first. use runs in the same snapshot.
func (c *Cards) peek(ctx context.Context, op, id string, use func(p *payment, r store.Reader) error) (p *payment, err error) {
	now := c.Now().UnixMilli()
	err = room.Touch(ctx, c.DB, room.Timed[*payment]{
		Find: func(r store.Reader) (*payment, error) { return find(r, op, id) },
		Due: func(_ store.Reader, p *payment) (bool, error) {
			at := p.due()
			return at != 0 && at <= now, nil
		},
		Advance: func(tx store.Tx, p *payment) error { return c.advance(tx, p, now) },
	}, func(r store.Reader, found *payment) error {
		p = found
		return use(p, r)
	})
	if err != nil {
		return nil, wire.AsError(op, err)
	}
	return p, nil
}

// verdict is the bank's word on a reservation, "" = approved.
func (p *payment) verdict(now int64) string {
	switch do := p.do(); {
	case p.Means != nil && p.Means.PayType == card && past(p.Means.Year, p.Means.Month, now) || do == scenario.OldCard:
		return payments.CardExpired
	case do == scenario.HardDecline:
		return payments.HardDecline
	case do == scenario.SoftDecline && p.Tries == 0, do == scenario.NoFunds, do == scenario.ReserveFails:
		return payments.PaymentReserveMethodFailed
	}
	return ""
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
	return c.take(tx, p, newOp(p, capture, p.Amount, p.Order.Description, "", now), nil, now)
}

// refuse records that a reservation was refused, tells, and gives the refusal back.
func (c *Cards) refuse(tx store.Tx, p *payment, amount int32, why error, now int64) error {
	p.Tries++
	if err := c.tellMove(tx, p, now, webhooks.ReservationFailed, &operation{amount: amount}, why, nil); err != nil {
		return err
	}
	return why
}

// payable says whether money moves in a currency.
func payable(code string) bool {
	cur, ok := money.Lookup(code)
	return ok && cur.Payable()
}

// reserve holds money (S0 3 rule 1).
func (c *Cards) reserve(tx store.Tx, p *payment, o *operation, now int64) error {
	const op = "payments.authorize"
	to, reason := next(p.state, Reserve)
	switch {
	case reason != "":
		return refused(op, reason)
	case o.amount > p.Amount || o.amount <= 0:
		return refused(op, payments.OverCharge)
	case !payable(p.Currency):
		return refused(op, payments.CurrencyNotPayable)
	}
	if reason := p.verdict(now); reason != "" {
		return c.refuse(tx, p, o.amount, refused(op, reason), now)
	}
	if err := journal.OpenFee(tx, Service, p.id, p.Currency, money.Minor(p.Amount), money.Minor(p.Fee)); err != nil {
		return err
	}
	if err := post(tx, o, now, books.Authorize, o.amount); err != nil {
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

// take collects what is reserved (S0 3 rule 2).
func (c *Cards) take(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	const op = "payments.capture"
	to, reason := next(p.state, Capture)
	if reason != "" {
		return refused(op, reason)
	}
	l, err := ledger(tx, p.id)
	switch {
	case err != nil:
		return err
	case l.Reserved == 0:
		return refused(op, payments.AlreadyCharged)
	case o.amount > int32(l.Reserved):
		return refused(op, payments.OverCharge)
	case p.Means.PayType == webhooks.TypeInvoice && len(basket) == 0 && p.state == Reserved && p.Processing != payments.ProcessSale:
		return refused(op, payments.OrderItemsMissing)
	case !fits(basket, o.amount):
		return differs(op)
	case p.do() == scenario.CaptureFails:
		return c.refuseCharge(tx, p, o, basket, now)
	}
	if err := post(tx, o, now, books.Capture, o.amount); err != nil {
		return err
	}
	if p.state = to; o.amount == int32(l.Reserved) {
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

// fits says whether a basket, where there is one, is what moves. The contract sees to it only where the call names an amount.
func fits(basket []payments.BasketItem, amount int32) bool {
	total, err := payments.BasketTotal(basket)
	return len(basket) == 0 || err == nil && total.Fits(money.Minor(amount))
}

func (c *Cards) refuseCharge(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	why := refused("payments.capture", payments.PaymentMethodChargeFailed)
	if err := c.tellMove(tx, p, now, webhooks.ChargeFailed, o, why, basket); err != nil {
		return err
	}
	return why
}

// void gives the reservation up (S0 3 rule 3).
func (c *Cards) void(tx store.Tx, p *payment, o *operation, now int64) error {
	const op = "payments.cancel"
	to, reason := next(p.state, Cancel)
	if reason != "" {
		return refused(op, reason)
	}
	l, err := ledger(tx, p.id)
	if err != nil {
		return err
	}
	o.amount = int32(l.Reserved)
	var why error
	name := webhooks.CancelCreated
	if p.do() == scenario.CancelFails {
		why, name = payments.Refused(op, "", "cancellation refused by the bank"), webhooks.CancelFailed
	} else {
		if err := post(tx, o, now, books.Close, 0); err != nil {
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

// giveBack begins a refund.
func (c *Cards) giveBack(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	const op = "payments.refund"
	to, reason := next(p.state, Refund)
	if reason != "" {
		return refused(op, reason)
	}
	l, err := ledger(tx, p.id)
	if err != nil {
		return err
	}
	if o.amount == 0 {
		o.amount = int32(l.Rest())
	}
	switch {
	case l.Rest() == 0:
		return refused(op, payments.PaymentAlreadyRefunded)
	case !fits(basket, o.amount):
		return differs(op)
	case p.do() == scenario.RefundNo:
		why := refused(op, payments.RefundFailed)
		if err := c.tellMove(tx, p, now, webhooks.RefundFailed, o, why, basket); err != nil {
			return err
		}
		return why
	}
	err = post(tx, o, now, books.BeginRefund, o.amount)
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
