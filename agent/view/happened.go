package view

import (
	"encoding/json"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/records/events"
	"posagent/store"
)

// OperationEvent is the event of an operation's new state; none where it is of no interest: an
// attempt after the first, and its end without an answer. ids may be nil.
func OperationEvent(r store.Reader, was outbox.State, op outbox.Op, ids IDs) (it events.Item, ok bool) {
	word := strings.ToLower(string(op.State))
	switch {
	case was == "":
		word = "accepted"
	case (was == outbox.Held || was == outbox.Doubt) && (op.State == outbox.Pending || op.State == outbox.Sent):
		word = "released"
	case op.State == outbox.Pending, op.State == outbox.Sent && op.Attempts > 1:
		return it, false
	}
	c := Change{State: op.State, Key: op.Key, Kind: op.Kind, Note: op.Note, Amount: op.AmountMin, Currency: op.Currency, Attempts: op.Attempts, Reason: op.Reason}
	if ids != nil {
		c.LocalID, c.BackendID = ids(r, op)
	}
	body, err := json.Marshal(c)
	return events.Item{Source: OfOperation, Ref: string(op.Key), Event: OfOperation + "." + word, Body: body, Owner: op.Owner}, err == nil
}

// SaleEvent is the event of a sale's outcome, or of its end; of one that a local client asked for
// it is that of each step, too. None of anything else.
func SaleEvent(was, now *journal.Row) (it events.Item, ok bool) {
	word, about := "", any(SaleOf(now))
	switch {
	case now.State.Result != was.State.Result:
		word = string(now.State.Result)
	case now.State.Phase == checkout.Done && was.State.Phase != checkout.Done:
		word = "settled"
	case OverHTTP(now.Line):
		if word = stepOf(was, now); word == "code" {
			about = withCode{SaleOf(now), now.State.Payload}
		}
	}
	if word == "" {
		return it, false
	}
	body, err := json.Marshal(about)
	return events.Item{Source: OfSale, Ref: string(now.Key), Event: OfSale + "." + word, Body: body, Owner: OwnerOf(now.Line)}, err == nil
}

// withCode is a sale whose code is to be scanned.
type withCode struct {
	Sale
	Payload string `json:"payload"`
}

// stepOf is the step that a running sale has come to; "" = none.
func stepOf(was, now *journal.Row) string {
	switch a, b := was.State, now.State; {
	case was.Key == "":
		return "accepted"
	case b.Shown && !a.Shown:
		return "code"
	case b.AwaitingApp && !a.AwaitingApp && !b.Engaged:
		return "expired"
	case b.AwaitingApp && b.Engaged && !(a.AwaitingApp && a.Engaged):
		return "app"
	case b.Engaged && !a.Engaged:
		return "confirm"
	case a.Phase == b.Phase:
		return ""
	case b.Phase == checkout.Waiting:
		return "waiting"
	case b.Phase == checkout.Aborting:
		return "aborting"
	case b.Phase == checkout.Unconfirmed:
		return "unheard"
	case b.Phase == checkout.Confirmed:
		return "confirmed"
	case b.Phase == checkout.Reversing:
		return "undoing"
	}
	return ""
}
