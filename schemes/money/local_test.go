package money_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/money"
)

// Amounts as CLDR writes them, by hand. U9: a terminal of language "DE" had German words and amounts with a
// point.
func TestField_B8AmountsByLanguage(t *testing.T) {
	for lang, want := range map[string][3]string{
		"en": {"1,234.56 EUR", "12,345.67 EUR", "0.05 EUR"}, "": {"1,234.56 EUR", "12,345.67 EUR", "0.05 EUR"}, "ja": {"1,234.56 EUR", "12,345.67 EUR", "0.05 EUR"},
		"de": {"1.234,56 EUR", "12.345,67 EUR", "0,05 EUR"}, "de-AT": {"1.234,56 EUR", "12.345,67 EUR", "0,05 EUR"}, "it": {"1.234,56 EUR", "12.345,67 EUR", "0,05 EUR"},
		"fr": {"1\u00a0234,56 EUR", "12\u00a0345,67 EUR", "0,05 EUR"}, "sv": {"1\u00a0234,56 EUR", "12\u00a0345,67 EUR", "0,05 EUR"},
		"es": {"1234,56 EUR", "12.345,67 EUR", "0,05 EUR"}, "pl": {"1234,56 EUR", "12\u00a0345,67 EUR", "0,05 EUR"},
	} {
		eur, _ := money.Lookup("EUR")
		for i, m := range []money.Minor{123456, 1234567, 5} {
			require.Equal(t, want[i], money.FormatIn(lang, m, eur), lang)
		}
	}
	eur, _ := money.Lookup("EUR")
	for _, lang := range []string{"DE", "De-at", "de"} { // as the words of the same screen read it
		require.Equal(t, "0,05 EUR", money.FormatIn(lang, 5, eur), lang)
	}
	require.Equal(t, "12\u00a0345,67 EUR", money.FormatIn("nn-NO", 1234567, eur))
	jpy, _ := money.Lookup("JPY")
	kwd, _ := money.Lookup("KWD")
	require.Equal(t, "1.250 JPY", money.FormatIn("de", 1250, jpy))
	require.Equal(t, "-1.234,567 KWD", money.FormatIn("de", -1234567, kwd))
	require.Equal(t, "-9,223,372,036,854,775,808 JPY", money.FormatIn("en", math.MinInt64, jpy))
}
