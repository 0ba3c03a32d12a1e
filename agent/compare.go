package agent

import (
	"context"
	"encoding/json"
	"errors"

	"posagent/agent/outbox"
	"posagent/agent/records/events"
	"posagent/agent/support/daily"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
)

// compares makes the daily comparison of the till's list, nil where none is configured.
func (a *Agent) compares() *daily.Daily {
	if a.o.Compare == nil {
		return nil
	}
	o := *a.o.Compare
	o.DB, o.Now, o.Busy, o.Noted, o.Audit, o.Log = a.o.DB, a.o.Now, a.drive.Selling, a.compared, a.did, a.o.Log
	return daily.New(o)
}

// compared notes the result of a day in its commit.
func (a *Agent) compared(tx store.Tx, v daily.Run) error {
	if err := a.history.Compared(tx, v.Sentence()); err != nil {
		return err
	}
	body, err := json.Marshal(struct {
		Day     string `json:"day"`
		Outcome string `json:"outcome"`
		Text    string `json:"text"`
		Rows    int    `json:"rows"`
		Sales   int    `json:"sales"`
		Found   int    `json:"found"`
	}{v.Day, v.Outcome, v.Sentence(), v.Rows, v.Sales, v.Found})
	if err != nil {
		return err
	}
	return a.events.Add(tx, events.Item{Source: "reconcile", Ref: v.Day, Event: "reconcile." + v.Outcome, Body: body})
}

// alerted notes that an alert of a sale or an operation was raised, or has ended.
func (a *Agent) alerted(tx store.Tx, alert outbox.Alert, how string) error {
	if it, ok := view.AlertEvent(tx, alert, how); ok {
		return a.events.Add(tx, it)
	}
	return nil
}

// acknowledges is the outbox with what a person may acknowledge besides its alerts.
type acknowledges struct {
	*outbox.Outbox
	daily *daily.Daily // nil = nothing
}

// Acknowledge ends the alert of a sale or an operation, or a finding of the daily comparison. outbox.ErrNoAlert.
func (o acknowledges) Acknowledge(ctx context.Context, key wire.Key) error {
	err := o.Outbox.Acknowledge(ctx, key)
	if o.daily == nil || !errors.Is(err, outbox.ErrNoAlert) {
		return err
	}
	if found := o.daily.Acknowledge(ctx, key); !errors.Is(found, daily.ErrNone) {
		return found
	}
	return err
}
