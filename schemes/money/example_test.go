package money_test

import (
	"fmt"

	"posagent/schemes/money"
)

func ExampleParse() {
	eur, _ := money.Lookup("EUR")
	yen, _ := money.Lookup("JPY")
	for _, in := range []struct {
		text     string
		currency money.Currency
	}{{"12.5", eur}, {"1250", yen}, {"12.505", eur}} {
		amount, err := money.Parse(in.text, in.currency)
		if err != nil {
			fmt.Println("refused:", in.text, in.currency.Alpha)
			continue
		}
		fmt.Println(int64(amount), "=", money.Format(amount, in.currency))
	}
	// Output:
	// 1250 = 12.50 EUR
	// 1250 = 1250 JPY
	// refused: 12.505 EUR
}

func ExampleFormatIn() {
	eur, _ := money.Lookup("EUR")
	fmt.Println(money.FormatIn("de", 1234567, eur))
	// Output: 12.345,67 EUR
}

// The scheme service speaks in hundredths of the denomination, whatever the currency's own decimals (S1 2.4).
func ExampleToHundredths() {
	for _, code := range []string{"EUR", "JPY", "KWD"} {
		c, _ := money.Lookup(code)
		h, err := money.ToHundredths(1250, c)
		fmt.Println(money.Format(1250, c), h, err)
	}
	_, err := money.FromHundredths(1255, must(money.Lookup("JPY")))
	fmt.Println(err != nil)
	// Output:
	// 12.50 EUR 1250 <nil>
	// 1250 JPY 125000 <nil>
	// 1.250 KWD 125 <nil>
	// true
}

func must(c money.Currency, _ bool) money.Currency { return c }

func ExampleAdd() {
	_, err := money.Add(9_223_372_036_854_775_807, 1)
	fmt.Println(err)
	// Output: amount out of range
}
