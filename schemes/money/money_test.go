package money_test

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/schemes/money"
)

func currency(t require.TestingT, alpha string) money.Currency {
	c, ok := money.Lookup(alpha)
	require.True(t, ok, alpha)
	return c
}

func TestTable(t *testing.T) {
	all := money.All()
	require.Len(t, all, 178)
	require.True(t, slices.IsSortedFunc(all, func(a, b money.Currency) int { return strings.Compare(a.Alpha, b.Alpha) }))
	numeric := map[uint16]bool{}
	payable := 0
	for _, c := range all {
		require.Regexp(t, "^[A-Z]{3}$", c.Alpha)
		require.False(t, numeric[c.Numeric], "%s: numeric code twice", c.Alpha)
		numeric[c.Numeric] = true
		require.LessOrEqual(t, c.Exponent, uint8(4))
		byNumber, ok := money.ByNumeric(c.Numeric)
		require.True(t, ok)
		require.Equal(t, c, byNumber)
		require.Equal(t, c, currency(t, c.Alpha))
		if c.Payable() {
			payable++
		}
	}
	require.Equal(t, 155, payable)
	all[0].Alpha = "???"
	require.Equal(t, "AED", money.All()[0].Alpha, "a copy")
}

func TestExponents(t *testing.T) {
	others := map[uint8]string{
		0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
		3: "BHD IQD JOD KWD LYD OMR TND",
	}
	odd := map[string]bool{}
	for e, list := range others {
		for _, a := range strings.Fields(list) {
			require.Equal(t, e, currency(t, a).Exponent, a)
			odd[a] = true
		}
	}
	for _, c := range money.All() {
		if c.Payable() && !odd[c.Alpha] {
			require.EqualValues(t, 2, c.Exponent, c.Alpha)
		}
	}
}

func TestLookup(t *testing.T) {
	for alpha, want := range map[string]money.Currency{
		"EUR": {Alpha: "EUR", Numeric: 978, Exponent: 2},
		"JPY": {Alpha: "JPY", Numeric: 392, Exponent: 0},
		"KWD": {Alpha: "KWD", Numeric: 414, Exponent: 3},
		"SEK": {Alpha: "SEK", Numeric: 752, Exponent: 2},
		"ALL": {Alpha: "ALL", Numeric: 8, Exponent: 2},
		"ZWG": {Alpha: "ZWG", Numeric: 924, Exponent: 2},
		"CLF": {Alpha: "CLF", Numeric: 990, Exponent: 4, Special: true},
		"XXX": {Alpha: "XXX", Numeric: 999, Special: true},
	} {
		require.Equal(t, want, currency(t, alpha))
	}
	for _, no := range []string{"", "eur", "EU", "EUR ", "EURO", "€", "EUR\x00", "DEM", "HRK", "BGN", "ＥＵＲ"} {
		_, ok := money.Lookup(no)
		require.False(t, ok, no)
	}
	for _, no := range []uint16{0, 1, 191, 1000, math.MaxUint16} {
		_, ok := money.ByNumeric(no)
		require.False(t, ok, no)
	}
	for _, no := range []string{"XXX", "XTS", "XAU", "CHE", "USN", "CLF"} {
		require.False(t, currency(t, no).Payable(), no)
	}
	require.False(t, money.Currency{}.Payable())
}

