package view

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
)

// TestField2_U9NoTotalAddsWhatIsOneAmount: an authorisation of 42.00, its capture, and a payment of 12.50
// were told as "96.50 EUR accepted". Sums stand with their kind alone; over all kinds operations are
// counted.
func TestField2_U9NoTotalAddsWhatIsOneAmount(t *testing.T) {
	var lines []Reconciled
	for _, op := range []struct {
		kind string
		sum  int64
	}{{"payments.create", 4200}, {"payments.capture", 4200}, {"payments.create", 1250}} {
		ReconciledOf(&lines, op.kind, "EUR").Add(outbox.Done, 1, op.sum)
	}
	require.Equal(t, Figure{Count: 2, Sum: 5450}, lines[0].Accepted)
	require.Equal(t, Figure{Count: 1, Sum: 4200}, lines[1].Accepted)
	all := totals(lines)
	require.Len(t, all, 1)
	require.Equal(t, Number{3}, all[0].Accepted)
	require.False(t, all[0].Open())
	text, err := json.Marshal(all)
	require.NoError(t, err)
	require.NotContains(t, string(text), "sum")
}
