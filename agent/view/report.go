package view

import (
	"posagent/agent/outbox"
	"posagent/store"
)

// Figure is a number of operations and their sum.
type Figure struct {
	Count int64 `json:"count"`
	Sum   int64 `json:"sum"` // minor units
}

func (f *Figure) add(count, sum int64) { f.Count, f.Sum = f.Count+count, f.Sum+sum }

// Reconciled is one line of the reconciliation: what was stored is what became of it. Kind "" = all
// kinds of a currency.
type Reconciled struct {
	Kind     string `json:"kind,omitempty"`
	Currency string `json:"currency"` // "" = operations without an amount
	Stored   Figure `json:"stored"`   // accepted from a caller; every other figure is a part of it
	Waiting  Figure `json:"waiting"`  // not sent yet
	Sent     Figure `json:"sent"`     // sent, no final answer yet
	Accepted Figure `json:"accepted"`
	Declined Figure `json:"declined"`
	Expired  Figure `json:"expired"` // never sent: too old, or withdrawn
	InDoubt  Figure `json:"inDoubt"`
	Held     Figure `json:"held"`
	Purged   Figure `json:"purged"` // at their end, as counted above, and deleted after [offline] retention
}

// Add counts operations in.
func (l *Reconciled) Add(state outbox.State, count, sum int64) {
	l.Stored.add(count, sum)
	switch state {
	case outbox.Pending:
		l.Waiting.add(count, sum)
	case outbox.Sent:
		l.Sent.add(count, sum)
	case outbox.Done:
		l.Accepted.add(count, sum)
	case outbox.Failed:
		l.Declined.add(count, sum)
	case outbox.Expired:
		l.Expired.add(count, sum)
	case outbox.Doubt:
		l.InDoubt.add(count, sum)
	case outbox.Held:
		l.Held.add(count, sum)
	}
}

// Open says that something is still to come, or to be decided.
func (l Reconciled) Open() bool {
	return l.Waiting.Count+l.Sent.Count+l.InDoubt.Count+l.Held.Count > 0
}

// Reconciliation is the report (posagent.ops.report/1) over everything that was ever stored.
type Reconciliation struct {
	Schema string       `json:"schema"`
	Lines  []Reconciled `json:"lines"`  // by kind and currency
	Totals []Reconciled `json:"totals"` // by currency
}

// ReadReport reads it beside a running daemon, or without one.
func ReadReport(r store.Reader) (Reconciliation, error) {
	v := Reconciliation{"posagent.ops.report/1", []Reconciled{}, []Reconciled{}}
	lines, err := outbox.Report(r)
	if err != nil {
		return v, err
	}
	for _, l := range lines { // by kind and currency
		lineOf(&v.Lines, l.Kind, l.Currency).Add(l.State, l.Count, l.Sum)
		Line(&v.Totals, l.Currency).Add(l.State, l.Count, l.Sum)
	}
	gone, err := outbox.Purged(r)
	if err != nil {
		return v, err
	}
	for _, l := range gone {
		for _, to := range []*Reconciled{lineOf(&v.Lines, l.Kind, l.Currency), Line(&v.Totals, l.Currency)} {
			to.Add(l.State, l.Count, l.Sum)
			to.Purged.add(l.Count, l.Sum)
		}
	}
	return v, nil
}

// Line is the line of all kinds of a currency, made where there is none. It is good until the next
// one is made.
func Line(list *[]Reconciled, currency string) *Reconciled { return lineOf(list, "", currency) }

func lineOf(list *[]Reconciled, kind, currency string) *Reconciled {
	for i := range *list {
		if l := &(*list)[i]; l.Kind == kind && l.Currency == currency {
			return l
		}
	}
	*list = append(*list, Reconciled{Kind: kind, Currency: currency})
	return &(*list)[len(*list)-1]
}
