package paylinks

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"posagent/schemes/paylinks"
	"posagent/store"
)

// record writes a link as S1 2.1 shows it.
func (s *Links) record(r store.Reader, l *link, o *options) (paylinks.Link, error) {
	page := s.Public + PagePrefix + l.Hash
	held := paylinks.Bit(o.Reservation)
	out := paylinks.Link{
		ID: l.ID, Status: paylinks.Waiting, Hash: &l.Hash, ReferenceID: l.Reference, Link: &page, PreAuthorization: paylinks.Bit(o.PreAuthorization),
		Reservation: &held, Name: o.Name, API: true, PSP: paylinks.Provider(o.psp()), PM: append([]string{}, o.PM...), Purpose: o.Purpose,
		Amount: l.Hundredths, VatRate: paylinks.Percent(o.VAT), Currency: l.Currency, SKU: o.SKU, SubscriptionState: o.Subscription,
		SubscriptionInterval: o.Interval, SubscriptionPeriod: o.Period, SubscriptionCancellationInterval: o.Cancellation,
		SubscriptionPeriodMinAmount: paylinks.Cents(o.MinAmount), CreatedAt: l.Created / 1000, Fields: paylinks.Fields{PrivacyPolicy: &paylinks.Field{}},
	}
	f := &out.Fields
	plain := map[string]*paylinks.Field{
		"title": &f.Title, "forename": &f.Forename, "surname": &f.Surname, "company": &f.Company, "street": &f.Street, "postcode": &f.Postcode,
		"place": &f.Place, "country": &f.Country, "phone": &f.Phone, "email": &f.Email, "date_of_birth": &f.DateOfBirth, "terms": &f.Terms,
		"privacy_policy": f.PrivacyPolicy,
	}
	custom := map[string]*paylinks.CustomField{"custom_field_1": &f.CustomField1, "custom_field_2": &f.CustomField2, "custom_field_3": &f.CustomField3}
	for _, c := range o.Fields {
		if p := plain[c.Name]; p != nil {
			*p = paylinks.Field{Active: c.Active, Mandatory: c.Mandatory}
		} else if p := custom[c.Name]; p != nil {
			*p = paylinks.CustomField{Active: c.Active, Mandatory: c.Mandatory, Names: paylinks.Names{En: c.Names[0], De: c.Names[1], Fr: c.Names[2], It: c.Names[3]}}
		}
	}
	list, err := txnsOf(r, `WHERE link = ? AND type != 'refund' ORDER BY id`, l.ID)
	if err != nil {
		return paylinks.Link{}, err
	}
	for _, t := range list {
		if t.ID == l.Txn {
			out.Status = paylinks.Status(t.Status.ofLink())
		}
		full, err := s.transaction(r, t, l, o)
		if err != nil {
			return paylinks.Link{}, err
		}
		out.Invoices = append(out.Invoices, paylinks.Invoice{
			Number: number(t.ID), ReferenceID: t.Reference, PaymentRequestID: l.ID, Amount: t.amount(), Currency: t.Currency,
			Transactions: []paylinks.Transaction{full},
		})
	}
	return out, nil
}

// transaction writes a transaction as S1 2.2 shows it.
func (s *Links) transaction(r store.Reader, t *txn, l *link, o *options) (paylinks.Transaction, error) {
	contact, custom, err := s.contact(r, t)
	if err != nil {
		return paylinks.Transaction{}, err
	}
	person := &paylinks.Person{
		ID: t.ID, UUID: s.uuidOf("contact", number(t.ID)), Company: contact["company"], Title: contact["title"], FirstName: contact["forename"],
		LastName: contact["surname"], Street: contact["street"], Zip: contact["postcode"], Place: contact["place"], Country: contact["country"],
		DateOfBirth: contact["date_of_birth"], Email: contact["email"], Phone: contact["phone"],
	}
	inv := &paylinks.TransactionInvoice{
		CurrencyAlpha3: t.Currency, Products: []paylinks.Product{{Quantity: 1, Name: t.Purpose, Amount: t.Hundredths}}, TotalAmount: t.amount(),
		PaymentRequestID: l.ID, PaymentLink: &paylinks.PageLink{Hash: l.Hash, ReferenceID: l.Reference, Email: contact["email"]},
		OriginalAmount: &t.Hundredths, RefundedAmount: &t.Refunded,
	}
	for _, f := range o.Fields {
		if v := custom[f.Name]; v != "" {
			if inv.CustomFields == nil {
				inv.CustomFields = paylinks.CustomFields{}
			}
			inv.CustomFields[strings.TrimPrefix(f.Name, "custom_field_")] = paylinks.CustomValue{Name: f.label(0), Value: v}
		}
	}
	return paylinks.Transaction{
		ID: t.ID, UUID: t.UUID, Status: paylinks.Status(t.Status), Time: stamp(t.Created), Lang: t.Lang, PageUUID: s.uuidOf("page", l.Hash),
		Payment: &paylinks.Payment{Brand: t.Brand}, PSP: provider, PSPID: o.psp(), Mode: "TEST", ReferenceID: t.Reference, Invoice: inv,
		Contact: person,
	}, nil
}

// contact reads what a customer wrote, the merchant's own fields apart. A renewal has none: the first payment has it.
func (s *Links) contact(r store.Reader, t *txn) (contact, custom map[string]string, err error) {
	contact, custom = map[string]string{}, map[string]string{}
	if t.Contact == nil {
		return contact, custom, nil
	}
	data, err := s.DB.Unseal(r, t.cell(), t.Contact)
	if err != nil {
		return nil, nil, fmt.Errorf("unseal contact of %d: %w", t.ID, err)
	}
	if err := json.Unmarshal(data, &contact); err != nil {
		return nil, nil, fmt.Errorf("read contact of %d: %w", t.ID, err)
	}
	for name, v := range contact {
		if strings.HasPrefix(name, "custom_field_") {
			custom[name] = v
			delete(contact, name)
		}
	}
	return contact, custom, nil
}

func done(t *txn) paylinks.Done {
	return paylinks.Done{
		ID: t.ID, UUID: t.UUID, Time: stamp(t.Created), Status: paylinks.Status(t.Status), Lang: t.Lang, PSP: provider,
	}
}

// stamp writes a time as the service does (S1 2.2), in UTC.
func stamp(atMS int64) string { return time.UnixMilli(atMS).UTC().Format(paylinks.TimeLayout) }

// uuidOf gives a thing that has no row of its own a uuid that stays.
func (s *Links) uuidOf(kind, name string) string {
	b := s.DB.MAC("links_uuid", kind, name)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
