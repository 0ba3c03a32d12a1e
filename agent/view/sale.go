package view

import (
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// Sale is one sale (posagent.sale/1).
type Sale struct {
	ID            string     `json:"id"`
	Kind          ecr.Kind   `json:"kind"`
	Line          string     `json:"line"`
	Key           string     `json:"key,omitempty"` // the id under which the register, or a local client, asked for it
	Phase         string     `json:"phase"`
	Result        ecr.Result `json:"result"` // what the register is told, "" while it runs
	Code          ecr.Code   `json:"code,omitempty"`
	Text          string     `json:"text,omitempty"`
	Told          string     `json:"told,omitempty"`
	Amount        int64      `json:"amount"` // minor units
	Currency      string     `json:"currency"`
	Method        string     `json:"method"`
	Label         string     `json:"label"`
	Reference     string     `json:"reference"`
	Original      string     `json:"original,omitempty"`
	TransactionID int64      `json:"transactionId,omitempty"`
	State         string     `json:"state,omitempty"` // the backend's word, last seen
	AccountState  string     `json:"accountState,omitempty"`
	CodeShown     bool       `json:"codeShown"`
	Settled       bool       `json:"settled"` // nothing can happen to it any more by itself
	UndoOwed      bool       `json:"undoOwed"`
	Receipt       int        `json:"receipt,omitempty"`
	Trace         int        `json:"trace,omitempty"` // trace number of the receipt
	TraceID       wire.Trace `json:"traceId"`         // its requests carry it to the backend (W3C Trace Context)
	Batch         int        `json:"batch"`
	Created       time.Time  `json:"created"`
	Quarantined   bool       `json:"quarantined,omitempty"`
	Aside         string     `json:"aside,omitempty"` // why a person has to decide before anything happens to it
}

// SaleOf is a journal's row as people see it.
func SaleOf(r *journal.Row) Sale {
	s := r.State
	if r.State.Phase == checkout.Held {
		s.Result, s.Code, s.Text = ecr.InProgress, ecr.OnHold, ""
	}
	return Sale{
		ID: string(r.Key), Kind: r.Kind, Line: r.Line, Key: r.Sequence, Phase: string(s.Phase), Result: s.Result, Code: s.Code, Text: s.Text, Told: r.Told,
		Amount: int64(r.Amount), Currency: r.Currency, Method: r.Method.Name, Label: r.Method.Label, Reference: r.Reference,
		Original: string(r.Original), TransactionID: s.TransactionID, State: string(s.Wire), AccountState: string(s.Account), CodeShown: s.Shown,
		Settled: !checkout.Active(s) || r.Closed, UndoOwed: checkout.Owed(s) && !r.Closed, Receipt: r.Receipt, Trace: r.Trace, TraceID: r.TraceID(), Batch: r.Batch,
		Created: time.UnixMilli(r.CreatedMS).UTC(), Quarantined: r.Quarantined && r.Aside == "", Aside: r.Aside,
	}
}

// Sales is a list of sales, the newest first (posagent.sales/1).
type Sales struct {
	Schema string `json:"schema"`
	Sales  []Sale `json:"sales"`
	Cursor int64  `json:"cursor,omitempty"` // where the next page begins; 0 = there is none
}

// ReadSales reads sales, the newest first.
func ReadSales(r store.Reader, which journal.Which) (Sales, error) {
	v, err := readSales(r, which)
	v.Cursor = 0 // it asks for one page
	return v, err
}

func readSales(r store.Reader, which journal.Which) (Sales, error) {
	rows, err := journal.Listed(r, which)
	v := Sales{Schema: "posagent.sales/1", Sales: make([]Sale, len(rows))}
	for i, row := range rows {
		v.Sales[i] = SaleOf(row)
	}
	if which.Limit > 0 && len(rows) == which.Limit {
		v.Cursor = rows[len(rows)-1].ID
	}
	return v, err
}

// Entry is one line of a sale's history.
type Entry struct {
	At   time.Time `json:"at"`
	Loud bool      `json:"attention"`
	Text string    `json:"text"`
}

// Timeline is one sale with its history (posagent.sale/1).
type Timeline struct {
	Schema   string  `json:"schema"`
	Sale     Sale    `json:"sale"`
	Timeline []Entry `json:"timeline"`
}

// ReadSale reads one sale by its id. journal.ErrUnknown.
func ReadSale(r store.Reader, id string) (Timeline, error) {
	v, _, err := readSale(r, id)
	return v, err
}

func readSale(r store.Reader, id string) (Timeline, *journal.Row, error) {
	row, entries, err := journal.Show(r, id)
	v := Timeline{"posagent.sale/1", SaleOf(row), make([]Entry, len(entries))}
	for i, e := range entries {
		v.Timeline[i] = Entry{time.UnixMilli(e.AtMS).UTC(), e.Loud, e.Text}
	}
	return v, row, err
}
