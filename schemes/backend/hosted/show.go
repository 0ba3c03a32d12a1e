package hosted

import (
	"encoding/json"
	"strconv"
	"time"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// kept is what of an order is sealed.
type kept struct {
	Customer *hosted.CustomerInfo `json:"customer,omitempty"`
}

// customer reads what is known of an order's customer, nil = nothing.
func (x *Sessions) customer(r store.Reader, o *order) (*hosted.CustomerInfo, error) {
	var k kept
	plain, err := x.DB.Unseal(r, orderCell(o.id), o.private)
	if err == nil {
		err = json.Unmarshal(plain, &k)
	}
	return k.Customer, err
}

// token reads a session's token.
func (x *Sessions) token(r store.Reader, s *session) (wire.Secret, error) {
	plain, err := x.DB.Unseal(r, sessionCell(s.id), s.private)
	return wire.Secret(plain), err
}

// away is where a session's customer has to go.
func (x *Sessions) away(s *session) string { return x.Public + AwayPrefix + s.id }

// fields are those the platform has to show now.
func (x *Sessions) fields(s *session) []hosted.Field {
	list := []hosted.Field{}
	add := func(kind, class, id string) {
		list = append(list, hosted.Field{Type: kind, Class: class, ID: id, Src: x.Public + FieldPrefix + s.id + "/" + id})
	}
	switch {
	case s.state == Choosing:
		add("ACTION", "CARD", payWithCard)
		for _, o := range others() {
			add("ACTION", "APM", o)
		}
	case s.state == Collecting, s.state == Ready && s.Recurrence == nil, s.state == Ready && s.Recurrence.Action != hosted.SubsequentPayment:
		for _, id := range cardFields() {
			add("TEXT", "CARD_FIELD", id)
		}
	}
	return list
}

// operation shows one.
func (x *Sessions) operation(r store.Reader, o *operation) (hosted.Operation, error) {
	parent, err := findOrder(r, opOrder, o.order)
	if err != nil {
		return hosted.Operation{}, err
	}
	out := hosted.Operation{
		OrderID: o.order, OperationID: o.id, Channel: o.Channel, OperationType: o.kind, OperationResult: o.result, OperationTime: stamp(o.at),
		PaymentMethod: o.Method, PaymentCircuit: o.Circuit, PaymentInstrumentInfo: o.Instrument, PaymentEndToEndID: o.EndToEnd, CancelledOperationID: o.cancels,
		OperationAmount: hosted.TextOf(o.amount), OperationCurrency: parent.currency, Warnings: []hosted.Warning{}, AdditionalData: map[string]json.RawMessage{},
	}
	for _, kv := range [][2]string{{"authorizationCode", o.Code}, {"cardCountry", o.Country}, {"threeDS", o.ThreeDS}} {
		if kv[1] != "" {
			out.AdditionalData[kv[0]] = json.RawMessage(strconv.Quote(kv[1]))
		}
	}
	info, err := x.customer(r, parent)
	if err == nil {
		out.CustomerInfo, err = info.Encode()
	}
	return out, err
}

// show is a session's state for its merchant.
func (x *Sessions) show(r store.Reader, s *session) (hosted.SessionState, error) {
	out := hosted.SessionState{State: string(s.state)}
	if s.state == Away {
		out.URL = x.away(s)
	}
	if s.Operation != "" {
		o, err := findOperation(r, opState, s.Operation)
		if err != nil {
			return out, err
		}
		shown, err := x.operation(r, o)
		if err != nil {
			return out, err
		}
		out.Operation = &shown
	}
	if list := x.fields(s); len(list) > 0 && s.state != Ready {
		token, err := x.token(r, s)
		if err != nil {
			return out, err
		}
		out.FieldSet = &hosted.FieldSet{SessionID: s.id, SecurityToken: token, Fields: list}
	}
	return out, nil
}

// stamp writes a moment as S2's times are written.
func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
