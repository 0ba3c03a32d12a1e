package receipt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Kind says how a Line stands on the paper.
type Kind int

// The kinds of line.
const (
	Left   Kind = iota // Text
	Centre             // Text
	Pair               // Text at the left, Right at the right
)

// Line is one line of a receipt. It is not broken to the width of a paper yet.
type Line struct {
	Kind        Kind
	Text, Right string
	Amount      bool // the line that the paper is about
}

// Laid is the line on plain paper of so many columns. One that is too long stays whole.
func (l Line) Laid(columns int) string {
	n := columns - utf8.RuneCountInString(l.Text) - utf8.RuneCountInString(l.Right)
	switch {
	case l.Kind == Pair:
		return l.Text + strings.Repeat(" ", max(1, n)) + l.Right
	case l.Kind == Centre && l.Text != "":
		return strings.Repeat(" ", max(0, n/2)) + l.Text
	}
	return l.Text
}

// Copy says for whom a receipt is.
type Copy string

// The copies.
const (
	Customer Copy = "customer"
	Merchant Copy = "merchant"
)

// Head is what stands on each receipt of a terminal.
type Head struct {
	MerchantName string
	Language     string
}

// Sale returns the lines of one receipt of an outcome. again marks it as a copy, as out.Repeat does.
// cur is the outcome's currency.
func Sale(h Head, cur money.Currency, out ecr.Outcome, which Copy, again bool) []Line {
	w := WordsFor(h.Language)
	lines := []Line{centre(h.MerchantName)}
	if which == Merchant {
		lines = append(lines, centre(w.Merchant))
	} else {
		lines = append(lines, centre(w.Customer))
	}
	if again || out.Repeat {
		lines = append(lines, centre(w.Copy))
	}
	name, done := w.Payment, w.Approved
	switch out.Kind {
	case ecr.Refund:
		name, done = w.Refund, w.Refunded
	case ecr.Reversal:
		name, done = w.Reversal, w.Reversed
	}
	result := map[ecr.Result]string{ecr.Approved: done, ecr.Declined: w.Declined, ecr.InProgress: w.Running}[out.Result]
	if result == "" {
		result = w.Aborted
	}
	lines = append(lines, Line{}, pair(w.Terminal, out.TerminalID))
	if out.Receipt > 0 {
		lines = append(lines, pair(w.Receipt, number(out.Receipt)))
	}
	if out.Trace > 0 {
		lines = append(lines, pair(w.Trace, fmt.Sprintf("%06d", out.Trace)))
	}
	if out.OriginalTrace > 0 {
		lines = append(lines, pair(w.Original, fmt.Sprintf("%06d", out.OriginalTrace)))
	}
	if !out.Time.IsZero() {
		lines = append(lines, pair(out.Time.Format("02.01.2006"), out.Time.Format("15:04:05")))
	}
	if l := Label(out); l != "" {
		lines = append(lines, Line{Text: l})
	}
	amount := pair(name, money.FormatIn(h.Language, out.Amount, cur))
	amount.Amount = true
	lines = append(lines, Line{}, amount, Line{})
	if out.TransactionID != "" {
		lines = append(lines, pair(w.Transaction, out.TransactionID))
	}
	if out.Payer != "" {
		lines = append(lines, pair(w.Payer, out.Payer))
	}
	for _, id := range out.Loyalty {
		lines = append(lines, pair(w.Loyalty, id))
	}
	if out.Info != "" {
		lines = append(lines, Line{Text: out.Info})
	}
	if out.Text != "" {
		lines = append(lines, Line{Text: out.Text})
	}
	return append(lines, centre(result))
}

// Day says what the totals are of.
type Day struct {
	Closing bool // the batch was closed; else it is a turnover
	Batch   bool // the number of the batch stands among the lines
	Again   bool // the lines are marked as a copy
}

// Totals returns the lines of an end of day or a turnover. cur is the terminal's currency.
func Totals(h Head, cur money.Currency, t ecr.Totals, of Day) []Line {
	w := WordsFor(h.Language)
	title := w.Turnover
	if of.Closing {
		title = w.EndOfDay
	}
	lines := []Line{centre(h.MerchantName), centre(title)}
	if of.Again {
		lines = append(lines, centre(w.Copy))
	}
	lines = append(lines, Line{})
	if of.Batch {
		lines = append(lines, pair(w.Batch, fmt.Sprint(t.Batch)))
	}
	if !t.Time.IsZero() {
		lines = append(lines, pair(t.Time.Format("02.01.2006"), t.Time.Format("15:04:05")))
	}
	lines = append(lines, pair(w.Receipt, number(t.FirstReceipt)+" - "+number(t.LastReceipt)), Line{})
	for _, one := range t.Methods {
		c := cur
		if other, ok := money.Lookup(one.Currency); ok {
			c = other
		}
		name := one.Label
		if name == "" {
			name = one.Method
		}
		lines = append(lines, Line{Text: name},
			pair(fmt.Sprintf(" %s %d", w.Payments, one.Payments), money.FormatIn(h.Language, one.PaymentSum, c)))
		if one.Refunds > 0 {
			lines = append(lines, pair(fmt.Sprintf(" %s %d", w.Refunds, one.Refunds), money.FormatIn(h.Language, -one.RefundSum, c)))
		}
	}
	total := pair(w.Total, money.FormatIn(h.Language, t.Net, cur))
	total.Amount = true
	lines = append(lines, Line{}, pair(w.Count, fmt.Sprint(t.Count)), total)
	if of.Closing { // the day belongs to the terminal, whichever register ends it
		lines = append(lines, Line{Text: w.AllRegisters})
	}
	for _, e := range t.Exceptions {
		lines = append(lines, Line{Text: "! " + e})
	}
	return lines
}

// Label is what people call the method of an outcome; "" where it has none.
func Label(out ecr.Outcome) string {
	if out.Label != "" {
		return out.Label
	}
	return ecr.CardName(out.Method)
}

func number(n int) string { return fmt.Sprintf("%04d", n) }

func centre(text string) Line { return Line{Kind: Centre, Text: text} }

func pair(left, right string) Line { return Line{Kind: Pair, Text: left, Right: right} }
