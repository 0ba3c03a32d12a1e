package nexo

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/money"
)

func currencyOf(t testing.TB, alpha string) money.Currency {
	c, ok := money.Lookup(alpha)
	require.True(t, ok)
	return c
}

func TestAmounts(t *testing.T) {
	for _, one := range []struct {
		currency, text string
		want           int64 // 0 = refused
	}{
		{"EUR", "12.5", 1250}, {"EUR", "12.50", 1250}, {"EUR", "100", 10000}, {"EUR", "0.01", 1},
		{"EUR", "0.30000000000000004", 30}, {"EUR", "7.999999999999999", 800}, {"EUR", "1.1500000000000001", 115},
		{"EUR", "9007199254740993e-2", 0}, {"EUR", "90071992547409.93", 0},
		{"EUR", "99999999.99", 9999999999}, {"EUR", "99999999.999999", 0}, {"EUR", "100000000", 0},
		{"EUR", "70368744.18", 7036874418}, {"EUR", "33554432.13", 3355443213},
		{"EUR", "1.005", 0}, {"EUR", "1e-7", 0}, {"EUR", "5e-7", 0}, {"EUR", "1e+21", 0}, {"EUR", "1e999999999", 0}, {"EUR", "1e-999999999", 0},
		{"EUR", "0", 0}, {"EUR", "0.0000001", 0}, {"EUR", "-1", 0}, {"EUR", "-0", 0},
		{"EUR", "1.25e1", 1250}, {"EUR", "125E-1", 1250}, {"EUR", "1e2", 10000},
		{"EUR", "1.0000005", 100}, {"EUR", "1.0000015", 0}, {"EUR", "0.0099995", 1}, {"EUR", "0.0099985", 0}, {"EUR", "0.0099999999", 1},
		{"JPY", "1000", 1000}, {"JPY", "1000.5", 0}, {"JPY", "1000.0000000001", 1000},
		{"KWD", "1.234", 1234}, {"KWD", "1.2345", 0},
	} {
		got, ok := parseAmount(json.Number(one.text), currencyOf(t, one.currency))
		require.Equal(t, one.want != 0, ok, "%s %s: %d", one.text, one.currency, got)
		if ok {
			require.EqualValues(t, one.want, got, "%s %s", one.text, one.currency)
		}
	}
	for _, other := range []any{nil, "12.50", true, object{}, []any{}} {
		_, ok := parseAmount(other, currencyOf(t, "EUR"))
		require.False(t, ok, "%v", other)
	}
	for want, m := range map[string]money.Minor{"12.5": 1250, "100": 10000, "0.01": 1, "99999999.99": 9999999999} {
		require.Equal(t, json.Number(want), amount(m, "EUR"))
	}
	require.Equal(t, json.Number("1000"), amount(1000, "JPY"))
	require.Equal(t, json.Number("1.234"), amount(1234, "KWD"))
}

// FuzzAmount: an amount that is accepted is written back as the same amount.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"12.5", "0.30000000000000004", "1e-7", "1e+21", "99999999.99", "1.005", "-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
			return
		}
		m, ok := parseAmount(json.Number(text), currencyOf(t, "EUR"))
		if !ok {
			return
		}
		require.Positive(t, int64(m))
		again, ok := parseAmount(amount(m, "EUR"), currencyOf(t, "EUR"))
		require.True(t, ok)
		require.Equal(t, m, again)
	})
}
