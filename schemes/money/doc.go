// Package money holds amounts and currencies: integer minor units, the ISO 4217 table, and the
// hundredths of S1 2.4, converted here and nowhere else. Never a float.
//
// Guarantees: every conversion and sum is exact or refused; nothing is rounded, nothing wraps around.
//
// It imports the standard library only.
package money
