package salesapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestField4_TillsAReversalOfAPartIsNotOneOfTheWhole: a reversal of 5.00 of a sale of 12.50, by the sale's
// id, gave 12.50 back: its amount was read and not looked at. The kind: a reversal that names an amount, by
// the sale's id and by its receipt (here), and in JSON lines (ecr/jsonl); ZVT and nexo give the part back.
func TestField4_TillsAReversalOfAPartIsNotOneOfTheWhole(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	v := x.sell("alpha", "k1", "1250").sale(t)
	x.reaches(v.ID, "CONFIRMED")
	at := "/agent/v1/sales/" + v.ID + "/reverse?wait=60s"
	for path, body := range map[string]string{at: `{"amount":500}`, "/agent/v1/sales": `{"type":"reversal","receipt":1,"amount":500}`} {
		r := x.ask("alpha", "POST", path, "part", body)
		require.Equal(t, []any{422, "amount-wrong"}, []any{r.status, r.problem(t)}, "%s: %s", path, r.body)
	}
	require.Equal(t, 1, x.sales(), "nothing was begun")
	r := x.ask("alpha", "POST", at, "whole", `{"amount":1250}`)
	require.Equal(t, []any{200, "approved", int64(1250)}, []any{r.status, r.sale(t).Outcome, r.sale(t).Amount}, r.body)
	r = x.ask("alpha", "POST", at, "whole", `{"amount":500}`)
	require.Equal(t, []any{422, "key-reused"}, []any{r.status, r.problem(t)}, "another amount is another request")
	r = x.ask("alpha", "POST", at, "whole", "")
	require.Equal(t, 200, r.status, "absent means all: %s", r.body)
}

// TestField4_TillsAKeyThatEndsInASlashIsItself: asked for by the key "order/", which was never used, a
// client was answered with its sale under "order/1", approved. It is not found now, and each key is its own.
func TestField4_TillsAKeyThatEndsInASlashIsItself(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	get := func(key string) reply { return x.ask("alpha", "GET", "/agent/v1/sales?key="+key, "", "") }
	first := x.sell("alpha", "order/1", "1250").sale(t)
	r := get("order/")
	require.Equal(t, []any{404, "not-found"}, []any{r.status, r.problem(t)}, r.body)
	own := x.sell("alpha", "order/", "90003").sale(t)
	require.Equal(t, "declined", own.Outcome)
	again := x.sell("alpha", "order/2", "700").sale(t)
	for key, want := range map[string]sale{"order/1": first, "order/": own, "order/2": again} {
		v := get(key).sale(t)
		require.Equal(t, []any{want.ID, want.Outcome, want.Amount}, []any{v.ID, v.Outcome, v.Amount}, key)
	}
}
