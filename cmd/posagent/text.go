package main

import (
	"log/slog"
	"os"

	"golang.org/x/term"

	"posagent/schemes/money"
)

// amountText writes an amount without its currency, "12.50"; an unknown currency shows minor units.
func amountText(m money.Minor, currency string) string {
	c, ok := money.Lookup(currency)
	if !ok && m != 0 {
		return money.FormatNumber(m, c) + " minor units"
	}
	return money.FormatNumber(m, c)
}

// logger writes to the talk stream: warnings and worse, or everything with --debug.
func logger(c *call) *slog.Logger {
	level := slog.LevelWarn
	if c.debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: level}))
}

// windowSize returns the columns and lines of a terminal window, zeros for anything else.
func windowSize(w any) (width, height int) {
	if c, is := w.(*checked); is {
		w = c.File
	}
	if f, ok := w.(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd())) // no terminal: zeros
	}
	return width, height
}

// onTerminal reports whether w is a terminal that may be drawn on.
func onTerminal(w any) bool {
	if c, is := w.(*checked); is {
		w = c.File
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
