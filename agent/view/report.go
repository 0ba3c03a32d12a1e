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

// Reconciled is one line of the reconciliation: what was stored is what became of it.
type Reconciled struct {
	Kind     string `json:"kind"`
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

// Counted is how many operations of a currency there are, over all kinds. Their amounts are not added:
// an authorisation and its capture are one amount, and a refund takes away.
type Counted struct {
	Currency string `json:"currency"`
	Stored   Number `json:"stored"`
	Waiting  Number `json:"waiting"`
	Sent     Number `json:"sent"`
	Accepted Number `json:"accepted"`
	Declined Number `json:"declined"`
	Expired  Number `json:"expired"`
	InDoubt  Number `json:"inDoubt"`
	Held     Number `json:"held"`
	Purged   Number `json:"purged"`
}

// Number is a Figure without a sum.
type Number struct {
	Count int64 `json:"count"`
}

// Open says that something is still to come, or to be decided.
func (l Counted) Open() bool {
	return l.Waiting.Count+l.Sent.Count+l.InDoubt.Count+l.Held.Count > 0
}

// totals counts the lines by currency, in their order.
func totals(lines []Reconciled) []Counted {
	list, at := []Counted{}, map[string]int{}
	for _, l := range lines {
		i, known := at[l.Currency]
		if !known {
			i = len(list)
			at[l.Currency], list = i, append(list, Counted{Currency: l.Currency})
		}
		all := &list[i]
		for _, x := range []struct {
			to   *Number
			from Figure
		}{
			{&all.Stored, l.Stored}, {&all.Waiting, l.Waiting}, {&all.Sent, l.Sent}, {&all.Accepted, l.Accepted}, {&all.Declined, l.Declined},
			{&all.Expired, l.Expired}, {&all.InDoubt, l.InDoubt}, {&all.Held, l.Held}, {&all.Purged, l.Purged},
		} {
			x.to.Count += x.from.Count
		}
	}
	return list
}

// Reconciliation is the report (posagent.ops.report/1) over everything that was ever stored.
type Reconciliation struct {
	Schema string       `json:"schema"`
	Lines  []Reconciled `json:"lines"`  // by kind and currency
	Totals []Counted    `json:"totals"` // by currency
}

// ReadReport reads it beside a running daemon, or without one.
func ReadReport(r store.Reader) (Reconciliation, error) {
	v := Reconciliation{"posagent.ops.report/1", []Reconciled{}, []Counted{}}
	lines, err := outbox.Report(r)
	if err != nil {
		return v, err
	}
	for _, l := range lines { // by kind and currency
		ReconciledOf(&v.Lines, l.Kind, l.Currency).Add(l.State, l.Count, l.Sum)
	}
	gone, err := outbox.Purged(r)
	if err != nil {
		return v, err
	}
	for _, l := range gone {
		to := ReconciledOf(&v.Lines, l.Kind, l.Currency)
		to.Add(l.State, l.Count, l.Sum)
		to.Purged.add(l.Count, l.Sum)
	}
	v.Totals = totals(v.Lines)
	return v, nil
}

// ReconciledOf is the line of a kind and currency, made where there is none. It is good until the next one is
// made.
func ReconciledOf(list *[]Reconciled, kind, currency string) *Reconciled {
	for i := range *list {
		if l := &(*list)[i]; l.Kind == kind && l.Currency == currency {
			return l
		}
	}
	*list = append(*list, Reconciled{Kind: kind, Currency: currency})
	return &(*list)[len(*list)-1]
}
