package zvt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// Result is what the terminal said to one command.
type Result struct {
	Command   string `json:"command"` // e.g. "authorisation"
	Approved  bool   `json:"approved"`
	Refused   bool   `json:"refused,omitempty"`   // 84 xx instead of 80 00; Code is xx
	Completed bool   `json:"completed,omitempty"` // 06 0F came
	Aborted   bool   `json:"aborted,omitempty"`   // 06 1E came
	Told      bool   `json:"told,omitempty"`      // a 04 0F came and was answered 80 00
	Code      byte   `json:"code"`                // 0 = ok; of 84 xx, 06 1E or 04 0F, in this order of weight
	CodeText  string `json:"codeText,omitempty"`

	Amount        money.Minor `json:"amount,omitempty"`
	Currency      int         `json:"currency,omitempty"` // numeric ISO 4217; only if the terminal sent it
	Receipt       int         `json:"receipt,omitempty"`
	Trace         int         `json:"trace,omitempty"`
	OriginalTrace int         `json:"originalTrace,omitempty"`
	CardType      int         `json:"cardType,omitempty"`
	CardName      string      `json:"cardName,omitempty"`
	TerminalID    string      `json:"terminalId,omitempty"`
	Time          string      `json:"time,omitempty"` // "11-21 14:05:09", as the terminal sent it
	Text          string      `json:"text,omitempty"` // BMP 3C
	TransactionID string      `json:"transactionId,omitempty"`

	Intermediate []string     `json:"intermediate,omitempty"` // one line per 04 FF
	Printed      []string     `json:"printed,omitempty"`      // receipt lines
	Totals       *apdu.Totals `json:"totals,omitempty"`       // BMP 60
	Version      string       `json:"version,omitempty"`      // of a status enquiry
	Status       byte         `json:"status,omitempty"`       // of a status enquiry or a registration
	Sequence     int          `json:"sequence,omitempty"`     // TLV 1F73 of the last message
}

// Code bytes a register meets often.
const (
	CodeOK           byte = 0x00
	CodeAborted      byte = 0x6C
	CodeWait         byte = 0x9C
	CodeBusy         byte = 0xA0
	CodeImpossible   byte = 0x83
	CodeNotReversed  byte = 0xB5
	CodeWrongMoney   byte = 0x6F
	CodeGoodsFailed  byte = 0x66
	CodePartialGoods byte = 0x9D
)

// OK reports a command that was carried out: acknowledged, and neither refused nor aborted nor with a code.
func (r Result) OK() bool { return !r.Refused && !r.Aborted && r.Code == CodeOK }

// status takes over a 04 0F. What an earlier one of the same command said is forgotten.
func (r *Result) status(m apdu.Message, cs apdu.Charset) {
	r.Code, r.Approved = CodeOK, false
	if code, ok := m.Result(); ok {
		r.Code, r.Approved = code, code == CodeOK
	}
	r.CodeText = apdu.ResultName(r.Code)
	minor, _, err := m.Amount()
	if err != nil {
		r.Approved = false // an amount that is no number cannot be an approval
	}
	r.Amount = money.Minor(minor)
	r.Currency, _ = m.Currency()
	r.Receipt, _ = m.Receipt()
	r.Trace, _ = m.Trace()
	r.OriginalTrace, _ = m.OriginalTrace()
	r.CardType, _ = m.CardType()
	r.CardName, _ = m.Text(0x8B, cs)
	r.Text, _ = m.Text(0x3C, cs)
	r.terminal(m)
	_, month, day, okDate := m.Date()
	hour, minute, second, okTime := m.Time()
	r.Time = ""
	if okDate && okTime {
		r.Time = fmt.Sprintf("%02d-%02d %02d:%02d:%02d", month, day, hour, minute, second)
	}
	if t, ok := m.FindTLV(0x1F8010); ok {
		r.TransactionID = cs.Decode(t.Value)
	}
	if v, ok := m.BMP(0x60); ok {
		if t, ok := apdu.ParseTotals(v); ok {
			r.Totals = &t
		}
	}
}

func (r *Result) terminal(m apdu.Message) {
	if id, ok := m.TerminalID(); ok {
		r.TerminalID = id
	}
}

// intermediate takes over a 04 FF and returns its line.
func (r *Result) intermediate(m apdu.Message, cs apdu.Charset) string {
	status, _, _ := m.IntermediateStatus()
	line := fmt.Sprintf("%02X %s", status, apdu.StatusName(status))
	if t, ok := m.FindTLV(0x24); ok {
		var texts []string
		for _, c := range t.Children {
			if c.Tag == 0x07 {
				texts = append(texts, cs.Decode(c.Value))
			}
		}
		line = fmt.Sprintf("%02X %s", status, strings.Join(texts, " "))
	}
	r.Intermediate = append(r.Intermediate, strings.TrimSpace(line))
	return r.Intermediate[len(r.Intermediate)-1]
}

// printed takes over a 06 D1 or 06 D3.
func (r *Result) printed(m apdu.Message, cs apdu.Charset) {
	if attr, text, ok := m.Line(); ok {
		if attr == 0xFF {
			return // line feeds
		}
		if attr < 0x81 || len(text) > 0 {
			r.Printed = append(r.Printed, cs.Decode(text))
		}
		return
	}
	if t, ok := m.FindTLV(0x25); ok {
		for _, c := range t.Children {
			if c.Tag == 0x07 {
				r.Printed = append(r.Printed, cs.Decode(c.Value))
			}
		}
	}
}

var transactionLine = regexp.MustCompile(`(?i)^\s*(?:transaktion|transaction)\S*\s*(\S*)\s*$`)

// finish fills in what is only known at the end.
func (r *Result) finish() {
	lines := append(slices.Clone(r.Printed), strings.FieldsFunc(r.Text, func(c rune) bool { return c == '\n' || c == '\r' })...)
	for i, line := range lines {
		if r.TransactionID != "" {
			break
		}
		if g := transactionLine.FindStringSubmatch(line); g != nil {
			r.TransactionID = g[1]
			if g[1] == "" && i+1 < len(lines) {
				r.TransactionID = strings.TrimSpace(lines[i+1])
			}
		}
	}
	r.Approved = r.Approved && r.Told && !r.Aborted && !r.Refused
	if r.Code != CodeOK {
		r.CodeText = apdu.ResultName(r.Code)
	}
}
