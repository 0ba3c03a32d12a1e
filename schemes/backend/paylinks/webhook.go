package paylinks

import (
	"context"
	"encoding/json"
	"fmt"

	"posagent/schemes/backend/webhooks"
	"posagent/schemes/paylinks"
	"posagent/store"
)

// The events of a link webhook, as hooks name them.
const (
	EventTransaction  = "transaction"
	EventSubscription = "subscription"
)

const jsonType = "application/json"

// hooksOf are the hooks of an account that wants its webhooks at address; none for "".
func hooksOf(address string) []webhooks.Hook {
	if address == "" {
		return nil
	}
	return []webhooks.Hook{{Event: EventTransaction, URL: address}, {Event: EventSubscription, URL: address}}
}

// Register has the account's webhooks sent to address from now on; "" ends them. It answers wire.Invalid for an address
// that nothing may be sent to.
func (s *Links) Register(ctx context.Context, address string) error {
	if s.deliver == nil {
		return nil
	}
	return s.DB.Write(ctx, func(tx store.Tx) error { return s.deliver.Register(tx, Service, hooksOf(address)) })
}

// emit queues the webhook of what just happened to t. by is t itself, or the refund of it.
func (s *Links) emit(tx store.Tx, l *link, o *options, t, by *txn) error {
	if s.deliver == nil {
		return nil
	}
	full, err := s.transaction(tx, t, l, o)
	if err != nil {
		return err
	}
	raw := func(v any) json.RawMessage {
		data, _ := json.Marshal(v) // texts and numbers
		return data
	}
	type product struct {
		Name     string `json:"name"`
		Quantity int    `json:"quantity"`
		Price    int64  `json:"price"`
		SKU      string `json:"sku"`
	}
	left := t.Charged > t.Refunded
	e := &paylinks.EventTransaction{
		ID: by.ID, UUID: by.UUID, Amount: by.amount(), ReferenceID: t.Reference, Time: stamp(by.Created), Status: paylinks.Status(by.Status),
		Lang: t.Lang, PSP: full.PSP, PSPID: full.PSPID, Mode: full.Mode, Type: "E-Commerce", Refundable: left, PartiallyRefundable: left,
		OriginalTransactionID: by.Original, Instance: paylinks.EventInstance{Name: s.instance, UUID: s.uuidOf("instance", s.instance)},
		Metadata: raw([]string{}), Contact: raw(full.Contact), PageUUID: full.PageUUID, Payment: &paylinks.EventPayment{Brand: t.Brand, CardNumber: t.Card},
		Invoice: paylinks.EventInvoice{
			Number: number(t.ID), Currency: t.Currency, Test: true, ReferenceID: t.Reference, Purpose: raw(t.Purpose), PaymentRequestID: l.ID,
			Products: raw([]product{{t.Purpose, 1, t.Hundredths, o.SKU}}), PaymentLink: full.Invoice.PaymentLink, OriginalAmount: t.Hundredths,
			RefundedAmount: t.Refunded, CustomFields: raw(full.Invoice.CustomFields),
		},
	}
	if o.Subscription {
		e.Subscription = s.subscription(l, o, t.Created)
	}
	return s.queue(tx, EventTransaction, paylinks.Event{Transaction: e})
}

// emitEnd tells that a subscription has ended.
func (s *Links) emitEnd(tx store.Tx, l *link, o *options) error {
	if s.deliver == nil {
		return nil
	}
	return s.queue(tx, EventSubscription, paylinks.Event{Subscription: s.subscription(l, o, l.Created)})
}

func (s *Links) subscription(l *link, o *options, start int64) *paylinks.EventSubscription {
	e := &paylinks.EventSubscription{
		ID: l.ID, UUID: s.uuidOf("subscription", l.Hash), Status: "cancelled", Start: stamp(start), PaymentInterval: o.Interval,
	}
	if l.Next != 0 {
		e.Status, e.NextPayDate = "active", stamp(l.Next)
	}
	return e
}

func (s *Links) queue(tx store.Tx, event string, e paylinks.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write webhook: %w", err)
	}
	_, err = s.deliver.Emit(tx, webhooks.Message{
		ID: newUUID(), Event: event, Subject: Service, Body: data, ContentType: jsonType,
		Headers: [][2]string{{paylinks.HookHeader, paylinks.SignHook(s.key, data)}}, Schedule: webhooks.Links,
	})
	if err != nil {
		return fmt.Errorf("queue webhook: %w", err)
	}
	return nil
}
