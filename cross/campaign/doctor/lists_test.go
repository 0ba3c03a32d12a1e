package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// paper is the list of faults that a doctor has to name, as technicians made it.
func paper() []string {
	return []string{
		"wrong clock", "bad pin", "DNS dead", "DNS hijack", "proxy 407", "captive portal", "expired cert", "revoked key", "disk full", "RO fs", "WAL huge", "DB corrupt",
		"port busy", "wrong baud", "cable out", "wrong parity", "wrong merchant", "401", "404 no method", "500 upstream", "slow-loris upstream", "config typo",
		"missing credential", "second instance", "stale method list",
		"wrong payment-link secret",
	}
}

// field are the faults under which an early terminal called itself ready. Here they come over one that was ready.
func field() []string {
	return []string{
		"later: wrong credentials", "later: dead DNS", "later: unknown name", "later: untrusted certificate", "later: certificate out of date", "later: pin",
		"later: 407", "later: captive portal", "later: 404", "later: 500", "later: stall", "later: missing serial device",
	}
}

// TestTheListsAreSeeded: each fault of the two lists is one row of the campaign, and no row claims a name that is in none.
func TestTheListsAreSeeded(t *testing.T) {
	require.Len(t, paper(), 26)
	require.Len(t, field(), 12)
	rows := map[string]int{}
	for _, f := range faults() {
		if f.as != "" {
			rows[f.as]++
		}
	}
	want := map[string]int{}
	for _, name := range append(paper(), field()...) {
		want[name] = 1
	}
	require.Equal(t, want, rows)
}
