package cards

import (
	"context"
	"fmt"
	"time"

	"posagent/schemes/backend/books"
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
		out = payments.Payment{
			PaymentID: id, CurrencyCode: p.Currency, PaymentNumber: text(p.Number), Summary: summary(p, l), Customer: customer(secret.Customer),
		}
		if out.PaymentDetails, err = c.details(r, p); err != nil {
			return err
		}
		for _, o := range list {
			e := payments.Entry{Amount: o.amount, DateTime: time.UnixMilli(o.at).UTC().Format(time.RFC3339), Description: text(o.description), TransactionRef: o.ref}
			switch {
			case o.kind == authorize:
				out.Authorizations = append(out.Authorizations, e)
			case o.kind == capture:
				out.Captures = append(out.Captures, e)
			case o.kind == cancel:
				out.Cancellations = append(out.Cancellations, e)
			case o.state != failed:
				out.Refunds = append(out.Refunds, e)
			}
		}
		return nil
	})
	return out, err
}

func summary(p *payment, l books.Ledger) payments.Summary {
	return payments.Summary{
		PaymentAmount: p.Amount, AuthorizedAmount: int32(l.Reserved + l.Committed), CapturedAmount: int32(l.Committed),
		RefundedAmount: int32(l.Returned + l.Returning), Fee: int32(l.Fee),
	}
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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

// customer gives an address even without one: clients read its fields, but address2, as texts that are never null.
func customer(who *payments.Customer) (out payments.CustomerInfo) {
	none := ""
	out.Address = payments.AddressInfo{Address1: &none, City: &none, PostalCode: &none, CountryCode: &none}
	if who == nil {
		return out
	}
	address := out.Address
	out = payments.CustomerInfo{
		Type: &who.Type, RegistrationNumber: text(who.RegistrationNumber), CompanyName: text(who.CompanyName),
		ContactFirstName: text(who.ContactFirstName), ContactLastName: text(who.ContactLastName), FirstName: text(who.FirstName),
		LastName: text(who.LastName), CustomerNumber: text(who.CustomerNumber), Email: text(who.Email), Phone: text(who.Phone), Address: address,
	}
	if a := who.Address; a != nil {
		out.Address = payments.AddressInfo{
			Address1: &a.Address1, Address2: text(a.Address2), City: &a.City, PostalCode: &a.PostalCode, CountryCode: &a.CountryCode,
		}
	}
	return out
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
