package main

import (
	"flag"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
