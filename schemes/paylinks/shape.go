package paylinks

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// Paths of the service (S1 4.1). The official client writes version 1.0 as v1.
const (
	Prefix      = "/v1.0/"
	ShortPrefix = "/v1/"
)

// shape is how the service says no.
type shape struct{}

var _ rest.Shape = shape{}

// Refuse implements rest.Shape.
func (shape) Refuse(w http.ResponseWriter, _ *http.Request, log *slog.Logger, err *wire.Error) {
	WriteError(w, log, err)
}

// NoRoute implements rest.Shape.
func (shape) NoRoute(w http.ResponseWriter, r *http.Request, allow string) {
	switch {
	case allow != "":
		w.Header().Set("Allow", allow)
		writeText(w, http.StatusMethodNotAllowed, noRoute, "Method not allowed, use "+allow)
	case !strings.HasPrefix(r.URL.Path, Prefix) && !strings.HasPrefix(r.URL.Path, ShortPrefix):
		writeText(w, http.StatusNotFound, noRoute, "Version not found.")
	default:
		writeText(w, http.StatusNotFound, noRoute, "No such route")
	}
}

// Refusal implements rest.Shape.
func (shape) Refusal(c wire.Call, a wire.Answer, keyed bool) *wire.Error { return refusal(c, a, keyed) }

// idRecord is the record of a signature check.
type idRecord struct {
	ID int64 `json:"id"`
}

// success is the body of every success.
type success struct {
	Status    string        `json:"status"`
	Data      any           `json:"data"`
	Operation *wire.Pending `json:"operation,omitempty"`
}

// wrap makes the body of a success: the pending operation stands beside the records.
func wrap(out any) any {
	body := success{Status: "success"}
	switch v := out.(type) {
	case Created:
		body.Operation, out = v.Operation, v.record()
	case Link:
		body.Operation, out = v.Operation, v.record()
	case Deleted:
		body.Operation, v.Operation = v.Operation, nil
		out = v
	case Done:
		body.Operation, v.Operation = v.Operation, nil
		out = v
	case []Transaction, []struct{}: // the engine's empty list
		body.Data = v
		return body
	}
	body.Data = []any{out}
	return body
}

// created is the record of a create: the other type of the one amount stands before the link's own.
type created struct {
	Link
	MinAmount string `json:"subscriptionPeriodMinAmount"`
}

func (c Created) record() created {
	l := c.Link
	l.Status = ""
	if l.Reservation == nil {
		l.Reservation = new(Bit)
	}
	if l.Fields.PrivacyPolicy == nil {
		l.Fields.PrivacyPolicy = new(Field)
	}
	if l.PM == nil {
		l.PM = []string{}
	}
	out := created{Link: l}
	if l.SubscriptionPeriodMinAmount != 0 {
		out.MinAmount = strconv.FormatInt(int64(l.SubscriptionPeriodMinAmount), 10)
	}
	return out
}

func (l Link) record() Link {
	l.Reservation, l.Fields.PrivacyPolicy = nil, nil
	if l.PM == nil {
		l.PM = []string{}
	}
	return l
}

// envelope is the body of a success as a Client reads it.
type envelope struct {
	Status    string            `json:"status"`
	Data      []json.RawMessage `json:"data"`
	Operation *wire.Pending     `json:"operation"`
}

// unwrap reads the body of a success. The real service answers errors with 200, too.
func unwrap(c wire.Call, a wire.Answer) (e envelope, err error) {
	if !a.JSON() {
		return e, refusal(c, a, false)
	}
	if err = wire.Decode(a.Body, &e); err == nil {
		err = wire.Required(a.Body, "status", "data")
	}
	if err == nil && e.Status == "success" {
		return e, nil
	}
	if _, _, own := readError(a); own {
		return e, refusal(c, a, false)
	}
	broken := unreadable(c, err)
	var told struct {
		Status string `json:"status"`
	}
	broken.Answered = c.Write && wire.Check(a.Body) == nil && json.Unmarshal(a.Body, &told) == nil && told.Status == "success"
	return e, broken
}

func unreadable(call wire.Call, err error) *wire.Error {
	e := call.Lost("reply not readable")
	e.Err = err
	return e
}

// one reads a success of one record.
func one[Out any](c wire.Call, a wire.Answer) (out Out, err error) {
	e, err := unwrap(c, a)
	if err != nil {
		return out, err
	}
	if len(e.Data) != 1 {
		return out, c.Unusable("reply does not have one record")
	}
	if err = wire.Decode(e.Data[0], &out); err == nil {
		err = wire.Required(e.Data[0], "id")
	}
	if err != nil {
		e := c.Unusable("reply not readable")
		e.Err = err
		return out, e
	}
	switch v := any(&out).(type) {
	case *Created:
		v.Operation = e.Operation
	case *Link:
		v.Operation = e.Operation
	case *Deleted:
		v.Operation = e.Operation
	case *Done:
		v.Operation = e.Operation
	}
	return out, nil
}

// all reads a success of any number of them.
func all(c wire.Call, a wire.Answer) ([]Transaction, error) {
	e, err := unwrap(c, a)
	if err != nil {
		return nil, err
	}
	out := make([]Transaction, len(e.Data))
	for i, raw := range e.Data {
		if err := wire.Decode(raw, &out[i]); err != nil {
			return nil, unreadable(c, err)
		}
	}
	return out, nil
}

// flaw refuses an answer about another thing than the one asked for (want 0: a new one). What a service calls done and is not
// pending has an id of the backend's own.
func flaw(want, got int64, pending *wire.Pending) string {
	switch {
	case want == 0 && CheckID(got) != nil, want == 0 && pending == nil && got >= FirstLocalID:
		return "reply has no usable id"
	case want != 0 && want != got && want < FirstLocalID:
		return "reply is about another id"
	}
	return ""
}
