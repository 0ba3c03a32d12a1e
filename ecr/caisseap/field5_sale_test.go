package caisseap

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField5_APurchaseWithANameIsDeniedByNothingButItsEnd: a till asked again for a purchase by its name. While
// another till's sale ran on the line it was told that it was refused, and where the journal took longer than
// the till waits, the connection ended without a word, and the approval was refused for the till: one that the
// till may have heard, and that is kept for that, was undone. The kind: a request behind another connection's,
// known, new and another till's; one that gets no answer, approved before and approved now. One without a name
// hears a no, and what is approved behind it is undone.
func TestField5_APurchaseWithANameIsDeniedByNothingButItsEnd(t *testing.T) {
	const cf = "CF004a-17"
	for name, steps := range map[string][]string{
		"known, behind another sale":   {"elsewhere " + pay + cf + " => 80 s, begin payment a-17", "begun => -", "approved => 10", "closed => told"},
		"new, behind another sale":     {"elsewhere " + pay + cf + " => 80 s, begin payment a-17", "refused busy => 01 11", "closed => -"},
		"no name, behind another sale": {"elsewhere " + pay + " => 01 11"},
		"no answer in time":            {"ask " + pay + cf + " => 80 s, begin payment a-17", "late => hang up", "unread => -", "begun => abort", "tooLate => -", "approved => lost"},
		"no answer, held":              {"ask " + pay + cf + " => 80 s, begin payment a-17", "held => -", "late => hang up", "begun => abort", "approved => lost"},
		"no name, held":                {"ask " + pay + " => 80 s, begin payment", "held => -", "late => hang up", "begun => abort", "approved => lost"},
		"no name, a no":                {"ask " + pay + " => 80 s, begin payment", "late => 01 08", "begun => abort", "approved => refused"},
	} {
		p := begin(t, Config{Identified: true})
		for _, step := range steps {
			event, want, _ := strings.Cut(step, " => ")
			require.Equal(t, want, p.step(event), "%s: %s", name, step)
		}
	}
}
