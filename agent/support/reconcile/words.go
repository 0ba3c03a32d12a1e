package reconcile

import (
	"fmt"
	"strings"
	"unicode"

	"posagent/schemes/money"
)

// What names the sale of a finding for a person: kind, amount, receipt and time.
func (f Finding) What() string {
	if j := f.Journal; j != nil {
		receipt := "-"
		if j.Receipt != 0 {
			receipt = fmt.Sprint(j.Receipt)
		}
		return fmt.Sprintf("%s of %s %s, receipt %s, %s", j.Kind, amountText(j.Amount, j.Currency), j.Currency, receipt, j.Created.Local().Format("2006-01-02 15:04:05"))
	}
	return fmt.Sprintf("%s of %s %s", f.Row.Type, amountText(f.Row.Amount, f.Row.Currency), f.Row.Currency)
}

// Says is what till, journal and backend say, on one line.
func (f Finding) Says() string {
	return "till: " + f.tillSays() + "; journal: " + f.journalSaid() + "; backend: " + f.Backend.text()
}

func (f Finding) tillSays() string {
	switch r := f.Row; {
	case r == nil:
		return "not in its list"
	case r.Paid:
		return fmt.Sprintf("line %d, %s, paid", r.Line, amountText(r.Amount, r.Currency))
	default:
		return fmt.Sprintf("line %d, %s, not paid", r.Line, amountText(r.Amount, r.Currency))
	}
}

func (f Finding) journalSaid() string {
	if f.Journal == nil {
		return "no such sale"
	}
	return f.Journal.Says + " (" + string(f.Journal.Sale) + ")"
}

func (b BackendSays) text() string {
	text := b.Says
	if b.State != "" {
		text += " (" + strings.TrimSpace(plain(b.State+" "+b.AccountState)) + ")"
	}
	if b.Undone {
		text += ", given back"
	}
	if b.Why != "" {
		text += ": " + plain(b.Why)
	}
	if text == "" {
		text = "not asked"
	}
	return text
}

// amountText writes an amount without its currency, "12.50"; an unknown currency shows minor units.
func amountText(minor int64, currency string) string {
	c, ok := money.Lookup(currency)
	text := money.FormatNumber(money.Minor(minor), c)
	if !ok && minor != 0 {
		text += " minor units"
	}
	return text
}

// plain is a text from outside without what a screen would obey.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsGraphic(r) {
			return '.'
		}
		return r
	}, s)
}
