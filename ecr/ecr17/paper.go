package ecr17

import (
	"fmt"
	"strings"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
)

// Layout of receipts.
const (
	columns   = 24
	maxTicket = 200 // characters of one message
	newLine   = "\x7D"
	bigLine   = "\x7F" // new line, double height and bold
	lastLines = "\x7D\x7D\x7D\x7D\x7D\x7D\x1B"
)

// papers are the receipts of an approved sale as messages S, in their order.
func (d *Dialogue) papers(terminal string, out ecr.Outcome) [][]byte {
	cur := d.currency
	if other, ok := money.Lookup(out.Currency); ok {
		cur = other
	}
	head := receipt.Head{MerchantName: d.cfg.MerchantName, Language: d.cfg.Language}
	lines := receipt.Sale(head, cur, out, receipt.Customer, false)
	if out.MerchantCopy {
		lines = append(append(lines, receipt.Line{}), receipt.Sale(head, cur, out, receipt.Merchant, false)...)
	}
	var list [][]byte
	text := ""
	flush := func(more string) {
		list = append(list, fmt.Appendf(nil, "%s0S%s%s", terminal, text, more))
		text = ""
	}
	for _, l := range lines {
		piece := layOut(l)
		if len(text)+len(piece)+len(lastLines) > maxTicket {
			flush("")
		}
		text += piece
	}
	flush(lastLines)
	return list
}

// layOut writes a line of a receipt in lines of 24 columns.
func layOut(l receipt.Line) string {
	left, right := ascii(l.Text), ascii(l.Right)
	mark := newLine
	if l.Amount {
		mark = bigLine
	}
	gap := columns - len(left) - len(right)
	switch {
	case l.Kind == receipt.Pair && gap > 0:
		left += strings.Repeat(" ", gap) + right
	case l.Kind == receipt.Pair:
		return layOut(receipt.Line{Text: l.Text}) + layOut(receipt.Line{Kind: receipt.Pair, Text: strings.Repeat(" ", max(0, columns-1-len(right))), Right: cut(right)})
	case l.Kind == receipt.Centre && gap > 0:
		left = strings.Repeat(" ", gap/2) + left
	}
	text := ""
	for first := true; first || left != ""; first = false {
		n := min(columns, len(left))
		text += mark + left[:n]
		left = left[n:]
	}
	return text
}

// cut is a text that leaves room in a line.
func cut(text string) string { return text[:min(len(text), columns-1)] }
