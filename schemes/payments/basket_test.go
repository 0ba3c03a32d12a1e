package payments_test

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

func percent(s string) *json.Number { n := json.Number(s); return &n }

func TestBasketTotal(t *testing.T) {
	item := func(quantity, price int32, discount string) payments.BasketItem {
		i := payments.BasketItem{Quantity: quantity, UnitPrice: price, VatPercentage: percent("25")}
		if discount != "" {
			i.DiscountPercentage = percent(discount)
		}
		return i
	}
	for _, c := range []struct {
		name            string
		items           []payments.BasketItem
		full, low, high money.Minor
	}{
		{"nothing", nil, 0, 0, 0},
		{"one", []payments.BasketItem{item(3, 333, "")}, 999, 999, 999},
		{"half off", []payments.BasketItem{item(2, 500, "50")}, 1000, 500, 500},
		{"all off", []payments.BasketItem{item(2, 500, "100")}, 1000, 0, 0},
		{"a third off", []payments.BasketItem{item(1, 100, "33.3333333333333")}, 100, 66, 67},
		{"a fraction of a cent", []payments.BasketItem{item(1, 999, "0.1")}, 999, 998, 999},
		{"a discount as a line", []payments.BasketItem{item(1, 1000, ""), item(1, -150, "10")}, 850, 865, 865},
		{"a fraction below zero", []payments.BasketItem{item(1, -999, "0.1")}, -999, -999, -998},
		{"a double", []payments.BasketItem{item(1, 1000, "0.30000000000000004")}, 1000, 997, 997},
		{"a double just below", []payments.BasketItem{item(1, 1000, "49.99999999999999999")}, 1000, 500, 500},
		{"next to nothing", []payments.BasketItem{item(1, 1000, "0.00000000000000004")}, 1000, 1000, 1000},
		{"smallest discount", []payments.BasketItem{item(1, 1, "0.0000000000000001")}, 1, 0, 1},
		{"largest line", []payments.BasketItem{item(math.MaxInt32, math.MaxInt32, "50")}, math.MaxInt32 * math.MaxInt32, 2305843007066210304, 2305843007066210305},
		{"smallest line", []payments.BasketItem{item(math.MaxInt32, math.MinInt32, "")}, math.MaxInt32 * math.MinInt32, math.MaxInt32 * math.MinInt32, math.MaxInt32 * math.MinInt32},
	} {
		got, err := payments.BasketTotal(c.items)
		require.NoError(t, err, c.name)
		require.Equal(t, payments.Total{Full: c.full, Low: c.low, High: c.high}, got, c.name)
	}
	huge := item(math.MaxInt32, math.MaxInt32, "")
	_, err := payments.BasketTotal([]payments.BasketItem{huge, huge, huge})
	require.ErrorIs(t, err, money.ErrOverflow)

	fits := payments.Total{Full: 100, Low: 66, High: 67}
	for amount, want := range map[money.Minor]bool{100: true, 66: true, 67: true, 65: false, 68: false, 99: false, 0: false} {
		require.Equal(t, want, fits.Fits(amount), amount)
	}
}

func TestPercentages(t *testing.T) {
	for text, ok := range map[string]bool{
		"0": true, "-0": true, "-0.0": true, "0e9": true, "100": true, "100.0": true, "1e2": true, "1E+2": true, "10000e-2": true, "25.0": true,
		"0.0000000000000001": true, "100.0000000000000000": true, "0.10000000000000000": true, "1e-16": true,
		"100.1": false, "-1": false, "1e3": false, "1e400": false, "1e99999999999999999999": false, "99999999999999999999": false, "1e-99999": false,
		// what programs that calculate with doubles write
		"0.30000000000000004": true, "0.070000000000000007": true, "1e-17": true, "4.9e-324": true, "0.00000000000000001": true,
		"100.00000000000000001": true, "100.00000000000000005": false, "1844.67440737095516159": false, "-0.00000000000000001": false, "0.99999999999999999999999999999999999999": true,
	} {
		_, err := payments.BasketTotal([]payments.BasketItem{{Quantity: 1, UnitPrice: 1, DiscountPercentage: percent(text)}})
		require.Equal(t, ok, err == nil, text)
		var req payments.CaptureRequest
		req.Basket = []payments.BasketItem{{Quantity: 1, UnitPrice: 1, VatPercentage: percent(text)}}
		require.Equal(t, ok, check.Request("op", req) == nil, text)
	}
}

