package intent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/intent"
	"posagent/schemes/aapay"
)

// Every field of a status that tells of the request is compared; one that tells nothing proves
// nothing either way.
func TestField2_M15AStatusIsJudgedByWhatItTells(t *testing.T) {
	ours := intent.Payment{Reference: "ref-1", Hundredths: 1250, Currency: "EUR"}
	for name, c := range map[string]struct {
		receipt *aapay.Receipt
		want    intent.Verdict
	}{
		"no receipt":                         {nil, intent.NotSaid},
		"an empty one":                       {&aapay.Receipt{}, intent.NotSaid},
		"the shop alone":                     {&aapay.Receipt{MerchantName: "Shop", State: "FINALIZED"}, intent.NotSaid},
		"our amount alone":                   {&aapay.Receipt{Amount: 1250, Currency: "EUR"}, intent.NotSaid},
		"our reference":                      {&aapay.Receipt{Reference: "ref-1"}, intent.Ours},
		"all of ours":                        {&aapay.Receipt{Reference: "ref-1", Amount: 1250, Currency: "EUR"}, intent.Ours},
		"another reference":                  {&aapay.Receipt{Reference: "ref-2", Amount: 1250, Currency: "EUR"}, intent.Anothers},
		"ours in another case":               {&aapay.Receipt{Reference: "REF-1"}, intent.Anothers},
		"another amount":                     {&aapay.Receipt{Amount: 1251}, intent.Anothers},
		"our reference over another amount":  {&aapay.Receipt{Reference: "ref-1", Amount: 1}, intent.Anothers},
		"our reference in another currency":  {&aapay.Receipt{Reference: "ref-1", Currency: "USD"}, intent.Anothers},
		"its own ppref":                      {&aapay.Receipt{Reference: "pp-7"}, intent.NotSaid},
		"its own number":                     {&aapay.Receipt{Reference: "77"}, intent.NotSaid},
		"its own ppref, over another amount": {&aapay.Receipt{Reference: "pp-7", Amount: 9}, intent.Anothers},
	} {
		st := aapay.Status{TransactionID: 77, NAA2ECR: &aapay.NAA2ECR{PPRef: "pp-7"}, Receipt: c.receipt}
		require.Equal(t, c.want, ours.Status(st), name)
	}
	require.Equal(t, intent.Anothers, ours.Status(aapay.Status{Receipt: &aapay.Receipt{Reference: "0"}}), "no number is no name")
}
