package badinput

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// proofs are the lines of D, and what proves each beside its scenes, which play it in a sale: tests that play it to the other
// services or in the one HTTP client that all of them share. A test is named by its folder and function.
var proofs = []struct{ number, what, tests string }{
	{"D69", "a captive portal's page", "agent TestHostileReplies, agent/upstream TestCaptivePageIsAnAnswerAndNoSuccess, agent/gateway TestProvenOnce"},
	{"D70", "empty, 204, truncated, wrong type", "agent TestHostileReplies, agent/upstream TestBadReplies"},
	{"D71", "componsiteFault and compositeFault", "schemes/aapay TestClientAlone"},
	{"D72", "unknown words, misspelt onboarding names", "schemes/webhooks TestMisspeltOnboardingNamesAreKnownByTheirStatus, schemes/webhooks TestUnknownEventsAreHandedOn, agent/gateway TestStatusDecides"},
	{"D73", "status and valid that contradict", "schemes/aapay TestHandlerOfAContradictoryService, agent/gateway TestReplyDecides"},
	{"D74", "another amount, currency or reference", "agent/gateway TestField2_M42WhatReadingsProve"},
	{"D75", "the reply of another transaction", "agent/gateway TestStatusDecides, agent/gateway TestMoneyC2_ReadAndCompare"},
	{"D76", "a redirect with credentials", "agent TestHostileReplies, agent/upstream TestOtherHostsGetNothing"},
	{"D77", "cookies, large headers, interim replies", "agent TestHostileReplies, agent/upstream TestBadReplies"},
	{"D78", "Date of 1970 or 2099", "agent TestOddButGoodReplies"},
	{"D79", "odd method lists and QR payloads", "schemes/methods TestUsableRefusesSingly, schemes/methods TestUsableMends, schemes/methods TestUsableIsBounded"},
	{"D80", "nextLink to another host", ""},
	{"D81", "documents with odd names, and without end", "schemes/disputes TestClientAlone, schemes/disputes TestDocumentsAreStreamed, agent/port TestDocumentsPassInPieces"},
	{"D82", "TLS, line by line", "agent/upstream TestNothingIsSentOverBadTLS, agent/upstream TestARevokedKeyIsShutOutByItsPin, agent/upstream TestBrokenOffTLS, agent/upstream TestWrongPinNamesItsRemedy, agent/upstream TestTLS"},
}

// TestEveryLineOfDIsProven prints the table, and holds it: each line has a scene or a test, and each test exists.
func TestEveryLineOfDIsProven(t *testing.T) {
	scenes := map[string]int{}
	for _, s := range upstreamScenes() {
		number, _, _ := strings.Cut(s.name, " ")
		scenes[number]++
	}
	var out strings.Builder
	for i, p := range proofs {
		require.Equal(t, fmt.Sprintf("D%d", 69+i), p.number)
		require.True(t, scenes[p.number] > 0 || p.tests != "", p.number)
		for _, test := range strings.Split(p.tests, ", ") {
			dir, name, _ := strings.Cut(test, " ")
			if test == "" {
				continue
			}
			files, err := filepath.Glob(filepath.Join("..", "..", "..", dir, "*_test.go"))
			require.NoError(t, err)
			there := false
			for _, f := range files {
				text, err := os.ReadFile(f)
				require.NoError(t, err)
				there = there || strings.Contains(string(text), "\nfunc "+name+"(")
			}
			require.True(t, there, "%s: %s", p.number, test)
		}
		fmt.Fprintf(&out, "%-4s %-45s %3d scenes  %s\n", p.number, p.what, scenes[p.number], p.tests)
		delete(scenes, p.number)
	}
	require.Len(t, proofs, 82-69+1)
	for number := range scenes {
		require.NotEqual(t, "D", number[:1], "a scene of a line that does not exist: %s", number)
	}
	t.Logf("what proves each line of D\n%s", out.String())
}
