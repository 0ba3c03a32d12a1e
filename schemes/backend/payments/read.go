package payments

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/store"
)

// Read implements payments.Service.
func (c *Cards) Read(ctx context.Context, id string) (out payments.Payment, err error) {
	const op = "payments.read"
	if err := payments.CheckID(id); err != nil {
		return out, err
	}
	_, err = c.peek(ctx, op, id, func(p *payment, r store.Reader) error {
		l, err := ledger(r, id)
		if err != nil {
			return err
		}
		secret, err := c.open(r, p)
		if err != nil {
			return err
		}
		list, err := operations(r, id)
		if err != nil {
			return err
		}
		out = p.reading(l, secret)
		if out.PaymentDetails, err = c.details(r, p); err != nil {
			return err
		}
		for _, o := range list {
			if o.state == failed {
				continue
			}
			entries := listOf(o.kind, &out)
			*entries = append(*entries, payments.Entry{
				Amount: o.amount, DateTime: time.UnixMilli(o.at).UTC().Format(time.RFC3339), Description: text(o.description), TransactionRef: o.ref,
			})
		}
		return nil
	})
	return out, err
}

// details say how p was paid, nil as long as that is unknown.
func (c *Cards) details(r store.Reader, p *payment) (*payments.PaymentDetails, error) {
	m := p.Means
	if m == nil {
		return nil, nil
	}
	kind := payments.KindPrepaid
	switch m.PayType {
	case card:
		kind = payments.KindCard
	case webhooks.TypeA2A:
		kind = payments.KindDirectBankTransfer
	}
	d := &payments.PaymentDetails{PaymentMethodType: &kind, PaymentMethod: &m.Method, PaymentMethodDescription: text(m.Masked)}
	if m.PayType != card {
		return d, nil
	}
	year, month := payments.Digits(m.Year), payments.Digits(m.Month)
	d.CardDetails = &payments.CardInfo{MaskedPAN: &m.Masked, ExpiryYear: &year, ExpiryMonth: &month}
	if m.Token != "" {
		t, err := findToken(r, m.Token)
		if err == nil {
			d.CardDetails.Token, err = c.reveal(r, t)
		}
		return d, err
	}
	return d, nil
}

// Report reads every payment and every operation on it, oldest first.
func Report(r store.Reader) ([]room.Line, error) {
	all, err := operations(r, "")
	if err != nil {
		return nil, err
	}
	byPayment := map[string][]operation{}
	for _, o := range all {
		byPayment[o.payment] = append(byPayment[o.payment], o)
	}
	ids, err := store.Column[string](r, `SELECT id FROM cards_payment ORDER BY created_ms, id`)
	if err != nil {
		return nil, fmt.Errorf("read payments: %w", err)
	}
	var list []room.Line
	for _, id := range ids {
		p, err := find(r, "cards.lines", id)
		if err != nil {
			return nil, err
		}
		list = append(list, room.Line{ID: id, Reference: p.name(), Type: "payment", State: string(p.state), Currency: p.Currency, Amount: money.Minor(p.Amount)})
		for _, o := range byPayment[id] {
			list = append(list, room.Line{ID: o.ref, Original: id, Reference: p.name(), Type: o.kind, State: o.state, Currency: p.Currency, Amount: money.Minor(o.amount)})
		}
	}
	return list, nil
}
