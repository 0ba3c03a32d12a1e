package links

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"posagent/schemes/backend/deliver"
	"posagent/schemes/wire"
	"posagent/store"
)

// Emitter queues webhooks in the commit of what they tell about: deliver.Deliver.
type Emitter interface {
	Register(tx store.Tx, subject string, hooks []deliver.Hook) error
	Emit(tx store.Tx, m deliver.Message) (int, error)
}

// The events of a link webhook, as hooks name them.
const (
	EventTransaction  = "transaction"
	EventSubscription = "subscription"
)

// SignatureHeader carries the lower-case hex HMAC-SHA256 of the body under the signing key.
const SignatureHeader = "X-Webhook-Signature"

// hooksOf are the hooks of an account that wants its webhooks at address; none for "".
func hooksOf(address string) []deliver.Hook {
	if address == "" {
		return nil
	}
	return []deliver.Hook{{Event: EventTransaction, URL: address}, {Event: EventSubscription, URL: address}}
}

// Register has the account's webhooks sent to address from now on; "" ends them. It answers wire.Invalid for an address
// that nothing may be sent to.
func (s *Links) Register(ctx context.Context, address string) error {
	if s.deliver == nil {
		return nil
	}
	return s.db.Write(ctx, func(tx store.Tx) error { return s.deliver.Register(tx, Service, hooksOf(address)) })
}

// Sign gives the value of SignatureHeader.
func Sign(key wire.Secret, body []byte) string {
	h := hmac.New(sha256.New, []byte(key.Reveal()))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// The body of a webhook (facts 1.3): as much of it as the sandbox knows.
type (
	hookBody struct {
		Transaction  *hookTransaction  `json:"transaction,omitempty"`
		Subscription *hookSubscription `json:"subscription,omitempty"`
	}
	hookTransaction struct {
		ID          int64             `json:"id"`
		UUID        string            `json:"uuid"`
		Amount      int64             `json:"amount"`
		ReferenceID string            `json:"referenceId"`
		Time        string            `json:"time"`
		Status      Status            `json:"status"`
		Lang        string            `json:"lang"`
		PSP         string            `json:"psp"`
		PSPID       int64             `json:"pspId"`
		Mode        string            `json:"mode"`
		Type        string            `json:"type"`
		Refundable  bool              `json:"refundable"`
		Partially   bool              `json:"partiallyRefundable"`
		Original    int64             `json:"originalTransactionId,omitempty"`
		Instance    hookInstance      `json:"instance"`
		Metadata    []string          `json:"metadata"`
		Invoice     hookInvoice       `json:"invoice"`
		Payment     hookPayment       `json:"payment"`
		Contact     map[string]string `json:"contact"`
		Subs        *hookSubscription `json:"subscription"`
		PageUUID    string            `json:"pageUuid"`
	}
	hookInstance struct {
		Name string `json:"name"`
		UUID string `json:"uuid"`
	}
	hookInvoice struct {
		Number      string            `json:"number"`
		Products    []hookProduct     `json:"products"`
		Currency    string            `json:"currency"`
		Test        int               `json:"test"`
		ReferenceID string            `json:"referenceId"`
		Purpose     string            `json:"purpose"`
		RequestID   int64             `json:"paymentRequestId"`
		Link        hookLink          `json:"paymentLink"`
		Shipping    *int64            `json:"shippingAmount"`
		Discount    *int64            `json:"discount"`
		Original    int64             `json:"originalAmount"`
		Refunded    int64             `json:"refundedAmount"`
		Custom      map[string]string `json:"custom_fields"`
	}
	hookProduct struct {
		Name     string `json:"name"`
		Quantity int    `json:"quantity"`
		Price    int64  `json:"price"`
		SKU      string `json:"sku"`
	}
	hookLink struct {
		Hash        string `json:"hash"`
		ReferenceID string `json:"referenceId"`
		Email       string `json:"email"`
	}
	hookPayment struct {
		Brand  string  `json:"brand"`
		Wallet *string `json:"wallet"`
		Card   string  `json:"cardNumber"`
	}
	hookSubscription struct {
		ID       int64  `json:"id"`
		Status   string `json:"status"`
		Start    string `json:"start"`
		Next     string `json:"nextPayDate,omitempty"`
		Interval string `json:"paymentInterval"`
	}
)

// emit queues the webhook of what just happened to t. by is t itself, or the refund of it.
func (s *Links) emit(tx store.Tx, l *link, o *options, t, by *txn) error {
	if s.deliver == nil {
		return nil
	}
	contact, custom, err := s.contact(tx, t)
	if err != nil {
		return err
	}
	h := &hookTransaction{
		ID: by.ID, UUID: by.UUID, Amount: by.Hundredths, ReferenceID: t.Reference, Time: stamp(by.Created), Status: by.Status,
		Lang: t.Lang, PSP: provider, PSPID: o.psp(), Mode: "TEST", Type: "E-Commerce", Refundable: t.Charged > t.Refunded,
		Partially: t.Charged > t.Refunded, Original: by.Original, Instance: hookInstance{s.instance, s.uuidOf("instance", s.instance)},
		Metadata: []string{}, Contact: contact, PageUUID: s.uuidOf("page", l.Hash),
		Invoice: hookInvoice{
			Number: number(t.ID), Currency: t.Currency, Test: 1, ReferenceID: t.Reference, Purpose: t.Purpose, RequestID: l.ID,
			Products: []hookProduct{{Name: t.Purpose, Quantity: 1, Price: t.Hundredths, SKU: o.SKU}},
			Link:     hookLink{Hash: l.Hash, ReferenceID: l.Reference, Email: contact["email"]},
			Original: t.Hundredths, Refunded: t.Refunded, Custom: custom,
		},
		Payment: hookPayment{Brand: t.Brand, Card: t.Card},
	}
	if o.Subscription {
		h.Subs = s.subscription(l, o, t.Created)
	}
	return s.queue(tx, EventTransaction, hookBody{Transaction: h})
}

// emitEnd tells that a subscription has ended.
func (s *Links) emitEnd(tx store.Tx, l *link, o *options) error {
	if s.deliver == nil {
		return nil
	}
	return s.queue(tx, EventSubscription, hookBody{Subscription: s.subscription(l, o, l.Created)})
}

func (s *Links) subscription(l *link, o *options, start int64) *hookSubscription {
	h := &hookSubscription{ID: l.ID, Status: "cancelled", Start: stamp(start), Interval: o.Interval}
	if l.Next != 0 {
		h.Status, h.Next = "active", stamp(l.Next)
	}
	return h
}

func (s *Links) queue(tx store.Tx, event string, body hookBody) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write webhook: %w", err)
	}
	_, err = s.deliver.Emit(tx, deliver.Message{
		ID: newUUID(), Event: event, Subject: Service, Body: data, ContentType: "application/json",
		Headers: [][2]string{{SignatureHeader, Sign(s.key, data)}}, Schedule: deliver.Links,
	})
	if err != nil {
		return fmt.Errorf("queue webhook: %w", err)
	}
	return nil
}

// stamp writes a time as the service does (S1 2.2), in UTC.
func stamp(atMS int64) string { return time.UnixMilli(atMS).UTC().Format(time.DateTime) }

// uuidOf gives a thing that has no row of its own a uuid that stays.
func (s *Links) uuidOf(kind, name string) string {
	b := s.db.MAC("links_uuid", kind, name)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
