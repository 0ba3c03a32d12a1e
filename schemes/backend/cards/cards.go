package cards

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
	"posagent/store"
)

// Emitter takes what the merchant's endpoints are to be told, in the commit of what it tells about.
type Emitter interface {
	Register(tx store.Tx, subject string, hooks []deliver.Hook) error
	Emit(tx store.Tx, m deliver.Message) (int, error)
}

var _ Emitter = (*deliver.Deliver)(nil)

// Options are what Cards needs.
type Options struct {
	room.Options
	Deliver        Emitter       // nil = no event is sent
	MerchantNumber int64         // in events
	Hold           time.Duration // how long a reservation lasts; 0 = 7 days
}

// Cards is the bank.
type Cards struct {
	*room.Room
	opt Options
}

var _ payments.Service = (*Cards)(nil)

// Times of the bank.
const (
	holdTime   = 7 * 24 * time.Hour
	lapseTime  = 5 * time.Second // scenario.Lapse
	pageTime   = 24 * time.Hour
	refundTime = 2 * time.Second
)

// New makes Cards; it starts nothing.
func New(opt Options) (*Cards, error) {
	r, err := room.NewPaged("cards", opt.Options)
	if err != nil {
		return nil, err
	}
	c := &Cards{Room: r, opt: opt}
	if c.opt.Hold <= 0 {
		c.opt.Hold = holdTime
	}
	c.Sweeps(c.sweep)
	return c, nil
}

// sweep advances every payment that is due, and gives the next due moment, 0 = none.
func (c *Cards) sweep(ctx context.Context) (next int64, err error) {
	return room.Sweep(ctx, c.Room, room.Due[string]{
		What: "payments", Name: func(id string) string { return id },
		List: `SELECT id FROM cards_payment WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms LIMIT 1000`,
		Next: `SELECT COALESCE(MIN(next_ms), 0) FROM cards_payment WHERE next_ms IS NOT NULL`,
		Advance: func(tx store.Tx, id string, now int64) error {
			_, err := c.load(tx, "cards.sweep", id, now)
			return err
		},
	})
}

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

// do is what the bank does for this payment.
func (p *payment) do() scenario.Do {
	row := ""
	if p.Means != nil {
		row = p.Means.Row
	}
	return scenario.CardDo(row, p.Amount)
}
