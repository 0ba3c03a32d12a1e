package printer_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/printer"
	"posagent/device/printer/printertest"
)

var update = flag.Bool("update", false, "write the golden files")

// longest is a method's label of 40 characters.
const longest = "Nordlicht Sofortbezahlen mit Kundenkarte"

func text(s string) printer.Line    { return printer.Line{Text: s} }
func centred(s string) printer.Line { return printer.Line{Text: s, Align: printer.Centre} }
func pair(left, right string) printer.Line {
	return printer.Line{Kind: printer.Pair, Text: left, Right: right}
}
func feed(n int) printer.Line { return printer.Line{Kind: printer.Feed, Lines: n} }

var (
	rule = printer.Line{Kind: printer.Rule}
	cut  = printer.Line{Kind: printer.Cut}
)

// receipt is a payment as a customer or a merchant gets it.
func receipt(whose, label, amount string, merchant bool) printer.Document {
	lines := []printer.Line{
		{Text: "KIOSK AM MARKT", Align: printer.Centre, Bold: true, Double: true},
		centred("Marktplatz 1, 10115 Berlin"),
		centred(whose), feed(1),
		pair("Terminal", "10000001"), pair("Receipt", "0042"), pair("Trace", "000317"), pair("23.11.2026", "20:15:42"),
		text(label), rule,
		{Kind: printer.Pair, Text: "TOTAL", Right: amount, Bold: true, Double: true},
		rule,
		pair("Transaction", "9007199254740991"),
		{Text: "APPROVED", Align: printer.Centre, Bold: true},
	}
	if merchant {
		lines = append(lines, feed(2), text("Signature"), rule)
	}
	return printer.Document{Lines: append(lines, cut)}
}

// examples are documents as the terminal prints them.
var examples = map[string]printer.Document{
	"customer":     receipt("Customer receipt", longest, "999,999,999.99 EUR", false),
	"merchant":     receipt("Merchant receipt", longest, "999,999,999.99 EUR", true),
	"customer-jpy": receipt("Customer receipt", longest, "999,999,999 JPY", false),
	"merchant-jpy": receipt("Merchant receipt", longest, "999,999,999 JPY", true),
	"decline": {Lines: []printer.Line{
		{Text: "KIOSK AM MARKT", Align: printer.Centre, Bold: true},
		centred("Customer receipt"), feed(1),
		pair("Terminal", "10000001"), pair("23.11.2026", "20:16:03"), pair("Payment", "12.50 EUR"),
		{Text: "DECLINED", Align: printer.Centre, Bold: true, Double: true},
		text("Not enough money on the account. Nothing was charged; please pay 12.50 EUR another way."),
		cut,
	}},
	"end-of-day": {Lines: []printer.Line{
		{Text: "END OF DAY", Align: printer.Centre, Bold: true},
		pair("23.11.2026", "22:00:00"), pair("Receipt", "0001 - 0042"), feed(1),
		text("Swish"), pair("  Payments 40", "1,234.50 EUR"), pair("  Refunds 2", "-34.50 EUR"),
		text(longest), pair("  Payments 1200 in this batch", "999,999,999.99 EUR"),
		rule,
		{Kind: printer.Pair, Text: "TOTAL", Right: "999,999,999.99 EUR", Bold: true},
		text("! One refund of 9.99 EUR is still running"),
		cut,
	}},
	"letters": {Lines: []printer.Line{
		{Text: "Bäckerei Öztürk & Söhne", Align: printer.Centre, Bold: true, Double: true},
		centred("Große Straße 5, Köln"), centred("Spółka Żółta Łódź, Kraków"), centred("Příliš žluťoučký kůň, Győr"),
		pair("Brötchen", "1,20 €"), pair("Zażółć gęślą jaźń", "999.999.999,99 €"),
		text("„Danke“ – dziękuję… ½ kg • 5 °C"),
		cut,
	}},
}

// paper is a printer as a test looks at it.
func paper(p printer.Profile) *printertest.Printer {
	return printertest.New(printertest.Config{Columns: p.Columns, Dots: p.Dots, Kanji: p.Kanji, RealTime: true, InOrder: true})
}

// profile returns a printer by its columns.
func profile(t testing.TB, columns int) printer.Profile {
	t.Helper()
	name := map[int]string{32: "58mm", 42: "80mm-42", 48: "80mm"}[columns]
	p, err := printer.Named(name)
	require.NoError(t, err)
	return p
}

// printed returns the paper with a document on it.
func printed(t testing.TB, p printer.Profile, d printer.Document) *printertest.Printer {
	t.Helper()
	data, err := printer.Encode(p, d)
	require.NoError(t, err)
	out := paper(p)
	require.Empty(t, out.Take(data), "a document asks nothing")
	require.Empty(t, out.Strange())
	return out
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// TestGolden holds the bytes of each example, and what an independent printer makes of them.
func TestGolden(t *testing.T) {
	require.Len(t, []rune(longest), 40)
	for name, d := range examples {
		for _, width := range []struct {
			columns int
			name    string
		}{{32, "32"}, {48, "48"}} {
			t.Run(name+"-"+width.name, func(t *testing.T) {
				p := profile(t, width.columns)
				data, err := printer.Encode(p, d)
				require.NoError(t, err)
				out := printed(t, p, d)
				golden(t, name+"-"+width.name+".txt", []byte(out.Listing()))
				golden(t, name+"-"+width.name+".hex", []byte(hex.Dump(data)))
				picture, err := out.PNG()
				require.NoError(t, err)
				require.Equal(t, byte(1), picture[24], "bits a dot of the PNG")
				require.True(t, bytes.HasPrefix(picture, []byte("\x89PNG")))
			})
		}
	}
}
