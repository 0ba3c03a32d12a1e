package money

// Minor is an amount in minor units of its currency (1250 EUR = 12.50 EUR). Never a float.
type Minor int64

// Currency is one ISO 4217 entry.
type Currency struct {
	Alpha    string // "EUR"
	Numeric  uint16 // 978
	Exponent uint8  // digits after the decimal point: EUR 2, JPY 0, KWD 3
}
