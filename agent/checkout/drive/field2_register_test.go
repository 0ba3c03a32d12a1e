package drive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// TestField2_S7InitializeSaysWhatTheRegisterSaid: ecr2Naa has the till's reference, the terminal's version and language, and
// additionalProperties its language and country (S1 2.4). The kind: with and without a basket, and references that the service would refuse
// or that must not leave: they are left out or masked, and the sale goes on.
func TestField2_S7InitializeSaysWhatTheRegisterSaid(t *testing.T) {
	for reference, want := range map[string]string{
		"": "", "table 7": "table 7", strings.Repeat("x", 300): "", "a\x00b": "", "card 4111111111111111": "card 411111******1111",
	} {
		for _, lines := range [][]ecr.Item{nil, {{Name: "Tea", Quantity: 1, UnitPrice: 300, Gross: 300}}} {
			terminal(t, func(r *rig) {
				r.cfg.Version, r.cfg.Language, r.cfg.Country = "2026.11.28", "de", "CH"
				r.Restart(false)
				r.world.onStatus = approveAfter(r.world, 1)
				s, err := r.Ask(ecr.Request{Amount: 300, Reference: reference, Lines: lines})
				require.NoError(t, err, reference)
				<-s.Outcome
				r.Told(s, ecr.Told)
				req := r.world.sent(aapay.Payment)[0].req
				require.Equal(t, want, req.ECR2NAA.Reference)
				require.Equal(t, "2026.11.28", req.ECR2NAA.Ver)
				require.Equal(t, "de", req.ECR2NAA.Lang)
				require.Equal(t, lines == nil, req.ECR2NAA.Order == nil)
				require.Equal(t, []aapay.KeyValue{{Key: "language", Value: "de"}, {Key: "country", Value: "CH"}}, req.AdditionalProperties)
			})
		}
	}
}
