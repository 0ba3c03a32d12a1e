package nexo

import (
	"encoding/json"
	"strconv"
	"strings"

	"posagent/schemes/money"
)

// decimals is what the schema allows in an amount.
const decimals = 6

// parseAmount reads an amount in major units. Tills send raw binary numbers (0.30000000000000004):
// the decimal text is rounded half to even to six places. It must then be an exact number of the
// currency's minor units, above zero. No binary number is made of it on the way.
func parseAmount(v any, c money.Currency) (money.Minor, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	micro, ok := rounded(number.String())
	if !ok || micro == 0 || micro > 99_999_999_999_999 {
		return 0, false
	}
	for e := int(c.Exponent); e < decimals; e++ {
		if micro%10 != 0 {
			return 0, false
		}
		micro /= 10
	}
	return money.Minor(micro), true
}

// rounded is a JSON number as a whole number of millionths; false for one that is negative or out
// of range.
func rounded(text string) (int64, bool) {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	exp := 0
	if power != "" {
		var err error
		if exp, err = strconv.Atoi(power); err != nil || exp < -1000 || exp > 1000 {
			return 0, false
		}
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	if strings.HasPrefix(text, "-") || len(digits) > 1000 {
		return 0, false
	}
	if digits == "" {
		return 0, true
	}
	// The value is digits * 10^shift millionths.
	shift := exp - len(frac) + decimals
	switch {
	case shift >= 0:
		if len(digits)+shift > 18 {
			return 0, false
		}
		digits += strings.Repeat("0", shift)
	case -shift > len(digits):
		return 0, true
	}
	rest := ""
	if shift < 0 {
		digits, rest = digits[:len(digits)+shift], digits[len(digits)+shift:]
	}
	if len(digits) > 18 {
		return 0, false
	}
	var n int64
	for _, d := range digits {
		n = n*10 + int64(d-'0')
	}
	if half := "5" + strings.Repeat("0", max(0, len(rest)-1)); rest > half && rest != "" || rest == half && n%2 == 1 {
		n++
	}
	return n, true
}

// amount writes minor units as a JSON number of major units.
func amount(m money.Minor, currency string) json.Number {
	c, ok := money.Lookup(currency)
	if !ok {
		return json.Number(strconv.FormatInt(int64(m), 10))
	}
	text := money.FormatNumber(m, c)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return json.Number(text)
}
