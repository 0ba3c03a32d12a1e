// Package money holds amounts and currencies: integer minor units, the table of ISO 4217, and the
// hundredths of S1 2.4. It converts them here and nowhere else, and never uses a float.
//
// It guarantees that each conversion and each sum is exact or refused. No amount is rounded and no
// amount wraps around.
//
// It must not import anything but the standard library.
package money