// TestBasketIsExact holds the sums against big rationals.
func TestBasketIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "items")
		var items []payments.BasketItem
		full, low, high := new(big.Int), new(big.Int), new(big.Int)
		for range n {
			digits := rapid.IntRange(0, 16).Draw(t, "decimals")
			text := strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "percent"))
			if digits > 0 {
				text += "." + rapid.StringMatching("[0-9]{"+strconv.Itoa(digits)+"}").Draw(t, "fraction")
			}
			item := payments.BasketItem{Quantity: rapid.Int32Range(1, math.MaxInt32).Draw(t, "quantity"),
				UnitPrice: rapid.Int32().Draw(t, "price"), DiscountPercentage: percent(text)}
			items = append(items, item)
			line := new(big.Rat).SetInt64(int64(item.Quantity) * int64(item.UnitPrice))
			full.Add(full, line.Num())
			off, _ := new(big.Rat).SetString(text)
			line.Mul(line, off.Sub(big.NewRat(100, 1), off)).Quo(line, big.NewRat(100, 1))
			quo, rem := new(big.Int).DivMod(line.Num(), line.Denom(), new(big.Int)) // rounds down
			low.Add(low, quo)
			if high.Add(high, quo); rem.Sign() != 0 {
				high.Add(high, big.NewInt(1))
			}
		}
		got, err := payments.BasketTotal(items)
		if err != nil {
			require.ErrorIs(t, err, money.ErrOverflow)
			return
		}
		require.Equal(t, []string{full.String(), low.String(), high.String()},
			[]string{strconv.FormatInt(int64(got.Full), 10), strconv.FormatInt(int64(got.Low), 10), strconv.FormatInt(int64(got.High), 10)})
	})
}

func TestLines(t *testing.T) {
	lines, err := payments.Lines([]payments.BasketItem{
		{Quantity: 2, UnitPrice: 625, VatPercentage: percent("25")}, {Quantity: 1, UnitPrice: 100}, {Quantity: 3, UnitPrice: 100, VatPercentage: percent("12.505")},
	}, 1650)
	require.NoError(t, err)
	require.Equal(t, []payments.Line{
		{UnitPrice: 500, Quantity: 2, TaxBasisPoints: 2500, Gross: 1250, Net: 1000, Tax: 250},
		{UnitPrice: 100, Quantity: 1, Gross: 100, Net: 100},
		{UnitPrice: 89, Quantity: 3, TaxBasisPoints: 1250, Gross: 300, Net: 267, Tax: 33},
	}, lines)
	_, err = payments.Lines([]payments.BasketItem{{Quantity: 1, UnitPrice: 1, VatPercentage: percent("101")}}, 1)
	require.ErrorIs(t, err, money.ErrAmount)
}

func TestLinesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []payments.BasketItem
		for range rapid.IntRange(1, 6).Draw(t, "items") {
			items = append(items, payments.BasketItem{
				Quantity: rapid.Int32Range(1, 1000).Draw(t, "quantity"), UnitPrice: rapid.Int32Range(-1_000_000, 1_000_000).Draw(t, "price"),
				VatPercentage:      rapid.SampledFrom([]*json.Number{nil, percent("0"), percent("25"), percent("12.5"), percent("7.7"), percent("19"), percent("33.3333333333333333")}).Draw(t, "vat"),
				DiscountPercentage: percent(rapid.SampledFrom([]string{"0", "10", "33.33", "0.1", "66.6666666666666667"}).Draw(t, "discount")),
			})
		}
		total, err := payments.BasketTotal(items)
		require.NoError(t, err)
		amount := total.Full
		switch rapid.SampledFrom([]string{"full", "discounted", "VAT on top"}).Draw(t, "amount of") {
		case "discounted":
			amount = money.Minor(rapid.Int64Range(int64(total.Low), int64(total.High)).Draw(t, "amount"))
		case "VAT on top":
			amount = money.Minor(rapid.Int64Range(int64(total.Low+total.Down), int64(total.High+total.Up)).Draw(t, "amount"))
		}
		require.True(t, total.Fits(amount))
		lines, err := payments.Lines(items, amount)
		require.NoError(t, err)
		sum := money.Minor(0)
		for i, l := range lines {
			require.Equal(t, l.Gross, l.Net+l.Tax)
			require.Equal(t, l.Net, l.UnitPrice*money.Minor(l.Quantity))
			require.Equal(t, items[i].Quantity, l.Quantity)
			sum += l.Gross
		}
		require.Equal(t, amount, sum)
	})
}

