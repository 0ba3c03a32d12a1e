package paylinks

import (
	"bytes"
	"encoding/json"
	"mime"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
)

// Event is the body of a link webhook: one of the two (S1 6 shows none; the shape is that of the real service). It comes with
// X-Webhook-Signature (SignHook, VerifyHook), any number of times and in any order: ID is the same for every copy.
type Event struct {
	Transaction  *EventTransaction  `json:"transaction,omitempty"`
	Subscription *EventSubscription `json:"subscription,omitempty"`
}

// EventTransaction is a transaction as a webhook tells it.
type EventTransaction struct {
	ID                    int64              `json:"id"`
	UUID                  string             `json:"uuid"`
	Amount                int64              `json:"amount"` // cents
	ReferenceID           string             `json:"referenceId" wire:"nullable"`
	Time                  string             `json:"time" wire:"nullable"`
	Status                Status             `json:"status"`
	Lang                  string             `json:"lang" wire:"nullable"`
	PSP                   string             `json:"psp" wire:"nullable"`
	PSPID                 int64              `json:"pspId" wire:"nullable"`
	Mode                  string             `json:"mode" wire:"nullable"` // LIVE, TEST
	Type                  string             `json:"type" wire:"nullable"`
	Refundable            bool               `json:"refundable" wire:"nullable"`
	PartiallyRefundable   bool               `json:"partiallyRefundable" wire:"nullable"`
	OriginalTransactionID int64              `json:"originalTransactionId,omitempty"` // of a refund
	Instance              EventInstance      `json:"instance"`
	Metadata              json.RawMessage    `json:"metadata,omitempty"`
	Invoice               EventInvoice       `json:"invoice"`
	Payment               *EventPayment      `json:"payment"`
	Contact               json.RawMessage    `json:"contact,omitempty"`
	Subscription          *EventSubscription `json:"subscription"`
	PageUUID              string             `json:"pageUuid" wire:"nullable"`
}

// EventInstance is the account.
type EventInstance struct {
	Name string `json:"name"`
	UUID string `json:"uuid"`
}

// EventInvoice is what was bought.
type EventInvoice struct {
	Number           string          `json:"number" wire:"nullable"`
	Products         json.RawMessage `json:"products,omitempty"`
	Currency         string          `json:"currency"`
	Test             Bit             `json:"test" wire:"nullable"`
	ReferenceID      string          `json:"referenceId" wire:"nullable"`
	Purpose          json.RawMessage `json:"purpose,omitempty"`
	PaymentRequestID int64           `json:"paymentRequestId,omitempty"` // the link's id
	PaymentLink      *PageLink       `json:"paymentLink"`
	ShippingAmount   *int64          `json:"shippingAmount"` // cents
	Discount         json.RawMessage `json:"discount,omitempty"`
	OriginalAmount   int64           `json:"originalAmount,omitempty"` // cents
	RefundedAmount   int64           `json:"refundedAmount,omitempty"` // cents
	CustomFields     json.RawMessage `json:"custom_fields,omitempty"`
}

// EventPayment says what was paid with.
type EventPayment struct {
	Brand      string  `json:"brand" wire:"nullable"`
	Wallet     *string `json:"wallet"`
	CardNumber string  `json:"cardNumber" wire:"nullable"` // masked
	Expiry     string  `json:"expiry,omitempty"`
}

// EventSubscription is a subscription's state.
type EventSubscription struct {
	ID              int64  `json:"id"`
	UUID            string `json:"uuid,omitempty"`
	Status          string `json:"status" wire:"nullable"`
	Start           string `json:"start,omitempty"`
	NextPayDate     string `json:"nextPayDate,omitempty"`
	PaymentInterval string `json:"paymentInterval,omitempty"`
}

// ID names what happened, the same for every copy of the event: kind, uuid or id, and status. "" = it does not tell.
func (e Event) ID() string {
	switch t, s := e.Transaction, e.Subscription; {
	case t != nil && t.UUID != "":
		return "transaction/" + t.UUID + "/" + string(t.Status)
	case s != nil && s.UUID != "":
		return "subscription/" + s.UUID + "/" + s.Status + "/" + s.NextPayDate
	case s != nil && s.ID != 0:
		return "subscription/" + string(mustJSON(s.ID)) + "/" + s.Status + "/" + s.NextPayDate
	}
	return ""
}

// ParseEvent reads a webhook's body, JSON or a form by its content type. The error is wire.Invalid. Check the signature first.
func ParseEvent(contentType string, body []byte) (Event, error) {
	var e Event
	kind, _, err := mime.ParseMediaType(contentType)
	if err == nil && kind == "application/x-www-form-urlencoded" {
		form, err := bracket.Parse(string(body), bracket.Limits{})
		if err != nil {
			return Event{}, err
		}
		tree, err := form.Tree()
		if err != nil {
			return Event{}, err
		}
		body = fromForm(tree)
	}
	if err := wire.Decode(body, &e); err != nil {
		bad := wire.AsError("paylinks.event", err)
		bad.Code = wire.Invalid
		return Event{}, bad
	}
	if e.ID() == "" {
		return Event{}, wire.Errorf(wire.Invalid, "paylinks.event", "neither a transaction nor a subscription")
	}
	return e, nil
}

// eventNumbers and eventBooleans are the fields of an event that are no texts: a form does not tell.
var (
	eventNumbers = [...]string{"id", "amount", "pspId", "originalTransactionId", "test", "paymentRequestId", "shippingAmount",
		"originalAmount", "refundedAmount"}
	eventBooleans = [...]string{"refundable", "partiallyRefundable"}
)

// fromForm writes a form's tree as the JSON it would have been. Empty numbers and booleans are null.
func fromForm(o *bracket.Object) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(f.Name))
		b.WriteByte(':')
		switch v := f.Value.(type) {
		case *bracket.Object:
			b.Write(fromForm(v))
		case string:
			b.Write(typed(f.Name, v))
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

func typed(name, text string) []byte {
	for _, n := range eventNumbers {
		if n != name {
			continue
		}
		if text == "" {
			return []byte("null")
		}
		if _, ok := digits(text); ok {
			return []byte(text)
		}
	}
	for _, n := range eventBooleans {
		if n == name {
			return mustJSON(text == "1" || text == "true")
		}
	}
	return mustJSON(text)
}

func mustJSON(v any) []byte {
	data, _ := json.Marshal(v) // a text, number or boolean
	return data
}
