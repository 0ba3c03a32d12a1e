package money

import "strings"

// specials are the special currencies that S0 2.4 counts among its codes.
const specials = "XDR UYI CHW CLF COU MXV CHE"

// Nameable says whether a request of S0 may name the currency: every payable one, and the special ones of S0 2.4. Money
// moves only in payable ones (Currency.Payable).
func Nameable(code string) bool {
	cur, ok := Lookup(code)
	return ok && (cur.Payable() || strings.Contains(specials, code))
}
