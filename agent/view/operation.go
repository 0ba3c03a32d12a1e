package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"posagent/agent/outbox"
	"posagent/agent/records/events"
	"posagent/schemes/wire"
	"posagent/store"
)

// Operation is one operation of the outbox (posagent.operation/1), without what it carries.
type Operation struct {
	ID        int64        `json:"id"` // order of acceptance
	Key       wire.Key     `json:"key"`
	LocalID   string       `json:"localId,omitempty"`   // the id its caller was given
	BackendID string       `json:"backendId,omitempty"` // the backend's own, where it is known
	Kind      string       `json:"kind"`
	Aggregate string       `json:"aggregate"`
	State     outbox.State `json:"state"`
	Says      string       `json:"says"`           // the state in plain words
	Next      string       `json:"next,omitempty"` // what comes next
	Type      string       `json:"type,omitempty"` // what a technician may type
	Note      string       `json:"note,omitempty"`
	Amount    int64        `json:"amount"` // minor units, 0 where none
	Currency  string       `json:"currency,omitempty"`
	Attempts  int          `json:"attempts"`
	Created   time.Time    `json:"created"`
	NextTry   time.Time    `json:"nextTry,omitzero"`
	Settled   time.Time    `json:"settled,omitzero"`
	Reason    string       `json:"reason,omitempty"`
	Owner     string       `json:"owner,omitempty"`   // the local client it belongs to; "" = the terminal itself
	TraceID   wire.Trace   `json:"traceId"`           // its requests carry it to the backend (W3C Trace Context)
	Altered   bool         `json:"altered,omitempty"` // its row was changed from outside
}

// Operations is a list in the order of acceptance (posagent.operations/1). Ask for more after the last one's id.
type Operations struct {
	Schema     string      `json:"schema"`
	Operations []Operation `json:"operations"`
}

// OneOperation is one of them with its history, as far as that is kept (posagent.operation/1).
type OneOperation struct {
	Schema    string    `json:"schema"`
	Operation Operation `json:"operation"`
	Timeline  []Entry   `json:"timeline"`
}

// IDs gives the id an operation's caller was given and the backend's own; "" = none, or not known.
type IDs func(r store.Reader, op outbox.Op) (local, backend string)

// LocalMark begins the local ids of what was accepted before the backend knew of it; an operation's Key follows.
const LocalMark = "L"

func operationOf(op outbox.Op) Operation {
	v := Operation{
		ID: op.ID, Key: op.Key, Kind: op.Kind, Aggregate: op.Aggregate, State: op.State, Note: op.Note, Amount: op.AmountMin,
		Currency: op.Currency, Attempts: op.Attempts, Created: op.Created.UTC(), Reason: op.Reason, Owner: op.Owner, TraceID: op.Trace,
	}
	if !op.NextTry.IsZero() {
		v.NextTry = op.NextTry.UTC()
	}
	if !op.Settled.IsZero() {
		v.Settled = op.Settled.UTC()
	}
	v.explain()
	return v
}

// explain says the state in plain words, what comes next, and what to type.
func (v *Operation) explain() {
	key := string(v.Key)
	after := ""
	if v.Reason != "" {
		after = ": " + v.Reason
	}
	switch v.State {
	case outbox.Pending:
		v.Says, v.Next, v.Type = "stored here, not sent yet", "it is sent by itself", "posagent ops send "+key
		if v.Attempts > 0 {
			v.Says, v.Next = "stored here, not sent yet; the last attempt did not get through"+after, "it is tried again by itself"
		}
	case outbox.Sent:
		v.Says, v.Next, v.Type = "sent, the backend's final answer is not known yet"+after, "it is asked again by itself, under the same key", "posagent ops send "+key
	case outbox.Done:
		v.Says = "accepted by the backend"
		if strings.HasPrefix(v.Reason, outbox.ByHand) {
			v.Says = "accepted, by a person's decision" + after
		}
	case outbox.Failed:
		v.Says = "declined" + after
	case outbox.Expired:
		v.Says = "given up, and nothing has happened at the backend" + after
	case outbox.Doubt:
		v.Says = "in doubt: it was sent, and nobody can tell whether it had its effect" + after
		v.Next = "nothing happens until somebody decides; what follows it waits"
		v.Type = "posagent ops resolve " + key + " --done|--failed --note \"what the backend's books say\""
	case outbox.Held:
		v.Says, v.Next, v.Type = "held"+after, "nothing happens until it is released; what follows it waits", "posagent ops release "+key
	}
	if v.Altered {
		v.Says, v.Next = "its record was changed from outside, so it is not sent: "+v.Says, "nothing happens until somebody decides"
		v.Type = "posagent ops resolve " + key + " --done|--failed --note \"what the backend's books say\""
	}
}

// waits adds whom it waits for.
func (v *Operation) waits(r store.Reader, op outbox.Op) error {
	if v.State != outbox.Pending {
		return nil
	}
	ahead, err := outbox.Ahead(r, op)
	if errors.Is(err, outbox.ErrUnknown) {
		return nil
	}
	if err == nil {
		v.Next = fmt.Sprintf("it waits until %s is over, which belongs to the same %s and is %s", ahead.Key, group(op.Kind), ahead.State)
		v.NextTry, v.Type = time.Time{}, "posagent ops show "+string(ahead.Key)
	}
	return err
}

// group is what the operations of one aggregate have in common.
func group(kind string) string {
	service, _, _ := strings.Cut(kind, ".")
	return strings.TrimSuffix(service, "s")
}

// Find gives the Keys of the operations under their caller's Idempotency-Key, the oldest first, or that of one by a local or the
// backend's id of what it is about. outbox.ErrUnknown.
type Find func(r store.Reader, caller wire.Caller, name string) ([]wire.Key, error)

