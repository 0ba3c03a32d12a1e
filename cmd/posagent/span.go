package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timespan is the value of a flag that takes a length of time: as Go writes it, and in days.
type timespan time.Duration

// spanVar defines a flag that takes a length of time, with days: 90m, 24h, 1d, 2d12h.
func spanVar(fs *flag.FlagSet, to *time.Duration, name string, usual time.Duration, help string) {
	*to = usual
	fs.Var((*timespan)(to), name, help)
}

func (s *timespan) String() string { return time.Duration(*s).String() }

// Set implements flag.Value.
func (s *timespan) Set(text string) error {
	d, err := parseSpan(text)
	if err == nil {
		*s = timespan(d)
	}
	return err
}

// mostDays keeps a length of time within what it is stored in.
const mostDays = 36500

// parseSpan reads a length of time. Its error says what is accepted.
func parseSpan(text string) (time.Duration, error) {
	rest, days := text, time.Duration(0)
	if number, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n > mostDays {
			return 0, errNoSpan
		}
		rest, days = after, time.Duration(n)*24*time.Hour
		if rest == "" {
			return days, nil
		}
	}
	d, err := time.ParseDuration(rest)
	switch _, bare := strconv.ParseUint(text, 10, 32); {
	case err == nil && (days == 0 || d >= 0):
		return days + d, nil
	case bare == nil:
		return 0, fmt.Errorf("it has no unit: %ss are seconds, %[1]sm minutes, %[1]sh hours, %[1]sd days", text)
	}
	return 0, errNoSpan
}

var errNoSpan = errors.New("want a length of time, such as 30s, 90m, 24h or 1d")

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
	d, err := parseSpan(text)
	if err == nil && d >= 0 {
		*m = moment{back: d, text: text}
		return nil
	}
	if err != nil && !errors.Is(err, errNoSpan) {
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
