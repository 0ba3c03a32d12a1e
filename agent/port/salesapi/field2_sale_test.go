package salesapi_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestField2_U2OneSaleEverywhere: a sale has the same names and the same values by itself, under its key and in a list: type, state, outcome.
// Under a key a list of one is answered. What clients of before read stays beside: the fields of the sale, kind and result, and the sale
// once more.
func TestField2_U2OneSaleEverywhere(t *testing.T) {
	x := open(t, time.Millisecond, 0)
	fields := func(r reply) (v map[string]any) {
		t.Helper()
		require.Equal(t, 200, r.status, r.body)
		require.NoError(t, json.Unmarshal([]byte(r.body), &v))
		return v
	}
	one := func(list any) map[string]any {
		t.Helper()
		require.IsType(t, []any{}, list)
		require.Len(t, list, 1)
		return list.([]any)[0].(map[string]any)
	}
	id := x.ask("alpha", "POST", "/agent/v1/sales?wait=25s", "k1", `{"amount":1250,"currency":"EUR","type":"payment","reference":"4711"}`).sale(t).ID
	x.until("alpha", id, func(v sale) bool { return v.State == "ended" })
	x.reaches(id, "CONFIRMED")
	alone, named, list := fields(x.ask("alpha", "GET", "/agent/v1/sales/"+id, "", "")), fields(x.ask("alpha", "GET", "/agent/v1/sales?key=k1", "", "")), fields(x.ask("alpha", "GET", "/agent/v1/sales", "", ""))
	require.Equal(t, []any{"posagent.sale/1", "posagent.sales/1", "posagent.sales/1"}, []any{alone["schema"], named["schema"], list["schema"]})
	inList, byKey := one(list["sales"]), one(named["sales"])
	for _, name := range []string{"id", "key", "type", "state", "outcome", "amount", "currency", "method", "label", "receipt", "trace", "transaction", "settling", "line", "phase",
		"told", "reference", "batch", "created", "traceId", "settled", "backendState", "accountState", "kind", "result", "transactionId"} {
		require.NotNil(t, alone[name], name)
		for what, got := range map[string]any{"in a list": inList[name], "under a key": byKey[name], "beside the list of a key": named[name]} {
			if name == "told" { // each answer is told
				require.NotEmpty(t, got, what)
				continue
			}
			require.Equal(t, alone[name], got, "%s %s", name, what)
		}
	}
	require.Equal(t, []any{"payment", "ended", "approved"}, []any{alone["type"], alone["state"], alone["outcome"]})
	require.Equal(t, []any{"payment", "approved"}, []any{alone["kind"], alone["result"]}, "as lists said it before")
	require.Equal(t, id, alone["sale"].(map[string]any)["id"], "as a sale by itself said it before")
	for _, name := range []string{"timeline", "receipts"} {
		require.NotEmpty(t, alone[name], name)
		require.NotEmpty(t, byKey[name], name)
		require.NotContains(t, inList, name, "a list is no history")
	}
	require.NotContains(t, byKey, "sale", "what is new repeats nothing")
	require.Equal(t, 404, x.ask("alpha", "GET", "/agent/v1/sales?key=none", "", "").status, "nothing was done under it: clients rely on it")
}
