package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/records/events"
	"posagent/schemes/wire"
	"posagent/store"
)

// Alert is a sale or an operation whose money is not where its register or client was told. It stays
// until a person acknowledges it, or until it is proven wrong.
type Alert struct {
	Key      wire.Key  `json:"key"`
	Kind     string    `json:"kind"`    // of the operation, or "sale"
	Subject  string    `json:"subject"` // local id of what it was about, or the sale in words
	State    string    `json:"state"`
	Amount   int64     `json:"amount"` // minor units
	Currency string    `json:"currency,omitempty"`
	Reason   string    `json:"reason"`
	Short    string    `json:"short,omitempty"` // who is short of the amount: merchant, customer, unknown; "" = nobody
	Remedy   string    `json:"remedy"`          // what to do and to type before it is acknowledged
	At       time.Time `json:"at"`
}

// alertsAtMost is how many alerts a status shows.
const alertsAtMost = 10

// OfAlert begins the names of the events about alerts; one of outbox's words follows.
const OfAlert = "alert."

// remedies say what to do, by who is short of the amount.
var remedies = map[checkout.Short]string{
	checkout.Merchant: "the merchant is short of it: look whether the goods were handed over, and ask the customer for it",
	checkout.Customer: "the customer may be short of it: look for it in the backend's portal, then give it back, or hand over the goods",
	checkout.NotKnown: "who is short of it is not known: look for it in the backend's portal",
}

// untold is what to do about a refund or reversal of which the register has not heard the end.
const untold = "ask for the same again there before the end of day, it is told the end and nothing is done twice; else compare it with the register"

func alertOf(a outbox.Alert) Alert {
	v := Alert{a.Key, a.Kind, a.Subject, string(a.State), a.AmountMin, a.Currency, a.Reason, a.Short, "", a.At.UTC()}
	steps := []string{}
	if say := remedies[checkout.Short(a.Short)]; say != "" {
		steps = append(steps, say)
	}
	switch {
	case v.sale() && checkout.Short(a.Short) == checkout.Nobody:
		steps = append(steps, untold, "posagent sale show "+string(a.Key))
	case v.sale():
		steps = append(steps, "posagent sale show "+string(a.Key))
	default:
		steps = append(steps, "tell the client")
	}
	v.Remedy = strings.Join(steps, "; ")
	return v
}

func (a Alert) sale() bool { return a.Kind == outbox.AboutSale }

// Line is an alert on one line, with its remedy and how it is acknowledged.
func (a Alert) Line() string {
	text := a.Subject + ": " + a.Reason
	if !a.sale() {
		text = a.Kind + " " + a.Subject + OpsCount{Currency: a.Currency, Sum: a.Amount}.Total() + " came to nothing after its client was told it was stored, " +
			a.State + ": " + a.Reason
	}
	return text + ": " + a.Remedy + " (posagent ops ack " + string(a.Key) + ")"
}

// AlertOf is the alert that a sale or an operation has now. outbox.ErrNoAlert.
func (h *Daemon) AlertOf(ctx context.Context, key wire.Key) (v Alert, err error) {
	err = h.DB.Read(ctx, func(r store.Reader) error {
		a, err := outbox.AlertOf(r, key)
		v = alertOf(a)
		return err
	})
	return v, err
}

// readAlerts adds the alerts of sales and operations.
func (v *Status) readAlerts(r store.Reader) error {
	list, all, err := outbox.Alerts(r, alertsAtMost)
	if err != nil {
		return err
	}
	for _, stored := range list {
		a := alertOf(stored)
		if a.sale() {
			if err := v.ofSale(r, &a); err != nil {
				return err
			}
		}
		v.Alerts = append(v.Alerts, a)
		v.attend("%s", a.Line())
	}
	if all > len(list) {
		v.more("%d more alert(s) of sales and operations: acknowledge these first", all-len(list))
	}
	return nil
}

// ofSale adds to the alert of a sale what the sale, or its operation, waits for: the sale has one line.
func (v *Status) ofSale(r store.Reader, a *Alert) error {
	row, _, err := journal.Show(r, string(a.Key))
	if errors.Is(err, journal.ErrUnknown) { // purged
		return nil
	}
	if err != nil {
		return err
	}
	if waits(row) {
		a.Remedy += "; " + decide(row)
	}
	key := row.UndoKey
	if key == "" {
		key = row.Key // of a refund or reversal
	}
	op, err := outbox.Look(r, key)
	if errors.Is(err, outbox.ErrUnknown) {
		return nil
	}
	if err != nil || op.State != outbox.Doubt && op.State != outbox.Held {
		return err
	}
	v.said = append(v.said, OpsCount{op.Kind, string(op.State), op.Currency, 1, op.AmountMin})
	a.Remedy += "; " + operationOf(op).Type
	return nil
}

// alerted says that a sale or an operation has an alert that is shown.
func (v *Status) alerted(key wire.Key) bool {
	return slices.ContainsFunc(v.Alerts, func(a Alert) bool { return a.Key == key })
}

// unsaid is what a line of the outbox's report counts besides the operations that an alert of a sale
// tells of.
func (v *Status) unsaid(o OpsCount) OpsCount {
	for _, s := range v.said {
		if s.Kind == o.Kind && s.State == o.State && s.Currency == o.Currency {
			o.Count, o.Sum = o.Count-s.Count, o.Sum-s.Sum
		}
	}
	return o
}

// Waiting lists what waits for an acknowledgement, one line each: the alerts of sales and operations,
// and the differences of the till's list.
func (v *Status) Waiting() (lines []string) {
	for _, a := range v.Alerts {
		lines = append(lines, a.Line())
	}
	for _, d := range v.Differences {
		lines = append(lines, d.Line())
	}
	return append(lines, v.others...)
}

// more says how many alerts, or differences, there are beside those that are listed.
func (v *Status) more(format string, left int) {
	v.others = append(v.others, fmt.Sprintf(format, left))
	v.attend(format, left)
}

// AlertEvent is the event of an alert that was raised or has ended. It has the source and the owner of
// what it is about.
func AlertEvent(r store.Reader, a outbox.Alert, how string) (it events.Item, ok bool) {
	it = events.Item{Source: OfOperation, Ref: string(a.Key), Event: OfAlert + how, Owner: a.Owner}
	if a.Kind == outbox.AboutSale {
		it.Source = OfSale
		if row, _, err := journal.Show(r, string(a.Key)); err == nil {
			it.Owner = OwnerOf(row.Line)
		}
	}
	body, err := json.Marshal(alertOf(a))
	it.Body = body
	return it, err == nil
}
