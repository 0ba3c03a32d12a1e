package webhooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// Where an event's envelope carries the merchant (S0 6.2, 6.5).
const (
	asID     = iota // the number as merchantId
	asNumber        // the number as merchantNumber
	asBoth          // the number under both names
	asUUID          // a UUID as merchantId, perhaps the number as merchantNumber
)

// rule is one event.
type rule struct {
	name     Name
	merchant int
	status   string // onboarding: what data.status says
	required string // fields of data that must be present and not null, separated by blanks; "" = its type says it
}

const (
	amount = " amount amount.amount amount.currency"
	items  = " orderItems orderItems[].reference orderItems[].name orderItems[].quantity orderItems[].unit orderItems[].unitPrice" +
		" orderItems[].grossTotalAmount orderItems[].netTotalAmount"
	order = "paymentId order order.amount order.amount.amount order.amount.currency order.orderItems" +
		" order.orderItems[].reference order.orderItems[].name order.orderItems[].quantity order.orderItems[].unit" +
		" order.orderItems[].unitPrice order.orderItems[].grossTotalAmount order.orderItems[].netTotalAmount"
	invoice = " invoiceDetails.distributionType invoiceDetails.invoiceDueDate invoiceDetails.invoiceNumber"
)

// rules is the closed list of events.
var rules = [...]rule{
	{PaymentCreated, asBoth, "", order},
	{ReservationCreated, asID, "", "paymentId paymentMethod paymentType" + amount},
	{ReservationCreatedV2, asNumber, "", "paymentId paymentMethod paymentType" + amount},
	{ReservationFailed, asID, "", "paymentId error" + amount},
	{CheckoutCompleted, asID, "", order + " consumer"},
	{ChargeCreated, asNumber, "", "paymentId chargeId paymentMethod paymentType" + amount + items},
	{ChargeFailed, asID, "", "paymentId error chargeId" + amount + items},
	{RefundInitiated, asBoth, "", "paymentId refundId chargeId" + amount},
	{RefundCompleted, asID, "", "paymentId refundId" + amount + invoice},
	{RefundFailed, asID, "", "paymentId refundId error" + amount + invoice},
	{CancelCreated, asID, "", "paymentId cancelId" + amount + items},
	{CancelFailed, asID, "", "paymentId error cancelId" + amount + items},
	{OnboardingInitiated, asUUID, StatusInitiated, ""},
	{OnboardingAwaitingSignature, asUUID, StatusAwaitingSignature, ""},
	{OnboardingSignatureFailed, asUUID, StatusSignatureFailed, ""},
	{OnboardingProcessing, asUUID, StatusProcessing, ""},
	{OnboardingApproved, asUUID, StatusApproved, ""},
	{OnboardingAbandoned, asUUID, StatusAbandoned, ""},
}

// Names lists every event in the specification's order.
func Names() []Name {
	out := make([]Name, 0, len(rules))
	for _, r := range rules {
		out = append(out, r.name)
	}
	return out
}

// Known says whether a merchant may ask for the event.
func Known(name string) bool { return ruleOf(Name(name)) != nil }

func ruleOf(name Name) *rule {
	for i := range rules {
		if rules[i].name == name {
			return &rules[i]
		}
	}
	return nil
}

// timeLayout has four digits of a fraction, as the service writes them.
const timeLayout = "2006-01-02T15:04:05.0000-07:00"

// FormatTime writes a moment as events carry it.
func FormatTime(t time.Time) string { return t.Format(timeLayout) }

// NewID makes an event's id: 32 lower hex digits.
func NewID() string { return strings.ReplaceAll(string(wire.NewKey()), "-", "") }

// Limits of an event in bytes.
const (
	MaxBody = 256 << 10
	maxID   = 128
)

// envelope is an event on the wire.
type envelope struct {
	ID             string          `json:"id" wire:"required"`
	MerchantID     json.RawMessage `json:"merchantId,omitempty"`
	MerchantNumber *int64          `json:"merchantNumber,omitempty"`
	Timestamp      string          `json:"timestamp" wire:"required"`
	Event          Name            `json:"event" wire:"required"`
	Data           json.RawMessage `json:"data" wire:"required"`
}

