package view

import (
	"time"

	"posagent/agent/support/daily"
	"posagent/schemes/wire"
	"posagent/store"
)

// Difference is a finding of the daily comparison; it stays until a person acknowledges it, or all agree.
type Difference struct {
	Key      wire.Key  `json:"key"`
	Class    string    `json:"class"`
	About    string    `json:"about"` // the sale, the row or the file
	Text     string    `json:"text"`
	Remedy   string    `json:"remedy"`
	Amount   int64     `json:"amount"` // minor units
	Currency string    `json:"currency,omitempty"`
	At       time.Time `json:"at"`
}

// Line is a difference on one line, with its remedy and how it is acknowledged.
func (d Difference) Line() string {
	return d.About + ": " + d.Text + ": " + d.Remedy + " (posagent ops ack " + string(d.Key) + ")"
}

// ListRun is what became of the newest list of the till.
type ListRun struct {
	Day     string    `json:"day"`
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"` // compared; list, backend = it is tried again
	Text    string    `json:"text"`
	Rows    int       `json:"rows"`
	Sales   int       `json:"sales"`
	Found   int       `json:"found"`
}

// readCompared adds what the daily comparison has found.
func (v *Status) readCompared(r store.Reader) error {
	run, ok, err := daily.Last(r)
	if err != nil {
		return err
	}
	if ok {
		v.Reconciled = &ListRun{run.Day, run.At, run.Outcome, run.Sentence(), run.Rows, run.Sales, run.Found}
	}
	list, all, err := daily.Findings(r, alertsAtMost)
	if err != nil {
		return err
	}
	for _, f := range list {
		d := Difference{f.Key, f.Class, f.About, f.Text, f.Remedy, f.Amount, f.Currency, f.At}
		v.Differences = append(v.Differences, d)
		v.attend("%s", d.Line())
	}
	if all > len(list) {
		v.more("%d more difference(s) of the till's list: acknowledge these first", all-len(list))
	}
	return nil
}
