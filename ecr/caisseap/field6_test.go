package caisseap

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField6_ARefundIsDeniedByNothingButItsEnd: a refund was done and its answer was lost. The till asked again while another till's sale
// ran on the line, and heard that nothing was begun, of money that had gone back. The desk joins what is repeated, and says itself that
// another sale runs. The kind: a refund that names its payment, by receipt and by transaction, and one that names none; with and
// without names of purchases; repeated, still running, and new. A purchase without a name cannot be a repetition: it waits for its turn.
func TestField6_ARefundIsDeniedByNothingButItsEnd(t *testing.T) {
	for _, identified := range []bool{false, true} {
		for _, cf := range []string{"CF003R17", "CF0063/1234", "CF003T12", ""} {
			for name, steps := range map[string][]string{
				"repeated": {"elsewhere " + refund + cf + " => 80 s, begin refund", "begun => -", "approved => 10", "closed => told"},
				"running":  {"elsewhere " + refund + cf + " => 80 s, begin refund", "begun => -", "running => 01 07 EN COURS, NE PAS REPETER", "closed => interim"},
				"new":      {"elsewhere " + refund + cf + " => 80 s, begin refund", "refused busy => 01 11", "closed => -"},
				"purchase": {"elsewhere " + pay + " => 01 11", "closed => -"},
			} {
				p := begin(t, Config{Identified: identified})
				for _, step := range steps {
					event, want, _ := strings.Cut(step, " => ")
					got := p.step(event)
					if identified && strings.HasPrefix(got, "80 s, begin refund ") { // by the till's own name
						got = "80 s, begin refund"
					}
					require.Equal(t, want, got, "%s, %s, %t: %s", name, cf, identified, step)
				}
			}
		}
	}
}
