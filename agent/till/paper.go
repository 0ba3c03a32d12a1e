package till

import (
	"strings"
	"unicode/utf8"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
)

// columns is how wide a receipt is as plain text.
const columns = 42

// receipts are those of an outcome, in a language.
func (t *Till) receipts(out ecr.Outcome, language string) *Receipts {
	cur, ok := money.Lookup(out.Currency)
	if !ok {
		return nil
	}
	head := receipt.Head{MerchantName: t.o.MerchantName, Language: language}
	out.Time, out.Repeat = out.Time.Local(), false // asked for again it is the same receipt
	compose := func(which receipt.Copy) Receipt {
		lines := receipt.Sale(head, cur, out, which, false)
		r := Receipt{Lines: make([]Line, len(lines))}
		for i, l := range lines {
			r.Lines[i] = Line{l.Text, l.Right, l.Kind == receipt.Centre, l.Amount || i == 0}
			r.Text += laid(l) + "\n"
		}
		if t.o.Print != nil {
			data, err := t.o.Print(lines)
			if err != nil {
				t.o.Log.Warn("receipt not composed", "sale", out.Sale, "err", err)
			}
			r.ESCPOS = data
		}
		return r
	}
	return &Receipts{Customer: compose(receipt.Customer), Merchant: compose(receipt.Merchant), MerchantPrinted: out.MerchantCopy}
}

// laid lays a line out on plain paper. One that is too long stays whole.
func laid(l receipt.Line) string {
	n := columns - utf8.RuneCountInString(l.Text) - utf8.RuneCountInString(l.Right)
	switch {
	case l.Kind == receipt.Pair:
		return l.Text + strings.Repeat(" ", max(1, n)) + l.Right
	case l.Kind == receipt.Centre && l.Text != "":
		return strings.Repeat(" ", max(0, n/2)) + l.Text
	}
	return l.Text
}
