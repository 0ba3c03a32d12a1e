package printqueue

import (
	"context"
	"fmt"
	"strconv"

	"posagent/device/printer"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// compose reads what a document says now. It fails with the errors of Books.
func (p *Paper) compose(ctx context.Context, w waiting) (printer.Document, error) {
	if w.what == ofText {
		return p.text(w)
	}
	if w.what == ofTest {
		return testPage(p.o.Head.Language), nil
	}
	if w.what == ofDay {
		batch, err := strconv.Atoi(w.name)
		if err != nil {
			return printer.Document{}, fmt.Errorf("batch %q: %w", w.name, err)
		}
		t, err := p.o.Books.Report(ctx, batch)
		if err != nil {
			return printer.Document{}, err
		}
		t.Time = t.Time.Local()
		return p.document(receipt.Totals(p.o.Head, p.currency(t.Currency), t, receipt.Day{Closing: true, Batch: true, Again: w.again}), ""), nil
	}
	out, err := p.o.Books.Receipt(ctx, wire.Key(w.name))
	if err != nil {
		return printer.Document{}, err
	}
	return p.document(receipt.Sale(p.o.Head, p.currency(out.Currency), out, w.copy, w.again), reference(out)), nil
}

func (p *Paper) currency(code string) money.Currency {
	if c, ok := money.Lookup(code); ok {
		return c
	}
	c, _ := money.Lookup(p.o.Currency)
	return c
}

// reference is what a register names a payment by when it is refunded, as TLV 1F0D and ecr.Request take it: its receipt with the batch,
// and the backend's transaction after a blank. "" = nothing can be refunded.
func reference(out ecr.Outcome) string {
	if out.Kind != ecr.Payment || out.Result != ecr.Approved || out.Receipt == 0 || out.Batch == 0 {
		return ""
	}
	ref := fmt.Sprintf("R%d/%d", out.Batch, out.Receipt)
	if out.TransactionID != "" {
		ref += " T" + out.TransactionID
	}
	return ref
}

func (p *Paper) document(lines []receipt.Line, code string) printer.Document {
	return Document(lines, code, p.o.Sandbox)
}

// Document sets the lines of a receipt, which ends with a code, where there is one, and a cut. In short it says the amount, what became of it,
// and the code.
func Document(lines []receipt.Line, code string, sandbox bool) (d printer.Document) {
	add := func(l printer.Line) { d.Lines = append(d.Lines, l) }
	if sandbox {
		add(printer.Line{Text: "SANDBOX", Align: printer.Centre, Bold: true})
	}
	for i, l := range lines {
		switch {
		case l.Kind == receipt.Pair:
			add(printer.Line{Kind: printer.Pair, Text: l.Text, Right: l.Right, Bold: l.Amount})
			if l.Amount {
				d.Short = append(d.Short, printer.Line{Kind: printer.Pair, Text: l.Text, Right: l.Right, Bold: true})
			}
		case l.Kind == receipt.Centre && l.Text != "":
			add(printer.Line{Text: l.Text, Align: printer.Centre, Bold: i == 0})
			if i == len(lines)-1 { // what became of it
				d.Short = append(d.Short, printer.Line{Text: l.Text, Align: printer.Centre})
			}
		case l.Text == "":
			add(printer.Line{Kind: printer.Feed, Lines: 1})
		default:
			add(printer.Line{Text: l.Text})
		}
	}
	if code != "" {
		add(printer.Line{Kind: printer.Feed, Lines: 1})
		add(printer.Line{Kind: printer.Code, Text: code})
		add(printer.Line{Text: code, Align: printer.Centre})
		d.Short = append(d.Short, printer.Line{Text: code, Align: printer.Centre})
	}
	add(printer.Line{Kind: printer.Cut})
	return d
}