// FindOperations finds Keys by themselves, by the local id made of one, or by find, which may be nil. outbox.ErrUnknown.
func FindOperations(r store.Reader, find Find, caller wire.Caller, name string) ([]wire.Key, error) {
	for _, key := range []string{name, strings.TrimPrefix(name, LocalMark)} {
		op, err := outbox.Look(r, wire.Key(key))
		if err == nil || !errors.Is(err, outbox.ErrUnknown) {
			return []wire.Key{op.Key}, err
		}
	}
	if find != nil {
		return find(r, caller, name)
	}
	return nil, outbox.ErrUnknown
}

// FindOperation is FindOperations where one is wanted: wire.Conflict where there are several, none of which is a better answer than
// the others. outbox.ErrUnknown.
func FindOperation(r store.Reader, find Find, caller wire.Caller, name string) (wire.Key, error) {
	keys, err := FindOperations(r, find, caller, name)
	if err != nil {
		return "", err
	}
	if len(keys) == 1 {
		return keys[0], nil
	}
	const named = 5
	text := ""
	for _, key := range keys[max(0, len(keys)-named):] {
		op, err := outbox.Look(r, key)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf(", %s %s", op.Kind, key)
	}
	return "", wire.Errorf(wire.Conflict, "", "%d operations came under this Idempotency-Key, on different routes or things; ask for one by its own key: %s",
		len(keys), text[2:])
}

// ReadOperation reads one operation and its history beside a running daemon, or without one. outbox.ErrUnknown.
func ReadOperation(r store.Reader, key wire.Key, ids IDs) (OneOperation, error) {
	op, err := outbox.Look(r, key)
	if err != nil {
		return OneOperation{}, err
	}
	return history(r, op, ids, false)
}

func history(r store.Reader, op outbox.Op, ids IDs, altered bool) (OneOperation, error) {
	v := OneOperation{Schema: "posagent.operation/1", Operation: operationOf(op)}
	o := &v.Operation
	if o.Altered = altered; altered {
		o.explain()
	}
	if ids != nil {
		o.LocalID, o.BackendID = ids(r, op)
	}
	if err := o.waits(r, op); err != nil {
		return v, err
	}
	list, err := events.Of(r, string(op.Key))
	if err != nil {
		return v, err
	}
	if len(list) == 0 || list[0].Event != OfOperation+".accepted" {
		v.Timeline = append(v.Timeline, Entry{At: o.Created, Text: "accepted: stored durably, and promised to its caller"})
	}
	for _, e := range list {
		if e.Source == OfOperation {
			v.Timeline = append(v.Timeline, entryOf(e))
		}
	}
	last := v.Timeline[len(v.Timeline)-1]
	if op.State.Final() && last.At.Before(o.Settled.Add(-time.Minute)) && !o.Settled.IsZero() {
		v.Timeline = append(v.Timeline, Entry{At: o.Settled, Text: o.Says, Loud: op.State != outbox.Done})
	}
	return v, nil
}

// entryOf is an event as a line of a history.
func entryOf(e events.Event) Entry {
	var c Change
	if err := json.Unmarshal(e.Body, &c); err != nil {
		c.Reason = err.Error()
	}
	says := ""
	loud := false
	switch word := strings.TrimPrefix(e.Event, OfOperation+"."); word {
	case "accepted":
		says, c.Reason = "accepted: stored durably, and promised to its caller", ""
	case "sent":
		says, c.Reason = "first attempt", ""
	case "done":
		says = "done"
	case "failed":
		says, loud = "declined", true
	case "expired":
		says, loud = "given up, never sent", true
	case "doubt":
		says, loud = "in doubt", true
	case "held":
		says, loud = "held", true
	case OfAlert + outbox.AlertRaised:
		says, loud = "alert: a person has to look", true
	case OfAlert + outbox.AlertAcknowledged:
		says, c.Reason = "alert acknowledged by a person", ""
	case OfAlert + outbox.AlertWithdrawn:
		says, c.Reason = "alert withdrawn", ""
	default:
		says = word
	}
	if c.Attempts > 1 && (c.State.Final() || c.State == outbox.Doubt) {
		says += fmt.Sprintf(" after %d attempts", c.Attempts)
	}
	if c.Reason != "" {
		says += ": " + c.Reason
	}
	return Entry{At: time.UnixMilli(e.At).UTC(), Loud: loud, Text: says}
}

// ReadOperations lists operations beside a running daemon, or without one.
func ReadOperations(r store.Reader, f outbox.Filter, ids IDs) (Operations, error) {
	list, err := outbox.LookAll(r, f)
	return operationsOf(r, list, ids), err
}

func operationsOf(r store.Reader, list []outbox.Op, ids IDs) Operations {
	v := Operations{"posagent.operations/1", make([]Operation, len(list))}
	for i, op := range list {
		v.Operations[i] = operationOf(op)
		if ids != nil {
			v.Operations[i].LocalID, v.Operations[i].BackendID = ids(r, op)
		}
	}
	return v
}

// EachOperation calls fn with every operation of the outbox, in the order of acceptance.
func EachOperation(r store.Reader, fn func(Operation) error) error {
	box := outbox.NewOutbox(outbox.Options{}) // reading a list needs no more
	f := outbox.Filter{Limit: 500}
	for {
		list, err := box.List(r, f)
		if err != nil {
			return err
		}
		for _, op := range list {
			f.After = op.ID
			if err := fn(operationOf(op)); err != nil {
				return err
			}
		}
		if len(list) < f.Limit {
			return nil
		}
	}
}
