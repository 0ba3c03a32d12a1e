package jsonl

import (
	"encoding/json"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// answer is a line of the terminal. The keys that are there say which one it is.
type answer struct {
	ID string `json:"id,omitempty"`

	Accepted bool     `json:"accepted,omitempty"`
	Step     ecr.Step `json:"step,omitempty"`

	Outcome  ecr.Result `json:"outcome,omitempty"`
	Settling bool       `json:"settling,omitempty"`
	Repeat   bool       `json:"repeat,omitempty"`
	Code     ecr.Code   `json:"code,omitempty"`
	Text     string     `json:"text,omitempty"`
	*details

	Acknowledged bool `json:"acknowledged,omitempty"`

	Abort string `json:"abort,omitempty"`

	Hello  *terminal `json:"hello,omitempty"`
	Status *terminal `json:"status,omitempty"`

	Totals *totalsAnswer `json:"totals,omitempty"`

	Notice string `json:"notice,omitempty"`

	Error *fault `json:"error,omitempty"`
}

// Results that this protocol has beside those of a sale.
const (
	refused  ecr.Result = "refused"   // this message has begun nothing
	notFound ecr.Result = "not_found" // there is no such sale, and there will be none
)

// details are what is known of a sale.
type details struct {
	Of            string      `json:"of,omitempty"` // the sale's own id, where last asked for it
	Kind          ecr.Kind    `json:"kind"`
	Amount        money.Minor `json:"amount"`
	Currency      string      `json:"currency,omitempty"`
	Receipt       int         `json:"receipt,omitempty"`
	Trace         int         `json:"trace,omitempty"`
	OriginalTrace int         `json:"originalTrace,omitempty"`
	Transaction   string      `json:"transaction,omitempty"`
	Method        string      `json:"method,omitempty"`
	Label         string      `json:"label,omitempty"`
	Time          string      `json:"time,omitempty"`
	Terminal      string      `json:"terminal,omitempty"`
	Sale          string      `json:"sale,omitempty"` // the terminal's id of the sale
	ReceiptLines  *papers     `json:"receiptLines,omitempty"`
}

type papers struct {
	Customer []string `json:"customer,omitempty"`
	Merchant []string `json:"merchant,omitempty"`
}

// terminal is what hello and status tell of the terminal.
type terminal struct {
	Protocol  string   `json:"protocol"`
	Terminal  string   `json:"terminal"`
	Currency  string   `json:"currency"`
	Version   string   `json:"version,omitempty"`
	Sandbox   bool     `json:"sandbox"`
	Ready     bool     `json:"ready"`
	Busy      bool     `json:"busy"`
	Offline   bool     `json:"offline"`
	NoMethods bool     `json:"noMethods"`
	Till      string   `json:"till,omitempty"`
	Can       []string `json:"can,omitempty"`
}

// totalsAnswer is an end of day, or a turnover.
type totalsAnswer struct {
	Closed       bool        `json:"closed"`
	Batch        int         `json:"batch"`
	FirstReceipt int         `json:"firstReceipt,omitempty"`
	LastReceipt  int         `json:"lastReceipt,omitempty"`
	Time         string      `json:"time,omitempty"`
	Currency     string      `json:"currency"`
	Count        int         `json:"count"`
	Net          money.Minor `json:"net"`
	Methods      []byMethod  `json:"methods"`
	Exceptions   []string    `json:"exceptions,omitempty"`
	ReceiptLines []string    `json:"receiptLines"`
}

type byMethod struct {
	Method     string      `json:"method,omitempty"`
	Label      string      `json:"label,omitempty"`
	Currency   string      `json:"currency,omitempty"`
	Payments   int         `json:"payments"`
	PaymentSum money.Minor `json:"paymentSum"`
	Refunds    int         `json:"refunds"`
	RefundSum  money.Minor `json:"refundSum"`
}

func encode(a answer) []byte {
	data, err := json.Marshal(a)
	if err != nil {
		return nil // cannot happen: plain data
	}
	return data
}

// Damaged is the answer to a line whose bytes were not those that the register sent.
func Damaged(text string) []byte { return encode(answer{Error: &fault{Code: "damaged", Text: text}}) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// outcomeAnswer is the outcome of the running request.
func (d *Dialogue) outcomeAnswer() answer {
	out := d.ask.outcome
	a := answer{
		ID: d.ask.msg.id, Outcome: out.Result, Settling: out.Settling, Repeat: out.Repeat, Code: out.Code, Text: out.Text,
		details: &details{
			Kind: out.Kind, Amount: out.Amount, Currency: out.Currency, Receipt: out.Receipt, Trace: out.Trace, OriginalTrace: out.OriginalTrace,
			Transaction: out.TransactionID, Method: out.Method, Label: out.Label, Time: stamp(out.Time), Terminal: out.TerminalID, Sale: out.Sale,
		},
	}
	if d.ask.msg.op == last {
		a.Of = out.Sequence
	}
	if out.Result == ecr.Approved {
		a.ReceiptLines = d.papers(out)
	}
	return a
}

// terminalAnswer is what hello and status tell.
func (d *Dialogue) terminalAnswer(m message, h ecr.Health) answer {
	t := &terminal{
		Protocol: protocolID, Terminal: d.cfg.TerminalID, Currency: d.currency.Alpha, Version: d.cfg.Version, Sandbox: d.cfg.Sandbox,
		Ready: h.Ready, Busy: h.Busy, Offline: h.Offline, NoMethods: h.NoMethods, Till: d.till,
	}
	if m.op != hello {
		return answer{ID: m.id, Status: t}
	}
	for o := sale; o < ops; o++ {
		if o != health {
			t.Can = append(t.Can, opNames[o])
		}
	}
	return answer{ID: m.id, Hello: t}
}

func (d *Dialogue) totalsAnswer(t ecr.Totals, closed bool) *totalsAnswer {
	a := &totalsAnswer{
		Closed: closed, Batch: t.Batch, FirstReceipt: t.FirstReceipt, LastReceipt: t.LastReceipt, Time: stamp(t.Time), Currency: t.Currency,
		Count: t.Count, Net: t.Net, Methods: []byMethod{}, Exceptions: t.Exceptions, ReceiptLines: d.totalsPaper(t, closed),
	}
	for _, m := range t.Methods {
		a.Methods = append(a.Methods, byMethod{m.Method, m.Label, m.Currency, m.Payments, m.PaymentSum, m.Refunds, m.RefundSum})
	}
	return a
}