// TestField2_S5OneRuleForABasket: a basket fits a create, a capture and a refund by one rule, the refusal names both sums, and the
// lines of an event come to what was paid. The kind: items that say their VAT, that do not (null and 0), above zero and below it,
// with and without a discount, and mixed.
func TestField2_S5OneRuleForABasket(t *testing.T) {
	item := func(price int32, vat, discount string) payments.BasketItem {
		i := payments.BasketItem{Quantity: 1, UnitPrice: price}
		if vat != "" {
			i.VatPercentage = percent(vat)
		}
		if discount != "" {
			i.DiscountPercentage = percent(discount)
		}
		return i
	}
	for _, row := range []struct {
		name     string
		items    []payments.BasketItem
		taken    []int32
		refused  []int32
		says     string
		tax, bps map[int32][]int64 // of each line, by the amount
	}{
		{"VAT inside", []payments.BasketItem{item(1000, "19", "")}, []int32{1000}, []int32{999, 1001, 1190}, "its items come to 1000; the amount is 999 (in minor units)", nil, nil},
		{"VAT inside, a discount", []payments.BasketItem{item(1495, "19", "10")}, []int32{1495, 1345, 1346}, []int32{1347, 1344}, "its items come to 1495, with its discounts 1345 to 1346; the amount is 1347 (in minor units)", nil, nil},
		{"VAT of zero", []payments.BasketItem{item(100, "0", "")}, []int32{100, 107, 200}, []int32{99, 201}, "its items come to 100, and VAT on top that it does not say; the amount is 99 (in minor units)",
			map[int32][]int64{100: {0}, 107: {7}}, map[int32][]int64{100: {0}, 107: {700}}},
		{"VAT absent", []payments.BasketItem{item(1000, "", "")}, []int32{1000, 1070, 2000}, []int32{999, 2001}, "", map[int32][]int64{1070: {70}}, map[int32][]int64{1070: {700}}},
		{"two rates open", []payments.BasketItem{item(300, "", ""), item(100, "", "")}, []int32{400, 477}, []int32{399}, "", map[int32][]int64{477: {58, 19}}, nil},
		{"mixed", []payments.BasketItem{item(1190, "19", ""), item(100, "", "")}, []int32{1290, 1297}, []int32{1289, 1391}, "", map[int32][]int64{1297: {190, 7}}, map[int32][]int64{1297: {1900, 700}}},
		{"a voucher without VAT", []payments.BasketItem{item(1190, "19", ""), item(-100, "", "")}, []int32{1090, 1071}, []int32{1091, 989}, "", map[int32][]int64{1071: {190, -19}}, map[int32][]int64{1071: {1900, 1900}}},
		{"a discount, VAT on top", []payments.BasketItem{item(1000, "", "10")}, []int32{900, 1000, 1071, 1190}, []int32{899, 2001}, "", map[int32][]int64{1071: {171}, 1000: {0}}, map[int32][]int64{1071: {1900}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, amount := range append(row.taken, row.refused...) {
				capture := payments.CaptureRequest{Amount: &amount, Basket: row.items}
				create := payments.CreateRequest{Type: payments.ProviderHosted, Amount: amount, CurrencyCode: "EUR", Basket: row.items}
				refund := payments.RefundRequest{Amount: &amount, Basket: row.items}
				for what, err := range map[string]error{"capture": check.Request("op", capture), "create": check.Request("op", create), "refund": check.Request("op", refund)} {
					if slices.Contains(row.taken, amount) {
						require.NoError(t, err, "%s of %d", what, amount)
						continue
					}
					require.Equal(t, payments.AmountDiffersFromOrderItems, wire.ReasonOf(err), "%s of %d", what, amount)
					if amount == row.refused[0] && row.says != "" {
						require.ErrorContains(t, err, row.says)
					}
				}
			}
			for _, amount := range row.taken {
				lines, err := payments.Lines(row.items, money.Minor(amount))
				require.NoError(t, err)
				sum := money.Minor(0)
				for i, l := range lines {
					require.Equal(t, l.Gross, l.Net+l.Tax)
					sum += l.Gross
					if want := row.tax[amount]; want != nil {
						require.EqualValues(t, want[i], l.Tax, "tax of line %d of %d", i, amount)
					}
					if want := row.bps[amount]; want != nil {
						require.EqualValues(t, want[i], l.TaxBasisPoints, "rate of line %d of %d", i, amount)
					}
				}
				require.EqualValues(t, amount, sum)
			}
		})
	}
}

func TestCountries(t *testing.T) {
	n := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if check.Country2(string(a) + string(b)) {
				n++
			}
		}
	}
	require.Equal(t, 249, n, "ISO 3166-1 assigns 249 codes")
	for _, code := range strings.Fields("AD AX BQ CW DE GB GR SE SS SX US ZW XK") {
		require.Equal(t, code != "XK", check.Country2(code), code)
	}
	for _, code := range []string{"", "D", "DEU", "de", "UK", "EU", "YU", "AN", "DA", "ËA"} { // DA stands across two codes
		require.False(t, check.Country2(code), code)
	}
	require.Len(t, check.PageLanguages(), 16)
	require.Len(t, payments.Methods(), 9)
}
