package salesapi

import (
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
			r.Lines[i] = Line{Text: l.Text, Right: l.Right, Centre: l.Kind == receipt.Centre, Bold: l.Amount || i == 0}
			r.Text += l.Laid(columns) + "\n"
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
