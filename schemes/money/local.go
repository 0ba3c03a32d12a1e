package money

import "strings"

// FormatIn writes an amount as people of a language write it: "1,250.00 EUR" for en, "1.250,00 EUR" for de, "1 250,00 EUR" for
// fr. lang is a language's code in HTML; one that is not known is written as en. The blank between digits does not break a line.
func FormatIn(lang string, m Minor, c Currency) string {
	group, point, from := ",", ".", 4 // digits of the shortest number that is grouped
	switch lang, _, _ = strings.Cut(strings.ToLower(lang), "-"); lang {
	case "da", "de", "it", "nl":
		group, point = ".", ","
	case "es":
		group, point, from = ".", ",", 5
	case "fi", "fr", "lt", "nb", "nn", "no", "ru", "sv":
		group, point = "\u00a0", ","
	case "et", "lv", "pl", "pt":
		group, point, from = "\u00a0", ",", 5
	}
	sign, number := "", FormatNumber(m, c)
	if m < 0 {
		sign, number = "-", number[1:]
	}
	whole, fraction, broken := strings.Cut(number, ".")
	if len(whole) >= from {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + group + whole[i:]
		}
	}
	if broken {
		whole += point + fraction
	}
	return sign + whole + " " + c.Alpha
}