var errEvent = errors.New("webhooks: an event needs an id, a merchant, a time, a known name and data that fit it")

// fresh makes an empty value of the type an event's data has.
func (r *rule) fresh() any {
	switch {
	case r.merchant == asUUID:
		return new(Onboarding)
	case r.name == PaymentCreated, r.name == CheckoutCompleted:
		return new(Checkout)
	case r.name == ReservationCreated, r.name == ReservationCreatedV2:
		return new(Reservation)
	}
	return new(Movement)
}

// Marshal writes an event. It fails when the event lacks what receivers rely on.
func Marshal(e Event) ([]byte, error) {
	r := ruleOf(e.Name)
	if r == nil || e.ID == "" || e.Time.IsZero() || e.Data == nil {
		return nil, errEvent
	}
	data, err := r.data(e.Data)
	if err != nil {
		return nil, err
	}
	env := envelope{ID: e.ID, Timestamp: FormatTime(e.Time), Event: e.Name, Data: data}
	number := e.MerchantNumber
	switch {
	case r.merchant == asUUID && e.MerchantUUID == "", r.merchant != asUUID && number == 0:
		return nil, errEvent
	case r.merchant == asUUID:
		env.MerchantID, err = json.Marshal(e.MerchantUUID)
	case r.merchant != asNumber:
		env.MerchantID, err = json.Marshal(number)
	}
	if number != 0 && r.merchant != asID {
		env.MerchantNumber = &number
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(env)
}

// data writes the event's data with everything its receivers rely on.
func (r *rule) data(v any) (json.RawMessage, error) {
	if text, err := json.Marshal(v); err != nil || string(text) == "null" {
		return nil, errEvent // a nil pointer, a number that is none
	}
	var complete bool
	switch d := v.(type) {
	case *Checkout:
		_, complete = r.fresh().(*Checkout)
		if r.name == CheckoutCompleted && d.Consumer != nil {
			v = d.completed()
		}
	case *Reservation:
		_, complete = r.fresh().(*Reservation)
		complete = complete && d.PaymentMethod != "" && paymentType(d.PaymentType)
		if r.name == ReservationCreated {
			complete = complete && d.Consumer != nil && d.ReserveID != "" && d.ReservationReference != ""
			break
		}
		v2 := *d
		v2.CardDetails, v2.Consumer, v2.ReserveID, v2.ReservationReference = nil, nil, "", ""
		v = &v2
	case *Onboarding:
		complete = r.merchant == asUUID && d.Status == r.status && (d.Reason == "") == (d.Status != StatusSignatureFailed)
	case *Movement:
		_, complete = r.fresh().(*Movement)
		m := *d
		switch r.name {
		case ReservationFailed, CancelCreated, CancelFailed, ChargeFailed, ChargeCreated, RefundInitiated:
			if m.OrderItems == nil {
				m.OrderItems = new(OrderItems)
			}
		}
		switch r.name {
		case ChargeCreated:
			complete = complete && len(*m.OrderItems) > 0 && m.PaymentMethod != "" && paymentType(m.PaymentType)
		case RefundInitiated:
			complete = complete && m.Executed != "" && m.PaymentActionID != "" && m.ReconciliationReference != ""
		case ChargeFailed, RefundFailed:
			complete = complete && m.ReconciliationReference != ""
		}
		v = &m
	}
	if !complete {
		return nil, errEvent
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if err := wire.Required(text, strings.Fields(r.required)...); err != nil {
		return nil, err
	}
	return text, nil
}

// completed is a Checkout whose consumer has every field, empty or not: early receivers take none of them as optional.
func (c *Checkout) completed() any {
	who := *c.Consumer
	for _, a := range [...]**Address{&who.BillingAddress, &who.ShippingAddress} {
		if *a == nil {
			*a = new(Address)
		}
	}
	if who.PhoneNumber == nil {
		who.PhoneNumber = new(PhoneNumber)
	}
	type person struct {
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
		Consumer
	}
	return struct {
		PaymentID      string `json:"paymentId"`
		Order          *Order `json:"order"`
		Consumer       person `json:"consumer"`
		MyReference    string `json:"myReference,omitempty"`
		SubscriptionID string `json:"subscriptionId,omitempty"`
	}{c.PaymentID, c.Order, person{who.FirstName, who.LastName, who}, c.MyReference, c.SubscriptionID}
}

func paymentType(s string) bool {
	switch s {
	case TypeCard, TypeInvoice, TypeA2A, TypeInstallment, TypeWallet, TypePrepaidInvoice:
		return true
	}
	return false
}

const opReceive = "webhooks.receive"

// Parse reads an event. The error is *wire.Error with code Invalid or TooLarge and names every field that is wrong,
// never its content.
func Parse(body []byte) (Event, error) {
	if len(body) > MaxBody {
		return Event{}, wire.Errorf(wire.TooLarge, opReceive, "body above %d bytes", MaxBody)
	}
	var env envelope
	if err := wire.Decode(body, &env); err != nil {
		return Event{}, invalid(err)
	}
	e := Event{ID: env.ID, Name: env.Event, Body: body}
	at, err := time.Parse(time.RFC3339Nano, env.Timestamp)
	switch {
	case err != nil:
		return Event{}, invalid(field("timestamp", "want RFC 3339"))
	case e.ID == "" || !wire.PlainText(e.ID, maxID):
		return Event{}, invalid(field("id", "want 1 to 128 characters"))
	case e.Name == "" || !wire.PlainText(string(e.Name), maxID):
		return Event{}, invalid(field("event", "want 1 to 128 characters"))
	case len(env.Data) == 0 || env.Data[0] != '{':
		return Event{}, invalid(field("data", "want an object"))
	}
	e.Time = at
	r := ruleOf(e.Name)
	if r == nil {
		r = resembling(e.Name, env.Data)
	}
	if err := e.merchant(env, r); err != nil {
		return Event{}, invalid(err)
	}
	if r == nil {
		e.Data = env.Data
		return e, nil
	}
	e.Name = r.name
	v := r.fresh()
	if err := wire.Decode(env.Data, v); err != nil {
		return Event{}, invalid(err)
	}
	if err := wire.Required(env.Data, strings.Fields(r.required)...); err != nil {
		return Event{}, invalid(err)
	}
	e.Data = v
	return e, nil
}

// merchant reads the merchant of an event; an unknown event may be without one.
func (e *Event) merchant(env envelope, r *rule) error {
	if env.MerchantNumber != nil {
		e.MerchantNumber = *env.MerchantNumber
	}
	id := bytes.TrimSpace(env.MerchantID)
	switch {
	case len(id) == 0 || string(id) == "null":
		if r != nil && (env.MerchantNumber == nil || r.merchant == asUUID) {
			return field("merchantId", "missing")
		}
	case id[0] == '"' && (r == nil || r.merchant == asUUID):
		return wire.Decode(id, &e.MerchantUUID)
	case r != nil && r.merchant == asUUID:
		return field("merchantId", "want a text")
	default:
		var n int64
		if wire.Decode(id, &n) != nil {
			return field("merchantId", "want a whole number")
		}
		switch { // 0 says nothing
		case n == 0:
		case e.MerchantNumber != 0 && n != e.MerchantNumber:
			return field("merchantNumber", "not the merchantId")
		default:
			e.MerchantNumber = n
		}
	}
	return nil
}

// resembling finds the onboarding event behind a name that deviates from the table: it is known by its status.
func resembling(name Name, data []byte) *rule {
	if !strings.HasPrefix(strings.ToLower(string(name)), "onboarding") {
		return nil
	}
	var d struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	for i := range rules {
		if rules[i].status != "" && strings.EqualFold(rules[i].status, d.Status) {
			return &rules[i]
		}
	}
	return nil
}

func field(path, reason string) error {
	return &wire.FieldError{Path: path, Reason: reason, Code: wire.Invalid}
}

func invalid(err error) *wire.Error {
	e := wire.AsError(opReceive, err)
	if e.Code != wire.TooLarge {
		e.Code = wire.Invalid
	}
	return e
}
