package view

import (
	"strconv"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// Sale is one sale, wherever one is told: by the local port alone and in lists, in events, and by --json (posagent.sale/1). A field that a
// place does not know is left out there.
type Sale struct {
	Schema        string     `json:"schema,omitempty"` // where the sale is the whole answer
	ID            string     `json:"id"`
	Type          ecr.Kind   `json:"type"`
	Kind          ecr.Kind   `json:"kind"` // type, as clients of before 2026-11-28 read it in lists
	Line          string     `json:"line"`
	Key           string     `json:"key,omitempty"`     // the id under which the register, or a local client, asked for it
	State         string     `json:"state"`             // running, ended, or held: a person has to look at it
	Phase         string     `json:"phase"`             // of the checkout
	Outcome       ecr.Result `json:"outcome,omitempty"` // what the register is told, "" while it runs
	Result        ecr.Result `json:"result"`            // outcome, as clients of before read it in lists
	Code          ecr.Code   `json:"code,omitempty"`
	Text          string     `json:"text,omitempty"`
	Told          string     `json:"told,omitempty"`
	Amount        int64      `json:"amount"` // minor units
	Currency      string     `json:"currency"`
	Method        string     `json:"method"`
	Label         string     `json:"label"`
	Reference     string     `json:"reference"`
	Original      string     `json:"original,omitempty"`
	Transaction   string     `json:"transaction,omitempty"`   // the backend's number
	TransactionID int64      `json:"transactionId,omitempty"` // the same, as clients of before read it in lists
	BackendState  string     `json:"backendState,omitempty"`  // the backend's word, last seen
	AccountState  string     `json:"accountState,omitempty"`
	CodeShown     bool       `json:"codeShown"`
	Settling      bool       `json:"settling"` // money may still move by itself
	Settled       bool       `json:"settled"`  // nothing can happen to it any more by itself
	UndoOwed      bool       `json:"undoOwed"`
	Receipt       int        `json:"receipt,omitempty"`
	Trace         int        `json:"trace,omitempty"` // trace number of the receipt
	TraceID       wire.Trace `json:"traceId"`         // its requests carry it to the backend (W3C Trace Context)
	Batch         int        `json:"batch"`
	Created       time.Time  `json:"created"`
	Quarantined   bool       `json:"quarantined,omitempty"`
	Aside         string     `json:"aside,omitempty"` // why a person has to decide before anything happens to it
	Step          ecr.Step   `json:"step,omitempty"`
	StepText      string     `json:"stepText,omitempty"`
	QR            *QR        `json:"qr,omitempty"`
	Receipts      *Receipts  `json:"receipts,omitempty"`
	Timeline      []Entry    `json:"timeline,omitzero"`

	HTTP int `json:"-" rest:"status"`
}

// Alone is a sale that is the whole answer. It has the sale once more, where clients of before 2026-11-28 read what lists alone had.
type Alone struct {
	Sale
	Again Sale `json:"sale"`
}

// The states of a sale.
const (
	Running = "running"
	Ended   = "ended"
	Held    = "held" // a person has to look at it
)

// QR is the code that the customer scans.
type QR struct {
	Payload string    `json:"payload"`
	PNG     string    `json:"png"` // path of a picture
	SVG     string    `json:"svg"`
	Until   time.Time `json:"until"`
	Seconds int       `json:"seconds"` // until then
}

// Receipts are those of a sale that has ended.
type Receipts struct {
	Customer        Receipt `json:"customer"`
	Merchant        Receipt `json:"merchant"`
	MerchantPrinted bool    `json:"merchantPrinted"` // the method asks for the merchant's
}

// Receipt is one of them.
type Receipt struct {
	Lines  []ReceiptLine `json:"lines"`
	Text   string        `json:"text"`             // the lines, 42 characters wide
	ESCPOS []byte        `json:"escpos,omitempty"` // what prints them on paper 80 mm wide
}

// ReceiptLine is one line of a receipt.
type ReceiptLine struct {
	Text   string `json:"text"`
	Right  string `json:"right,omitempty"`
	Centre bool   `json:"centre,omitempty"`
	Bold   bool   `json:"bold,omitempty"`
}

// SaleOf is a journal's row as people see it.
func SaleOf(r *journal.Row) Sale {
	s := r.State
	if r.State.Phase == checkout.Held {
		s.Result, s.Code, s.Text = ecr.InProgress, ecr.OnHold, ""
	}
	v := Sale{
		ID: string(r.Key), Type: r.Kind, Kind: r.Kind, Line: r.Line, Key: r.Sequence, State: Running, Phase: string(s.Phase), Outcome: s.Result, Result: s.Result,
		Code: s.Code, Text: s.Text, Told: r.Told,
		Amount: int64(r.Amount), Currency: r.Currency, Method: r.Method.Name, Label: r.Method.Label, Reference: r.Reference,
		Original: string(r.Original), TransactionID: s.TransactionID, BackendState: string(s.Wire), AccountState: string(s.Account), CodeShown: s.Shown,
		Settling: s.Settling || s.Phase == checkout.Reversing,
		Settled:  !checkout.Active(s) || r.Closed, UndoOwed: checkout.Owed(s) && !r.Closed, Receipt: r.Receipt, Trace: r.Trace, TraceID: r.TraceID(), Batch: r.Batch,
		Created: time.UnixMilli(r.CreatedMS).UTC(), Quarantined: r.Quarantined && r.Aside == "", Aside: r.Aside,
	}
	switch {
	case r.Held():
		v.State = Held
	case s.Result != "":
		v.State = Ended
	}
	if s.TransactionID != 0 {
		v.Transaction = strconv.FormatInt(s.TransactionID, 10)
	}
	return v
}

// SalesSchema is that of a list.
const SalesSchema = "posagent.sales/1"

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
	v := Sales{Schema: SalesSchema, Sales: make([]Sale, len(rows))}
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

// Document is the sale as the whole answer.
func (t Timeline) Document() Alone {
	v := Alone{t.Sale, t.Sale}
	v.Schema, v.Timeline = t.Schema, t.Timeline
	return v
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
