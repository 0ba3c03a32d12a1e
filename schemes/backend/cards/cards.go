package cards

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/once"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/backend/sweep"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
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
	DB             store.DB
	Deliver        Emitter       // nil = no event is sent
	PublicURL      string        // where a browser reaches the backend
	Merchant       string        // its name on the page
	MerchantNumber int64         // in events
	Hold           time.Duration // how long a reservation lasts; 0 = 7 days
	Now            func() time.Time
	Log            *slog.Logger
}

// Cards is the bank.
type Cards struct {
	opt     Options
	db      store.DB
	deliver Emitter
	public  string
	now     func() time.Time
	log     *slog.Logger
	forms   *form.Guard
	loop    *sweep.Loop
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
	u, err := url.Parse(opt.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("cards: public URL %q: want http://HOST or https://HOST", opt.PublicURL)
	}
	if opt.DB == nil {
		return nil, errors.New("cards: a store is needed")
	}
	c := &Cards{opt: opt, db: opt.DB, deliver: opt.Deliver, public: strings.TrimRight(opt.PublicURL, "/"), now: opt.Now, log: opt.Log}
	if c.now == nil {
		c.now = time.Now
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.log = c.log.With("sys", "cards")
	if c.opt.Hold <= 0 {
		c.opt.Hold = holdTime
	}
	c.loop = sweep.New(c.now, c.log, c.sweep)
	c.forms = form.New(c.db, c.public, c.now)
	return c, nil
}

// Run lets time pass for payments without access, until ctx ends; it returns ctx's error.
func (c *Cards) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// sweep advances every payment that is due, and gives the next due moment, 0 = none.
func (c *Cards) sweep(ctx context.Context) (next int64, err error) {
	now := c.now().UnixMilli()
	var ids []string
	err = c.db.Read(ctx, func(r store.Reader) (err error) {
		ids, err = store.Column[string](r, `SELECT id FROM cards_payment WHERE next_ms IS NOT NULL AND next_ms <= ? ORDER BY next_ms LIMIT 1000`, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find due payments: %w", err)
	}
	var errs []error
	for _, id := range ids { // one that cannot move must not hold the others up
		if err := c.db.Write(ctx, func(tx store.Tx) error { _, err := c.load(tx, "cards.sweep", id, now); return err }); err != nil {
			errs = append(errs, fmt.Errorf("advance %s: %w", id, err))
		}
	}
	if errs != nil {
		return 0, errors.Join(errs...)
	}
	err = c.db.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT COALESCE(MIN(next_ms), 0) FROM cards_payment WHERE next_ms IS NOT NULL`).Scan(&next)
	})
	return next, err
}

// load reads a payment and lets everything happen to it that is due by now.
func (c *Cards) load(tx store.Tx, op, id string, now int64) (*payment, error) {
	p, err := find(tx, op, id)
	if err != nil {
		return nil, err
	}
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
		c.log.Debug("payment moved", "id", id, "state", string(p.state))
		err = save(tx, p)
	}
	return p, err
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

// write plays a keyed write: body guards the key, act fills reply (a pointer) or refuses. After a fresh effect the reply is
// spoilt as act's row has it.
func (c *Cards) write(ctx context.Context, op, about string, key wire.Key, body []byte, reply any, act func(tx store.Tx, now int64) (scenario.Do, error)) error {
	if key != "" {
		if _, err := wire.ParseKey(string(key)); err != nil {
			return &wire.Error{Code: wire.Invalid, Op: op, Err: err}
		}
	}
	var refusal *wire.Error
	var do scenario.Do
	err := c.db.Write(ctx, func(tx store.Tx) error {
		now := c.now().UnixMilli()
		var err error
		refusal, err = once.Do(tx, c.db, op+" "+about, key, body, reply, func() error {
			var err error
			do, err = act(tx, now)
			return err
		})
		return err
	})
	c.loop.Poke()
	switch {
	case err != nil:
		return wire.AsError(op, err)
	case refusal != nil:
		return wire.AsError(op, refusal)
	}
	return scenario.Lost(ctx, op, do)
}
