package till

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// debit is a payment over Caisse-AP.
type debit struct {
	Till     string // CA
	Amount   int64  // minor units
	Currency uint16 // ISO 4217 numeric
}

// request is the message that asks for it.
func (d debit) request() string {
	amount := strconv.FormatInt(d.Amount, 10)
	return fmt.Sprintf("CZ0040300CJ012012345678901CA%03d%sCE003%03dBF0010CD0010CB%03d%s", len(d.Till), d.Till, d.Currency, len(amount), amount)
}

// Errors of reading.
var (
	errPart    = errors.New("an answer that is not whole")
	errForeign = errors.New("an answer to another request")
)

// fieldsOf takes an answer apart: two letters, three digits, the value. errPart.
func fieldsOf(text string) (map[string]string, error) {
	got := map[string]string{}
	for text != "" {
		if len(text) < 5 {
			return nil, errPart
		}
		n, err := strconv.Atoi(text[2:5])
		if err != nil || n < 1 || len(text) < 5+n {
			return nil, errPart
		}
		got[text[:2]], text = text[5:5+n], text[5+n:]
	}
	return got, nil
}

// answered compares the echoes of an answer with the payment, and returns its amount, in minor units.
// errForeign.
func (d debit) answered(got map[string]string) (amount int64, err error) {
	amount, err = strconv.ParseInt(strings.TrimLeft(got["CB"], "0 "), 10, 64)
	if err != nil || got["CA"] != d.Till || got["CD"] != "0" || got["CE"] != fmt.Sprintf("%03d", d.Currency) {
		return 0, errForeign
	}
	return amount, nil
}
