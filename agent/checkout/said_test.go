package checkout

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
)

// What the backend says to the customer is kept as a receipt can carry it, with who paid masked and no card number.
func TestWhatTheBackendSaysOfAPayment(t *testing.T) {
	for name, c := range map[string]struct {
		payer string
		naa   *aapay.NAA2ECR
		want  State
	}{
		"nothing":               {"", nil, State{}},
		"an empty answer":       {"", &aapay.NAA2ECR{}, State{}},
		"who paid":              {"+46701740605", nil, State{Payer: "*********605"}},
		"a longer id":           {"customer-00017890", nil, State{Payer: "*************7890"}},
		"a short id":            {"ab", nil, State{Payer: "**"}},
		"who paid, elsewhere":   {"", &aapay.NAA2ECR{PayerID: "wallet-98765432"}, State{Payer: "************432"}},
		"the status goes first": {"customer-00017890", &aapay.NAA2ECR{PayerID: "wallet-98765432"}, State{Payer: "*************7890"}},
		"a message":             {"", &aapay.NAA2ECR{AdditionalInfo: " 12 points\r\n\x1b[2J for you\x00 "}, State{Info: "12 points [2J for you"}},
		"a long message":        {"", &aapay.NAA2ECR{AdditionalInfo: strings.Repeat("ä", 200)}, State{Info: strings.Repeat("ä", 120)}},
		"no text at all":        {"", &aapay.NAA2ECR{AdditionalInfo: "\xff\x00\n"}, State{}},
		"a card number":         {"", &aapay.NAA2ECR{AdditionalInfo: "card 4111111111111111 paid", LoyaltyIDs: []string{"4111111111111111"}}, State{Info: "card 411111******1111 paid", Loyalty: []string{"411111******1111"}}},
		"loyalty ids":           {"", &aapay.NAA2ECR{LoyaltyIDs: []string{"A1", "", " B 2 ", "C3", "D4", "E5"}}, State{Loyalty: []string{"A1", "B 2", "C3", "D4"}}},
		"a long loyalty id":     {"", &aapay.NAA2ECR{LoyaltyIDs: []string{strings.Repeat("L", 50)}}, State{Loyalty: []string{strings.Repeat("L", 32)}}},
	} {
		t.Run(name, func(t *testing.T) {
			var s State
			s.hear(c.naa, c.payer)
			require.Equal(t, c.want, s)
			s.hear(nil, "")
			s.hear(&aapay.NAA2ECR{}, "")
			require.Equal(t, c.want, s, "a later answer that does not say it again takes nothing away")
		})
	}
}
