package view

import (
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// Operation is one operation of the outbox (posagent.operation/1), without what it carries.
type Operation struct {
	ID        int64        `json:"id"` // order of acceptance
	Key       wire.Key     `json:"key"`
	Kind      string       `json:"kind"`
	Aggregate string       `json:"aggregate"`
	State     outbox.State `json:"state"`
	Note      string       `json:"note,omitempty"`
	Amount    int64        `json:"amount"` // minor units, 0 where none
	Currency  string       `json:"currency,omitempty"`
	Attempts  int          `json:"attempts"`
	Created   time.Time    `json:"created"`
	NextTry   time.Time    `json:"nextTry,omitzero"`
	Settled   time.Time    `json:"settled,omitzero"`
	Reason    string       `json:"reason,omitempty"`
	Altered   bool         `json:"altered,omitempty"` // its row was changed from outside
}

// Operations is a list in the order of acceptance (posagent.operations/1). Ask for more after the last one's id.
type Operations struct {
	Schema     string      `json:"schema"`
	Operations []Operation `json:"operations"`
}

// OneOperation is one of them (posagent.operation/1).
type OneOperation struct {
	Schema    string    `json:"schema"`
	Operation Operation `json:"operation"`
}

func operationOf(op outbox.Op) Operation {
	v := Operation{
		ID: op.ID, Key: op.Key, Kind: op.Kind, Aggregate: op.Aggregate, State: op.State, Note: op.Note, Amount: op.AmountMin,
		Currency: op.Currency, Attempts: op.Attempts, Created: op.Created.UTC(), Reason: op.Reason,
	}
	if !op.NextTry.IsZero() {
		v.NextTry = op.NextTry.UTC()
	}
	if !op.Settled.IsZero() {
		v.Settled = op.Settled.UTC()
	}
	return v
}
