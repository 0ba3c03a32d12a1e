package onboarding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/onboarding"
)

// The whole matrix of statuses and triggers against S0 3, written out again by hand.
func TestNextIsTheTableOfTheSpecification(t *testing.T) {
	statuses := []onboarding.Status{"", "INITIATED", "AWAITING_SIGNATURE", "SIGNATURE_FAILED", "PROCESSING", "APPROVED", "ABANDONED", "UNHEARD_OF"}
	triggers := []onboarding.Trigger{"initiate", "submit", "sign", "fail", "approve", "reject", "abandon", ""}
	want := map[string][2]string{
		" initiate":               {"INITIATED", "onboarding.initiated"},
		"INITIATED submit":        {"AWAITING_SIGNATURE", "onboarding.awaiting_signature"},
		"AWAITING_SIGNATURE fail": {"SIGNATURE_FAILED", "onboarding.signature_failed"},
		"AWAITING_SIGNATURE sign": {"PROCESSING", "onboarding.processing"},
		"PROCESSING approve":      {"APPROVED", "onboarding.approved"},
		"SIGNATURE_FAILED reject": {"ABANDONED", "onboarding.abandoned"},
		"PROCESSING reject":       {"ABANDONED", "onboarding.abandoned"},
	}
	seen := 0
	for _, from := range statuses {
		for _, trigger := range triggers {
			m, ok := onboarding.Next(from, trigger)
			w, allowed := want[string(from)+" "+string(trigger)]
			require.Equal(t, allowed, ok, "%s %s", from, trigger)
			if !allowed {
				require.Empty(t, m)
				continue
			}
			seen++
			require.Equal(t, onboarding.Move{From: from, Trigger: trigger, To: onboarding.Status(w[0]), Event: w[1]}, m)
		}
	}
	require.Equal(t, len(want), seen)
	require.Len(t, onboarding.Moves(), len(want))
	for _, s := range statuses {
		require.Equal(t, s == "INITIATED", s.Editable(), s)
	}
}

// Nothing leads back: a status that was left is never reached again, and APPROVED and ABANDONED are the only ends.
func TestNothingLeadsBack(t *testing.T) {
	ends := map[onboarding.Status]bool{}
	var walk func(at onboarding.Status, before map[onboarding.Status]bool)
	walk = func(at onboarding.Status, before map[onboarding.Status]bool) {
		require.False(t, before[at], "%s comes again", at)
		before[at] = true
		defer delete(before, at)
		last := true
		for _, m := range onboarding.Moves() {
			if m.From == at {
				last = false
				walk(m.To, before)
			}
		}
		if last {
			ends[at] = true
		}
	}
	walk(onboarding.None, map[onboarding.Status]bool{})
	require.Equal(t, map[onboarding.Status]bool{onboarding.Approved: true, onboarding.Abandoned: true}, ends)
}
