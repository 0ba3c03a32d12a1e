package jsonl

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
)

// defaultWidth is how many characters a receipt line has where hello says nothing.
const defaultWidth = 32

func (d *Dialogue) head() receipt.Head {
	return receipt.Head{MerchantName: d.cfg.MerchantName, Language: d.language(d.ask.msg)}
}

// language is that of the request, or else the terminal's.
func (d *Dialogue) language(m message) string { return cmp.Or(m.language, d.cfg.Language) }

// papers are the receipts of an approved sale.
func (d *Dialogue) papers(out ecr.Outcome) *papers {
	cur := d.currency
	if other, ok := money.Lookup(out.Currency); ok {
		cur = other
	}
	p := &papers{Customer: d.layOut(receipt.Sale(d.head(), cur, out, receipt.Customer, false))}
	if out.MerchantCopy {
		p.Merchant = d.layOut(receipt.Sale(d.head(), cur, out, receipt.Merchant, false))
	}
	return p
}

func (d *Dialogue) totalsPaper(t ecr.Totals, closed bool) []string {
	return d.layOut(receipt.Totals(d.head(), d.currency, t, receipt.Day{Closing: closed, Batch: true}))
}

// layOut breaks the lines of a receipt to the width of the register's printer.
func (d *Dialogue) layOut(lines []receipt.Line) []string {
	width := cmp.Or(d.width, defaultWidth)
	out := []string{}
	for _, l := range lines {
		gap := width - utf8.RuneCountInString(l.Text) - utf8.RuneCountInString(l.Right)
		switch {
		case l.Kind == receipt.Pair && gap > 0:
			out = append(out, l.Text+strings.Repeat(" ", gap)+l.Right)
		case l.Kind == receipt.Centre && gap > 0:
			out = append(out, strings.Repeat(" ", gap/2)+l.Text)
		default:
			out = wrap(out, l.Text, width)
			if l.Right != "" {
				out = wrap(out, strings.Repeat(" ", max(0, width-utf8.RuneCountInString(l.Right)))+l.Right, width)
			}
		}
	}
	return out
}

// wrap appends a text in lines of at most width, broken at a blank where there is one.
func wrap(out []string, text string, width int) []string {
	runes := []rune(text)
	for len(runes) > width {
		end := width
		for end > 0 && runes[end] != ' ' {
			end--
		}
		if strings.TrimSpace(string(runes[:end])) == "" {
			end = width
		}
		out = append(out, strings.TrimRight(string(runes[:end]), " "))
		runes = []rune(strings.TrimLeft(string(runes[end:]), " "))
	}
	return append(out, string(runes))
}
