package money

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Minor is an amount in minor units of its currency (1250 EUR = 12.50 EUR). Never a float.
type Minor int64

// Currency is one ISO 4217 entry.
type Currency struct {
	Alpha    string // "EUR"
	Numeric  uint16 // 978
	Exponent uint8  // digits after the decimal point: EUR 2, JPY 0, KWD 3
	Special  bool   // a fund, a metal, a unit of account, testing or "no currency": not payable
}

// The ways a conversion is refused.
var (
	ErrOverflow   = errors.New("amount out of range")
	ErrInexact    = errors.New("amount cannot be expressed exactly")
	ErrNotPayable = errors.New("currency cannot be paid with")
	ErrAmount     = errors.New("not an amount")
)

// Payable says whether a customer can pay in the currency.
func (c Currency) Payable() bool { return c.Alpha != "" && !c.Special }

// Lookup finds a currency by its alphabetic code, in capitals.
func Lookup(alpha string) (Currency, bool) {
	i, ok := slices.BinarySearchFunc(table[:], alpha, func(c Currency, a string) int { return strings.Compare(c.Alpha, a) })
	if !ok {
		return Currency{}, false
	}
	return table[i], true
}

// ByNumeric finds a currency by its numeric code (978, as ZVT's BMP 49 carries it).
func ByNumeric(numeric uint16) (Currency, bool) {
	for _, c := range table {
		if c.Numeric == numeric {
			return c, true
		}
	}
	return Currency{}, false
}

// All returns a copy of the table in alphabetical order.
func All() []Currency { return slices.Clone(table[:]) }

// Format writes an amount for people: "12.50 EUR", "1250 JPY", "-0.005 KWD".
func Format(m Minor, c Currency) string { return FormatNumber(m, c) + " " + c.Alpha }

// FormatCode is FormatNumber with a currency's code; one that is not known shows minor units.
func FormatCode(m Minor, alpha string) string {
	c, ok := Lookup(alpha)
	if !ok && m != 0 {
		return FormatNumber(m, c) + " minor units"
	}
	return FormatNumber(m, c)
}

// FormatNumber is Format without the currency code; Parse reads it back.
func FormatNumber(m Minor, c Currency) string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	digits := strconv.FormatUint(n, 10)
	e := int(c.Exponent)
	if e == 0 {
		return sign + digits
	}
	if len(digits) <= e {
		digits = strings.Repeat("0", e-len(digits)+1) + digits
	}
	return sign + digits[:len(digits)-e] + "." + digits[len(digits)-e:]
}

// Parse reads "12.50", "12" or "-0.005": ASCII digits, one point, at most as many decimals as the
// currency has, no leading zeros, no sign but "-". It returns ErrAmount, ErrInexact (too many decimals) or ErrOverflow.
func Parse(s string, c Currency) (Minor, error) {
	body, negative := strings.CutPrefix(s, "-")
	whole, frac, point := strings.Cut(body, ".")
	if !digits(whole) || len(whole) > 1 && whole[0] == '0' || point && !digits(frac) {
		return 0, ErrAmount
	}
	if len(frac) > int(c.Exponent) {
		return 0, ErrInexact
	}
	text := whole + frac + strings.Repeat("0", int(c.Exponent)-len(frac))
	if negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, ErrOverflow
	}
	return Minor(n), nil
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Add returns a + b, or ErrOverflow.
func Add(a, b Minor) (Minor, error) {
	sum := a + b
	if (sum > a) != (b > 0) {
		return 0, ErrOverflow
	}
	return sum, nil
}

// Sub returns a - b, or ErrOverflow.
func Sub(a, b Minor) (Minor, error) {
	diff := a - b
	if (diff < a) != (b > 0) {
		return 0, ErrOverflow
	}
	return diff, nil
}

// ToHundredths gives the amount in hundredths of the denomination, as S1 2.4 wants it:
// minor × 100 / 10^exponent. ErrInexact when that is not a whole number (0.005 KWD),
// ErrOverflow when it leaves int64 (large JPY), ErrNotPayable for Special currencies.
func ToHundredths(m Minor, c Currency) (int64, error) {
	n, err := scale(int64(m), 100, c)
	if err != nil {
		return 0, fmt.Errorf("hundredths of %s: %w", Format(m, c), err)
	}
	return n, nil
}

// FromHundredths is the way back: hundredths × 10^exponent / 100, with the same refusals
// (JPY must be whole yen).
func FromHundredths(h int64, c Currency) (Minor, error) {
	if !c.Payable() {
		return 0, fmt.Errorf("%d hundredths of %q: %w", h, c.Alpha, ErrNotPayable)
	}
	n, err := mulDiv(h, pow10(c.Exponent), 100)
	if err != nil {
		return 0, fmt.Errorf("%d hundredths of %s: %w", h, c.Alpha, err)
	}
	return Minor(n), nil
}

func scale(n int64, mul uint64, c Currency) (int64, error) {
	if !c.Payable() {
		return 0, ErrNotPayable
	}
	return mulDiv(n, mul, pow10(c.Exponent))
}

func pow10(e uint8) uint64 {
	p := uint64(1)
	for range e {
		p *= 10
	}
	return p
}

// mulDiv is n × mul / div in 128 bits, exact or refused.
func mulDiv(n int64, mul, div uint64) (int64, error) {
	abs := uint64(n)
	if n < 0 {
		abs = -abs
	}
	hi, lo := bits.Mul64(abs, mul)
	if hi >= div {
		return 0, ErrOverflow
	}
	quo, rem := bits.Div64(hi, lo, div)
	switch {
	case rem != 0:
		return 0, ErrInexact
	case n < 0 && quo == 1<<63:
		return math.MinInt64, nil
	case quo > math.MaxInt64:
		return 0, ErrOverflow
	case n < 0:
		return -int64(quo), nil
	}
	return int64(quo), nil
}
