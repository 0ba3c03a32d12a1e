package money

import "strings"

// specials are the special currencies that S0 2.4 counts among its codes, and the other fund codes of ISO 4217.
const specials = "XDR UYI CHW CLF COU MXV CHE BOV USN UYW"

// Nameable says whether a request of S0 may name the currency: every payable one, the special ones of S0 2.4 and the fund codes. Money
// moves only in payable ones (Currency.Payable).
func Nameable(code string) bool {
	cur, ok := Lookup(code)
	return ok && (cur.Payable() || strings.Contains(specials, code))
}
