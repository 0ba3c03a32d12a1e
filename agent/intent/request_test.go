package intent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/intent"
	"posagent/schemes/aapay"
)

// Every field of a status that tells of the request is compared; one that tells nothing proves
// nothing either way.
func TestField2_M15AStatusIsJudgedByWhatItTells(t *testing.T) {
	ours := intent.Request{Reference: "ref-1", Hundredths: 1250, Currency: "EUR"}
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

// A transaction that is older than the request is another's. Both of its times are the service's own, so
// a clock of ours that is wrong changes nothing; what is not told, or not known, proves nothing.
func TestField2_M15AnOlderTransactionIsAnothers(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return noon.Add(d).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		age      time.Duration
		answered time.Time
		began    string
		want     intent.Verdict
	}{
		"as the request left":                 {10 * time.Second, noon, at(-10 * time.Second), intent.Ours},
		"later":                               {10 * time.Second, noon, at(-2 * time.Second), intent.Ours},
		"on a machine whose clock is behind":  {10 * time.Second, noon, at(-70 * time.Second), intent.Ours},
		"before it":                           {10 * time.Second, noon, at(-71 * time.Second), intent.Anothers},
		"a day before":                        {10 * time.Second, noon, at(-24 * time.Hour), intent.Anothers},
		"after the answer":                    {10 * time.Second, noon, at(time.Hour), intent.Ours},
		"in another zone":                     {10 * time.Second, noon, noon.Add(-5 * time.Second).In(time.FixedZone("", 3600)).Format(time.RFC3339), intent.Ours},
		"the age is not known":                {0, noon, at(-24 * time.Hour), intent.Ours},
		"it does not say when it answered":    {10 * time.Second, time.Time{}, at(-24 * time.Hour), intent.Ours},
		"it does not say when it began":       {10 * time.Second, noon, "", intent.Ours},
		"it says so in a form of its own":     {10 * time.Second, noon, "2026-11-27 12:00", intent.Ours},
		"long ago, and the request is as old": {24 * time.Hour, noon, at(-24 * time.Hour), intent.Ours},
	} {
		q := intent.Request{Reference: "ref-1", Hundredths: 1250, Currency: "EUR", Age: c.age}
		st := aapay.Status{TimeStamp: c.began, Answered: c.answered, Receipt: &aapay.Receipt{Reference: "ref-1"}}
		require.Equal(t, c.want, q.Status(st), name)
	}
}

// A receipt of what gives back may show the amount with a sign, and name what is taken back.
func TestField2_M15AReceiptOfARefund(t *testing.T) {
	q := intent.Request{Reference: "undo-1", Original: "sale-1", Hundredths: 1250, Currency: "EUR"}
	for name, c := range map[string]struct {
		receipt aapay.Receipt
		want    intent.Verdict
	}{
		"our reference":              {aapay.Receipt{Reference: "undo-1", Amount: 1250}, intent.Ours},
		"with a sign":                {aapay.Receipt{Reference: "undo-1", Amount: -1250}, intent.Ours},
		"what is taken back":         {aapay.Receipt{Reference: "sale-1", Amount: 1250}, intent.NotSaid},
		"another amount":             {aapay.Receipt{Reference: "sale-1", Amount: -1251}, intent.Anothers},
		"another's reference":        {aapay.Receipt{Reference: "undo-2"}, intent.Anothers},
		"another's, of no reference": {aapay.Receipt{Currency: "USD"}, intent.Anothers},
	} {
		require.Equal(t, c.want, q.Status(aapay.Status{Receipt: &c.receipt}), name)
	}
	sale := intent.Request{Reference: "sale-1", Hundredths: 1250, Currency: "EUR"}
	require.Equal(t, intent.Anothers, sale.Status(aapay.Status{Receipt: &aapay.Receipt{Amount: -1250}}), "a payment is no refund")
}

// What a status has shown is not replaced; what came with the answer alone is, by what tells our own
// reference twice.
func TestField2_M15NamesAreNotReplaced(t *testing.T) {
	st := func(id int64, ppref string) aapay.Status {
		out := aapay.Status{TransactionID: id}
		if ppref != "" {
			out.NAA2ECR = &aapay.NAA2ECR{PPRef: ppref}
		}
		return out
	}
	var n intent.Names
	require.False(t, n.Other(intent.NotSaid, st(7, "pp-7")), "the first name is believed")
	require.True(t, n.Other(intent.Anothers, st(7, "pp-7")))
	n.Learn(st(7, "pp-7"))
	require.Equal(t, intent.Names{ID: 7, PPRef: "pp-7", Shown: true}, n)
	for range 3 {
		require.True(t, n.Other(intent.Ours, st(7, "pp-8")))
		require.True(t, n.Other(intent.Ours, st(8, "pp-7")))
	}
	require.False(t, n.Other(intent.NotSaid, st(0, "")), "no name contradicts nothing")

	n = intent.Names{PPRef: "theirs"}
	require.True(t, n.Other(intent.NotSaid, st(7, "pp-7")))
	require.True(t, n.Other(intent.NotSaid, st(7, "pp-7")))
	require.True(t, n.Other(intent.Ours, st(7, "pp-7")))
	require.False(t, n.Other(intent.Ours, st(7, "pp-7")), "twice in a row")
}
