package payments

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
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

// refuse records that a reservation was refused, tells, and gives the refusal back.
func (c *Cards) refuse(tx store.Tx, p *payment, amount int32, why error, now int64) error {
	p.Tries++
	if err := c.tellMove(tx, p, now, webhooks.ReservationFailed, &operation{amount: amount}, why, nil); err != nil {
		return err
	}
	return why
}
