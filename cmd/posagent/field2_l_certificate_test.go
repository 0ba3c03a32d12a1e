package main

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
)

// TestField2_L5OneWrongClockKeepsTheCertificate: a start with the clock years ahead replaced the certificate that every till trusts. It is
// made anew by a time that the backend has told, which is in the journal, and by no other.
func TestField2_L5OneWrongClockKeepsTheCertificate(t *testing.T) {
	b := box{state: t.TempDir(), log: slog.New(slog.DiscardHandler)}
	e := config.ECR{TCP: "127.0.0.1:0", POIID: "POSAGENT-000020000001"}
	made, err := nexoCertificate(e, b)
	require.NoError(t, err)
	ends := made.Leaf.NotAfter
	for _, c := range []struct {
		name string
		past time.Time
		same bool
	}{
		{"no time was ever told", time.Time{}, true},
		{"told a year ago", time.Now().AddDate(-1, 0, 0), true},
		{"told half a year before its end", ends.AddDate(0, -6, 0), true},
		{"told a week before its end", ends.AddDate(0, 0, -7), false},
	} {
		b.past = c.past
		now, err := nexoCertificate(e, b)
		require.NoError(t, err)
		require.Equal(t, c.same, made.Leaf.Equal(now.Leaf), c.name)
	}
}
