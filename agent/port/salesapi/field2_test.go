package salesapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Null, an empty text, zero and a value of another type are never "absent" where absent means a payment, the terminal's
// currency, all of it, any method or the default (MONEY A.7). The kind: every such field of a request for a sale, and of one
// that takes a sale back. Nothing is begun, and the answer names the field.
func TestField2_R1_NoValueIsNotAbsent(t *testing.T) {
	x := open(t, time.Millisecond, time.Minute)
	paid := x.sell("main", "paid-1", "2000").sale(t)
	for field, values := range map[string][]string{
		"type": {"null", `""`, "1", "true", `["refund"]`}, "currency": {"null", `""`, "978"}, "original": {"null", `""`, "0", "{}"},
		"receipt": {"null", "0", `""`, `"1"`}, "method": {"null", `""`, "[]"}, "consumerId": {"null", `""`}, "unheard": {"null", `""`, "false"},
	} {
		for _, value := range values {
			r := x.ask("main", "POST", "/agent/v1/sales", "k-"+field, `{"amount":500,"`+field+`":`+value+`}`)
			require.Equal(t, http.StatusBadRequest, r.status, "%s %s: %s", field, value, r.body)
			require.Contains(t, string(r.body), field, value)
		}
	}
	for _, value := range []string{"null", `""`, "0", `"20.00"`, "-0"} {
		for path, body := range map[string]string{
			"/agent/v1/sales": `{"type":"reversal","receipt":1,"amount":VALUE}`, "/agent/v1/sales/" + paid.ID + "/refund": `{"amount":VALUE}`, "/agent/v1/sales/" + paid.ID + "/reverse": `{"amount":VALUE}`,
		} {
			r := x.ask("main", "POST", path, "k-amount", strings.Replace(body, "VALUE", value, 1))
			require.Equal(t, http.StatusBadRequest, r.status, "%s %s: %s", path, value, r.body)
		}
	}
	require.Equal(t, 1, x.sales(), "nothing was begun")
	back := x.ask("main", "POST", "/agent/v1/sales?wait=60s", "back-1", `{"type":"reversal","receipt":`+number(int64(paid.Receipt))+`}`).sale(t)
	require.EqualValues(t, 2000, back.Amount, "absent means all")
}
