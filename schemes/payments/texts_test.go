package payments_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// TestField2_S3TextsThatAreNeverNull: clients read these fields into texts, and die of null. The type sees to it, so that the backend,
// the view of a stored payment and the local port's answer are the same. The kind: each text of what payments answers, of a reading
// without a customer and of one that a foreign service wrote with null.
func TestField2_S3TextsThatAreNeverNull(t *testing.T) {
	reply := func(text []byte) (p payments.Payment, err error) { return p, wire.DecodeReply(text, &p) }
	foreign, err := reply([]byte(`{"currencyCode":"EUR","summary":{},"customer":{"address":{"address1":null,"address2":null,"city":null,"postalCode":null,"countryCode":null}},` +
		`"captures":[{"amount":1,"dateTime":null,"description":null}],"paymentDetails":null}`))
	require.NoError(t, err)
	bare, err := reply([]byte(`{"currencyCode":"EUR","summary":{},"customer":null}`))
	require.NoError(t, err)
	for name, p := range map[string]payments.Payment{"nothing known": {Captures: []payments.Entry{{Amount: 1}}}, "a foreign null": foreign, "no customer": bare} {
		text, err := wire.Encode(p)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(text, &got))
		for _, field := range []string{"paymentId", "currencyCode"} {
			require.IsType(t, "", got[field], "%s: %s", name, field)
		}
		address := got["customer"].(map[string]any)["address"].(map[string]any)
		for _, field := range []string{"address1", "city", "postalCode", "countryCode"} {
			require.IsType(t, "", address[field], "%s: customer.address.%s", name, field)
		}
		require.Contains(t, address, "address2")
		for _, e := range got["captures"].([]any) {
			require.IsType(t, "", e.(map[string]any)["dateTime"], name)
		}
		for _, list := range []string{"authorizations", "captures", "refunds", "cancellations"} {
			require.IsType(t, []any{}, got[list], "%s: %s", name, list)
		}
		for field, n := range got["summary"].(map[string]any) {
			require.IsType(t, 0.0, n, "%s: summary.%s", name, field)
		}
	}
	for name, answer := range map[string]any{"create": payments.Created{}, "operation": payments.Done{}} {
		text, err := wire.Encode(answer)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(text, &got))
		for field, v := range got {
			require.IsType(t, "", v, "%s: %s", name, field)
		}
	}
}
