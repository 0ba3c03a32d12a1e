package view

import (
	"time"

	"posagent/ecr"
)

// ClosedDay is what an end of day came to (posagent.day/1). Its fields are named as those of a register
// that speaks JSON lines.
type ClosedDay struct {
	Schema       string      `json:"schema"`
	Batch        int         `json:"batch"`
	FirstReceipt int         `json:"firstReceipt,omitempty"`
	LastReceipt  int         `json:"lastReceipt,omitempty"`
	Time         time.Time   `json:"time"`
	Currency     string      `json:"currency"`
	Count        int         `json:"count"`
	Net          int64       `json:"net"` // minor units
	Methods      []DayMethod `json:"methods"`
	Exceptions   []string    `json:"exceptions"` // what the merchant has to know, one line each
}

// DayMethod is what a method's sales came to in one currency.
type DayMethod struct {
	Method     string `json:"method"`
	Label      string `json:"label"`
	Currency   string `json:"currency"`
	Payments   int    `json:"payments"`
	PaymentSum int64  `json:"paymentSum"`
	Refunds    int    `json:"refunds"` // reversals too
	RefundSum  int64  `json:"refundSum"`
}

// ClosedDayOf makes the view of totals.
func ClosedDayOf(t ecr.Totals) ClosedDay {
	v := ClosedDay{
		Schema: "posagent.day/1", Batch: t.Batch, FirstReceipt: t.FirstReceipt, LastReceipt: t.LastReceipt, Time: t.Time.UTC().Truncate(time.Millisecond),
		Currency: t.Currency, Count: t.Count, Net: int64(t.Net), Methods: []DayMethod{}, Exceptions: append([]string{}, t.Exceptions...),
	}
	for _, m := range t.Methods {
		v.Methods = append(v.Methods, DayMethod{m.Method, m.Label, m.Currency, m.Payments, int64(m.PaymentSum), m.Refunds, int64(m.RefundSum)})
	}
	return v
}
