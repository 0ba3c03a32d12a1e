package view

import (
	"encoding/json"
	"fmt"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// Event is something that happened here or arrived from the backend (posagent.event/1).
type Event struct {
	Schema   string          `json:"schema"`
	ID       int64           `json:"id"`     // its number at its source
	Resume   Cursor          `json:"resume"` // go on behind it
	Source   string          `json:"source"` // webhooks, operation, sale, reconcile, terminal
	Ref      string          `json:"ref"`    // the source's own id
	Event    string          `json:"event"`
	Received time.Time       `json:"received"`
	Body     json.RawMessage `json:"body"`
}

// The sources of what happens at the terminal itself.
const (
	OfOperation = "operation"
	OfSale      = "sale"
)

// Change is what an event says of an operation.
type Change struct {
	State     outbox.State `json:"state"`
	Key       wire.Key     `json:"key,omitempty"`
	LocalID   string       `json:"localId,omitempty"`   // of what it is about, as its caller was given it
	BackendID string       `json:"backendId,omitempty"` // the same, as the backend knows it
	Kind      string       `json:"kind"`
	Note      string       `json:"note,omitempty"`
	Amount    int64        `json:"amount"` // minor units, 0 where none
	Currency  string       `json:"currency,omitempty"`
	Attempts  int          `json:"attempts"`
	Reason    string       `json:"reason,omitempty"`
}

// ChangeOf reads it.
func ChangeOf(e Event) (c Change, err error) {
	if err = json.Unmarshal(e.Body, &c); err != nil {
		err = fmt.Errorf("event %d: %w", e.ID, err)
	}
	return c, err
}
