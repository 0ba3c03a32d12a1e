package payments

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
)

// The whole matrix: no way back over the point where money moved, every refusal a word of the catalogue.
func TestEveryStateTimesEveryEvent(t *testing.T) {
	reasons := map[string]bool{}
	for _, p := range payments.Problems() {
		reasons[p.Reason] = true
	}
	states := []State{Fresh, Ready, Challenged, Reserved, Charged, Lapsed, Cancelled, Expired, Terminated}
	require.Len(t, machine, len(states))
	unpaid := []State{Fresh, Ready, Challenged}
	final := []State{Cancelled, Expired, Terminated}
	for _, s := range states {
		for _, e := range events() {
			to, reason := next(s, e)
			require.Contains(t, states, to)
			if reason != "" {
				require.Equal(t, s, to, "%s %s", s, e)
				require.True(t, reasons[reason], "%s %s %s", s, e, reason)
				continue
			}
			switch {
			case slices.Contains(final, s):
				require.Equal(t, s, to, "%s %s: final", s, e)
			case !slices.Contains(unpaid, s):
				require.NotContains(t, unpaid, to, "%s %s: back over the reservation", s, e)
			}
			if e == Reserve {
				require.Contains(t, []State{Fresh, Ready}, s)
				require.Equal(t, Reserved, to)
			}
			if e == Capture {
				require.Contains(t, []State{Reserved, Charged}, s)
			}
			if e == Cancel {
				require.Equal(t, Reserved, s)
			}
			if e == Refund {
				require.Contains(t, []State{Charged, Lapsed}, s)
			}
		}
	}
	_, reason := next("no such state", Reserve)
	require.NotEmpty(t, reason)
}
