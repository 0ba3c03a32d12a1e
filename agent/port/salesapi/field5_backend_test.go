package salesapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestField5_ReversalOfAPartInTheAddress: "/reverse?amount=500" with an empty body gave 12.50 back, since nobody reads the address for an
// amount and absent means all. The kind: each field of the two bodies whose absence means all or a default, in the address of each route
// (here), and the writes of the services (schemes/backend).
func TestField5_ReversalOfAPartInTheAddress(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	v := x.sell("alpha", "k1", "1250").sale(t)
	x.reaches(v.ID, "CONFIRMED")
	at := "/agent/v1/sales/" + v.ID
	for _, row := range [][2]string{
		{at + "/reverse?amount=500", ""}, {at + "/reverse?wait=60s&Amount=500", "{}"}, {at + "/refund?unheard=undo", `{"amount":500}`},
		{"/agent/v1/sales?amount=500", `{"type":"reversal","receipt":1}`}, {"/agent/v1/sales?type=refund", `{"amount":500}`},
	} {
		r := x.ask("alpha", "POST", row[0], "part", row[1])
		require.Equal(t, 400, r.status, "%s: %s", row[0], r.body)
		require.Contains(t, string(r.body), "address", row[0])
	}
	require.Equal(t, 1, x.sales(), "nothing was begun")
}
