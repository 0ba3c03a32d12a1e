package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"posagent/cmd/usage"
	"posagent/schemes/money"
)

// std is where a verb reads and writes: data on out, talk on err.
type std struct {
	in       io.Reader
	out, err io.Writer
}

// printJSON writes v indented, one document.
func printJSON(w io.Writer, v any) error { return usage.PrintJSON(w, v) }

// printText writes a text that is a verb's whole result: as it is, or inside a document of JSON.
func printText(c *call, schema, text string) error {
	if c.json {
		return printJSON(c.out, struct {
			Schema string `json:"schema"`
			Text   string `json:"text"`
		}{schema, text})
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// shown is a text from outside as a terminal may get it: on one line, without what moves a cursor.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsGraphic(r) {
			return '.'
		}
		return r
	}, s)
}

// amountText writes an amount without its currency, "12.50"; an unknown currency shows minor units.
func amountText(m money.Minor, currency string) string { return money.FormatCode(m, currency) }

// opAmount is an amount, or a dash where an operation has none.
func opAmount(n int64, currency string) string {
	if currency == "" && n == 0 {
		return "-"
	}
	return amountText(money.Minor(n), currency)
}

// windowSize returns the columns and lines of a terminal window, zeros for anything else.
func windowSize(w any) (width, height int) {
	if c, is := w.(*usage.Output); is {
		w = c.To
	}
	if f, ok := w.(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd())) // no terminal: zeros
	}
	return width, height
}

// onTerminal reports whether w is a terminal that may be drawn on.
func onTerminal(w any) bool {
	if c, is := w.(*usage.Output); is {
		w = c.To
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
