package main

import (
	"errors"
	"flag"
	"time"

	"posagent/cmd/usage"
)

// moment is the value of a flag that says since when: how far back, or a day or a time of the box's own clock.
type moment struct {
	back time.Duration
	at   time.Time // zero = back counts
	text string
}

// momentVar defines a flag that says since when.
func momentVar(fs *flag.FlagSet, to *moment, name string, usual string, help string) {
	if err := to.Set(usual); err != nil {
		panic(err) // a programmer's mistake
	}
	fs.Var(to, name, help)
}

func (m *moment) String() string { return m.text }

// Set implements flag.Value.
func (m *moment) Set(text string) error {
	d, err := usage.ParseSpan(text)
	if err == nil && d >= 0 {
		*m = moment{back: d, text: text}
		return nil
	}
	if err != nil && !errors.Is(err, usage.ErrNoSpan) {
		return err
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			*m = moment{at: at, text: text}
			return nil
		}
	}
	return errors.New("want how far back, such as 90m, 24h or 1d, or a day such as 2026-11-25, or a time such as '2026-11-25 14:30'")
}

// since is the moment that was meant.
func (m *moment) since(now time.Time) time.Time {
	if m.at.IsZero() {
		return now.Add(-m.back)
	}
	return m.at
}
