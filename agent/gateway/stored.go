package gateway

import (
	"encoding/json"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// payload is what the outbox stores, sealed.
type payload struct {
	Thing string          `json:"thing,omitempty"` // as the caller named it
	Now   bool            `json:"now,omitempty"`   // not sent without somebody who waits for its answer
	Part  bool            `json:"part,omitempty"`  // Body is not everything
	Body  json.RawMessage `json:"body"`
}

// kept is an outbox result: the backend's final answer. It holds no card data and no secrets.
type kept struct {
	Made      string          `json:"made,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
	Code      wire.Code       `json:"code,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Msg       string          `json:"msg,omitempty"`
	Withdrawn bool            `json:"withdrawn,omitempty"` // never sent, and its caller was told so
}

func keptOf(op outbox.Op) (k kept) {
	_ = json.Unmarshal(op.Result, &k) // without a result it is what the state alone says
	return k
}

func withdrawnResult() []byte {
	data, _ := json.Marshal(kept{Withdrawn: true, Code: wire.Unavailable}) // plain fields marshal
	return data
}

// memo is what an attempt leaves for the next.
type memo struct {
	Before  json.RawMessage `json:"before,omitempty"`  // the thing before the first send
	Left    time.Duration   `json:"left,omitempty"`    // running time at the end of the last send: a wait that proves counts from it
	Looked  int             `json:"looked,omitempty"`  // the attempt that found no effect
	Refused json.RawMessage `json:"refused,omitempty"` // what the backend said when it was sent again after that
	Why     string          `json:"why,omitempty"`     // the same, for people
	Clash   bool            `json:"clash,omitempty"`   // a 409 was read that is not ours, and does not say that it runs
	Told    json.RawMessage `json:"told,omitempty"`    // a success was read that names nothing of the request, and a reading has shown no effect
	No      *time.Duration  `json:"no,omitempty"`      // running time since which each answer behind a lost one was a no
	Heard   bool            `json:"heard,omitempty"`   // a create was answered, with another's answer
}

const nobodyWaits = "nobody waits for it, and it is not stored: never sent"

func doneVerdict(r reply) (v outbox.Verdict) {
	body, err := json.Marshal(r.body)
	if err != nil {
		v.State, v.Reason = outbox.Held, "answer not writable: "+err.Error()
		return v
	}
	v.State = outbox.Done
	v.Result, _ = json.Marshal(kept{Made: r.made, Body: body}) // plain fields marshal
	return v
}

func refusedResult(err error) []byte {
	e := wire.AsError("", err)
	result, _ := json.Marshal(kept{Code: e.Code, Reason: e.Reason, Msg: wire.MaskPANs(e.Msg)}) // plain fields marshal
	return result
}

// ReplyOf is the backend's own answer to an operation that is done, as JSON; "" where there is none.
func ReplyOf(op outbox.Op) string { return string(keptOf(op).Body) }

// seen is what a thing shows of itself without its backend.
type seen struct {
	Amount     int32  `json:"amount,omitempty"` // minor units
	Currency   string `json:"currency,omitempty"`
	Number     string `json:"number,omitempty"`
	Processing string `json:"processing,omitempty"`
	AtOnce     bool   `json:"atOnce,omitempty"` // no customer has to do anything
	Ended      end    `json:"ended,omitzero"`   // of the create, once that was purged and nothing was made
}

// end is what became of an operation that came to nothing.
type end struct {
	State  outbox.State `json:"state"`
	Reason string       `json:"reason"`
}

func endOf(op outbox.Op) end { return end{op.State, wire.MaskPANs(op.Reason)} }
