package salesapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/gateway"
	"posagent/schemes/backend"
	"posagent/store"
)

// The terminal's provider changes and changes back; both number their transactions alike. A client has sold at the other one in between.
// The number is now that of the payment at the provider of today, which another has sold: the client does not give that back, and the one
// that has sold it does. The kind: each name of an original that a client may give, by which its owner is looked up in one place and the
// payment in another: the number of a transaction, a receipt, a receipt of a batch, the receipt of a reversal. Of these the number alone
// was looked up by another rule.
func TestField4_AnotherProvidersNumberIsNobodysOwn(t *testing.T) {
	x := open(t, time.Millisecond, time.Minute)
	at := func(do func(tx store.Tx, service, place string) error, place string) {
		t.Helper()
		require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error { return do(tx, gateway.Schemes, place) }))
	}
	first, firstURL := x.backend, x.url
	theirs := x.sell("main", "theirs-1", "1250").sale(t)
	require.Equal(t, "approved", theirs.Outcome)
	at(journal.Leave, "https://a.example")
	x.stop()
	x.provider()
	x.start()
	own := x.sell("alpha", "own-1", "1250").sale(t)
	require.Equal(t, "approved", own.Outcome)
	require.Equal(t, theirs.Transaction, own.Transaction, "the providers number alike")
	at(journal.Leave, "https://b.example")
	at(journal.Return, "https://a.example")
	x.stop()
	x.backend, x.url = first, firstURL
	x.start()
	kept := func() (sum int64) { // by the merchant, at the provider of today
		var list []backend.Entry
		list, err := x.backend.Books(t.Context())
		require.NoError(t, err)
		for _, e := range list {
			for _, p := range e.Postings {
				if p.Account == "merchant" {
					sum += int64(p.Amount)
				}
			}
		}
		return sum
	}
	require.EqualValues(t, 1250, kept())
	for key, body := range map[string]string{
		"by-number":   `{"type":"refund","amount":1250,"original":"T` + theirs.Transaction + `"}`,
		"by-number-0": `{"type":"refund","amount":1250,"original":"T0` + theirs.Transaction + `"}`,
		"by-receipt":  `{"type":"refund","amount":1250,"original":"R` + number(int64(theirs.Receipt)) + `"}`,
		"by-batch":    `{"type":"refund","amount":1250,"original":"R1/` + number(int64(theirs.Receipt)) + `"}`,
		"reversal":    `{"type":"reversal","receipt":` + number(int64(theirs.Receipt)) + `}`,
	} {
		r := x.ask("alpha", "POST", "/agent/v1/sales?wait=60s", key, body)
		require.Equal(t, 404, r.status, "%s: %s", key, r.body)
	}
	require.EqualValues(t, 1250, kept())
	back := x.ask("main", "POST", "/agent/v1/sales?wait=60s", "back-1", `{"type":"refund","amount":1250,"original":"T`+theirs.Transaction+`"}`).sale(t)
	require.Equal(t, "approved", back.Outcome)
	require.Zero(t, kept())
}