func TestFormatAndParse(t *testing.T) {
	for _, c := range []struct {
		minor money.Minor
		alpha string
		text  string
	}{
		{1250, "EUR", "12.50"}, {0, "EUR", "0.00"}, {5, "EUR", "0.05"}, {-5, "EUR", "-0.05"}, {100, "EUR", "1.00"}, {-123456, "EUR", "-1234.56"},
		{1250, "JPY", "1250"}, {0, "JPY", "0"}, {-1, "JPY", "-1"},
		{1250, "KWD", "1.250"}, {5, "KWD", "0.005"}, {-12, "KWD", "-0.012"},
		{math.MaxInt64, "EUR", "92233720368547758.07"}, {math.MinInt64, "EUR", "-92233720368547758.08"},
		{math.MinInt64, "JPY", "-9223372036854775808"}, {math.MaxInt64, "KWD", "9223372036854775.807"},
	} {
		cur := currency(t, c.alpha)
		require.Equal(t, c.text+" "+c.alpha, money.Format(c.minor, cur))
		got, err := money.Parse(c.text, cur)
		require.NoError(t, err)
		require.Equal(t, c.minor, got)
	}
	eur, jpy := currency(t, "EUR"), currency(t, "JPY")
	for text, want := range map[string]money.Minor{"12": 1200, "12.5": 1250, "0": 0, "-0.5": -50, "-0": 0} {
		got, err := money.Parse(text, eur)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, bad := range []string{"", "-", ".", ".5", "5.", "+5", "--5", "05", "00", "1e2", "1,50", "1.5.0", " 1", "1 ", "0x10", "1_000", "٥", "１", "NaN", "1.-5", "1.\x00"} {
		_, err := money.Parse(bad, eur)
		require.ErrorIs(t, err, money.ErrAmount, "%q", bad)
	}
	for _, fine := range []string{"1.505", "0.001"} {
		_, err := money.Parse(fine, eur)
		require.ErrorIs(t, err, money.ErrInexact)
	}
	_, err := money.Parse("1.0", jpy)
	require.ErrorIs(t, err, money.ErrInexact)
	for _, big := range []string{"92233720368547758.08", "-92233720368547758.09", "1" + strings.Repeat("0", 400)} {
		_, err := money.Parse(big, eur)
		require.ErrorIs(t, err, money.ErrOverflow)
	}
}

func TestHundredths(t *testing.T) {
	for _, c := range []struct {
		minor money.Minor
		alpha string
		want  int64
		err   error
	}{
		{1250, "EUR", 1250, nil},
		{-1250, "EUR", -1250, nil},
		{math.MaxInt64, "EUR", math.MaxInt64, nil},
		{math.MinInt64, "EUR", math.MinInt64, nil},
		{1250, "JPY", 125000, nil},
		{-1, "JPY", -100, nil},
		{math.MaxInt64 / 100, "JPY", 9223372036854775800, nil},
		{math.MaxInt64/100 + 1, "JPY", 0, money.ErrOverflow},
		{math.MinInt64 / 100, "JPY", -9223372036854775800, nil},
		{math.MinInt64/100 - 1, "JPY", 0, money.ErrOverflow},
		{math.MaxInt64, "JPY", 0, money.ErrOverflow},
		{1250, "KWD", 125, nil},
		{10, "KWD", 1, nil},
		{5, "KWD", 0, money.ErrInexact},
		{-1255, "KWD", 0, money.ErrInexact},
		{math.MaxInt64, "KWD", 0, money.ErrInexact},
		{100, "CLF", 0, money.ErrNotPayable},
		{100, "XXX", 0, money.ErrNotPayable},
	} {
		cur := currency(t, c.alpha)
		got, err := money.ToHundredths(c.minor, cur)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.want, got, "%d %s", c.minor, c.alpha)
		if c.err == nil {
			back, err := money.FromHundredths(got, cur)
			require.NoError(t, err)
			require.Equal(t, c.minor, back)
		}
	}
	for _, c := range []struct {
		hundredths int64
		alpha      string
		err        error
	}{
		{1250, "JPY", money.ErrInexact}, {99, "JPY", money.ErrInexact}, {math.MaxInt64, "KWD", money.ErrOverflow},
		{math.MinInt64, "KWD", money.ErrOverflow}, {1, "XXX", money.ErrNotPayable},
	} {
		_, err := money.FromHundredths(c.hundredths, currency(t, c.alpha))
		require.ErrorIs(t, err, c.err)
	}
	_, err := money.ToHundredths(1, money.Currency{})
	require.ErrorIs(t, err, money.ErrNotPayable)
}

// TestArithmetic holds every conversion and sum against big integers.
func TestArithmetic(t *testing.T) {
	all := money.All()
	amount := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-100_000, 100_000),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 100, math.MinInt64 / 10, 0}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := amount.Draw(t, "a"), amount.Draw(t, "b")
		A, B := big.NewInt(a), big.NewInt(b)
		same := func(got int64, err error, want *big.Int) {
			if err != nil {
				require.ErrorIs(t, err, money.ErrOverflow)
				require.False(t, want.IsInt64())
				return
			}
			require.Equal(t, want.String(), big.NewInt(got).String())
		}
		sum, err := money.Add(money.Minor(a), money.Minor(b))
		same(int64(sum), err, new(big.Int).Add(A, B))
		diff, err := money.Sub(money.Minor(a), money.Minor(b))
		same(int64(diff), err, new(big.Int).Sub(A, B))

		cur := rapid.SampledFrom(all).Draw(t, "currency")
		got, err := money.ToHundredths(money.Minor(a), cur)
		if !cur.Payable() {
			require.ErrorIs(t, err, money.ErrNotPayable)
			return
		}
		div := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(cur.Exponent)), nil)
		want, rem := new(big.Int).QuoRem(new(big.Int).Mul(A, big.NewInt(100)), div, new(big.Int))
		switch {
		case rem.Sign() != 0:
			require.ErrorIs(t, err, money.ErrInexact)
		case !want.IsInt64():
			require.ErrorIs(t, err, money.ErrOverflow)
		default:
			require.NoError(t, err)
			require.Equal(t, want.Int64(), got)
			back, err := money.FromHundredths(got, cur)
			require.NoError(t, err)
			require.EqualValues(t, a, back)
		}
		read, err := money.Parse(money.FormatNumber(money.Minor(a), cur), cur)
		require.NoError(t, err)
		require.EqualValues(t, a, read)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"12.50", "-0.05", "0", "1250", "1.005", "92233720368547758.07", "-92233720368547758.08", "1e2", "05", ".5"} {
		for e := range uint8(5) {
			f.Add(s, e)
		}
	}
	f.Fuzz(func(t *testing.T, s string, e uint8) {
		cur := money.Currency{Alpha: "TST", Exponent: e % 5}
		m, err := money.Parse(s, cur)
		if err != nil {
			return
		}
		again, err := money.Parse(money.FormatNumber(m, cur), cur)
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}

func TestNameable(t *testing.T) {
	for code, want := range map[string]bool{
		"EUR": true, "JPY": true, "KWD": true, "SSP": true, "XDR": true, "UYI": true, "CHW": true, "CLF": true, "COU": true, "MXV": true, "CHE": true, "BOV": true, "USN": true, "UYW": true,
		"XXX": false, "XTS": false, "XAU": false, "eur": false, "": false, "DEM": false, "EU": false, "R U": false,
	} {
		require.Equal(t, want, money.Nameable(code), code)
	}
}
