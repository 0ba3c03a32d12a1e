package journal

import (
	"fmt"

	"posagent/agent/checkout"
	"posagent/schemes/money"
	"posagent/store"
)

// OtherCurrencyError is the answer to a currency that is not the one of the open batch (MONEY D.15).
type OtherCurrencyError struct {
	Batch    int
	Was, Now string
	Sales    int // of Was: with a receipt in the batch, or on their way to one
}

func (e *OtherCurrencyError) Error() string {
	return fmt.Sprintf("the open batch %d has %d sale(s) in %s, and a batch has one currency: it cannot go on in %s", e.Batch, e.Sales, e.Was, e.Now)
}

// keptCurrency is the counter with the currency that the journal was started with last, by its
// number.
const keptCurrency = "currency"

// FitsCurrency returns nil where the open batch may go on in a currency; else *OtherCurrencyError. It
// may in the one that it was started with last, whatever it has.
func FitsCurrency(r store.Reader, currency string) error {
	now, _ := money.Lookup(currency)
	kept, err := counter(r, keptCurrency, 0)
	if err != nil || kept == int64(now.Numeric) {
		return err
	}
	open, err := Batch(r)
	if err != nil {
		return err
	}
	rows, err := many(nil, r, `batch = ? AND receipt != 0 ORDER BY id`, open)
	if err != nil {
		return err
	}
	going, err := many(nil, r, active+` AND receipt = 0 ORDER BY checkout_sales.id`)
	if err != nil {
		return err
	}
	for _, row := range going {
		if checkout.Open(row.State) || checkout.Running(row.State) && !row.State.Excepted { // what is in doubt outlasts the day
			rows = append(rows, row)
		}
	}
	no := OtherCurrencyError{Batch: open, Now: currency}
	for _, row := range rows {
		switch {
		case row.Currency == currency && kept == 0: // an older program took both
			return nil
		case row.Currency == currency:
			continue
		case no.Was == "":
			no.Was = row.Currency
		}
		if row.Currency == no.Was {
			no.Sales++
		}
	}
	if no.Sales == 0 {
		return nil
	}
	return &no
}

// KeepCurrency notes, at a start, the currency that the open batch goes on in. *OtherCurrencyError.
func KeepCurrency(tx store.Tx, currency string) error {
	if err := FitsCurrency(tx, currency); err != nil {
		return err
	}
	c, _ := money.Lookup(currency)
	kept, err := counter(tx, keptCurrency, 0)
	if err != nil || kept == int64(c.Numeric) {
		return err
	}
	return setCounter(tx, keptCurrency, int64(c.Numeric))
}
