package hosted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"posagent/schemes/wire"
)

// DecodeBuild reads a build body strictly and masks card numbers in its free texts. Validate checks what it says. The error is
// wire.Invalid or TooLarge and names every field.
func DecodeBuild(data []byte) (req BuildRequest, err error) {
	if err = decode(opBuild, data, &req, "order", "order.orderId", "order.amount", "order.currency", "paymentSession",
		"paymentSession.actionType", "paymentSession.amount"); err != nil {
		return BuildRequest{}, err
	}
	o := &req.Order
	o.Description, o.CustomField = wire.MaskPANs(o.Description), wire.MaskPANs(o.CustomField)
	return req, nil
}

// decode reads a body in which the given fields must stand.
func decode(op string, data []byte, into any, fields ...string) error {
	reason := BadParameter
	err := wire.Decode(data, into)
	if err == nil {
		err = wire.Required(data, fields...)
	} else if f := (*wire.FieldError)(nil); errors.As(err, &f) && f.Path == "" {
		reason = BadJSON
	}
	if err == nil {
		return nil
	}
	e := wire.AsError(op, err)
	if e.Code == wire.Invalid {
		e.Reason = reason
	}
	return e
}

// EncodeBuilt writes the answer to a build with its token: the one way it leaves. Keep it out of logs.
func EncodeBuilt(b Built) ([]byte, error) {
	if b.Fields == nil {
		b.Fields = []Field{}
	}
	return json.Marshal(struct {
		Built
		SecurityToken string `json:"securityToken"`
	}{b, b.SecurityToken.Reveal()})
}

// EncodeState writes a session's state, with the token of its fields.
func EncodeState(s SessionState) ([]byte, error) {
	type fields struct {
		*FieldSet
		SecurityToken string `json:"securityToken,omitempty"`
	}
	body := struct {
		SessionState
		Operation *Operation `json:"operation,omitempty"`
		FieldSet  *fields    `json:"fieldSet,omitempty"`
	}{SessionState: s, Operation: s.Operation}
	if s.Operation != nil {
		o := s.Operation.whole()
		body.Operation = &o
	}
	if f := s.FieldSet; f != nil {
		c := *f
		if c.Fields == nil {
			c.Fields = []Field{}
		}
		body.FieldSet = &fields{&c, c.SecurityToken.Reveal()}
	}
	return json.Marshal(body)
}

// EncodeNotice writes a notification.
func EncodeNotice(n Notice) ([]byte, error) {
	n.Operation = n.Operation.whole()
	return json.Marshal(struct {
		Notice
		SecurityToken string `json:"securityToken"`
	}{n, n.SecurityToken.Reveal()})
}

// DecodeNotice reads a notification strictly; the error is wire.Invalid.
func DecodeNotice(data []byte) (n Notice, err error) {
	err = decode("hosted.notice", data, &n, "securityToken", "operation", "operation.orderId", "operation.operationId", "operation.operationResult")
	return n, err
}

// whole has an empty list and object where strict readers want some.
func (o Operation) whole() Operation {
	if o.Warnings == nil {
		o.Warnings = []Warning{}
	}
	if o.AdditionalData == nil {
		o.AdditionalData = map[string]json.RawMessage{}
	}
	return o
}

func (r Report) whole() Report {
	list := make([]Operation, len(r.Operations))
	for i, o := range r.Operations {
		list[i] = o.whole()
	}
	r.Operations = list
	if r.Links == nil {
		r.Links = []json.RawMessage{}
	}
	return r
}

// Format prints which session it is about, under every verb: fmt follows pointers without asking methods when a verb does not
// fit.
func (b Built) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "built session with "+fmt.Sprint(len(b.Fields))+" fields") // a fmt.State has nowhere to report to
}

// Format prints the state, under every verb.
func (s SessionState) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "session "+s.State) // a fmt.State has nowhere to report to
}

// Format prints what happened, under every verb.
func (n Notice) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "notice "+n.EventID+" "+n.Operation.OperationType+" "+n.Operation.OperationResult) // a fmt.State has nowhere to report to
}
