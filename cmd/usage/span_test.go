package usage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
)

// A length of time may have days; one without a unit is no guess, and the refusal says what is accepted.
func TestLengthsOfTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "1d": 24 * time.Hour, "2d12h": 60 * time.Hour, "0": 0, "0d": 0, "-3s": -3 * time.Second} {
		got, err := usage.ParseSpan(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"24": "24s are seconds, 24m minutes, 24h hours, 24d days", "yesterday": "such as 30s, 90m, 24h or 1d", "": "such as 30s", "d": "such as 30s", "1.5d": "such as 30s",
		"-1d": "such as 30s", "99999999d": "such as 30s", "1d-2h": "such as 30s", "1w": "such as 30s",
	} {
		_, err := usage.ParseSpan(text)
		require.ErrorContains(t, err, want, text)
	}
}
