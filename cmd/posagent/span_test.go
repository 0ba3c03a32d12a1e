package main

import (
	"flag"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A length of time may have days; one without a unit is no guess, and the refusal says what is accepted.
func TestLengthsOfTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "1d": 24 * time.Hour, "2d12h": 60 * time.Hour, "0": 0, "0d": 0, "-3s": -3 * time.Second} {
		got, err := parseSpan(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"24": "24s are seconds, 24m minutes, 24h hours, 24d days", "yesterday": "such as 30s, 90m, 24h or 1d", "": "such as 30s", "d": "such as 30s", "1.5d": "such as 30s",
		"-1d": "such as 30s", "99999999d": "such as 30s", "1d-2h": "such as 30s", "1w": "such as 30s",
	} {
		_, err := parseSpan(text)
		require.ErrorContains(t, err, want, text)
	}
}

// Since when: a length, a day of the box's own calendar, or a time of its own clock.
func TestSinceWhen(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"1d": now.AddDate(0, 0, -1), "2026-11-25": time.Date(2026, 11, 25, 0, 0, 0, 0, time.Local), "2026-11-25 14:30": time.Date(2026, 11, 25, 14, 30, 0, 0, time.Local),
		"2026-11-25T14:30:00Z": time.Date(2026, 11, 25, 14, 30, 0, 0, time.UTC),
	} {
		var m moment
		require.NoError(t, m.Set(text), text)
		require.True(t, want.Equal(m.since(now)), "%s: %s", text, m.since(now))
	}
	for text, want := range map[string]string{"24": "24h hours", "yesterday": "a day such as 2026-11-25", "-1h": "how far back", "2026-13-01": "a day such as", "25.11.2026": "a day such as"} {
		var m moment
		require.ErrorContains(t, m.Set(text), want, text)
	}
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var m moment
	momentVar(fs, &m, "since", "30d", "how `far` back")
	require.Equal(t, "30d", fs.Lookup("since").DefValue)
	require.ErrorContains(t, fs.Parse([]string{"--since", "24"}), `invalid value "24" for flag -since: it has no unit`)
}
