package salesapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/drivetest"
)

// closedDay is what a client reads of an end of day. It is written by hand.
type closedDay struct {
	Schema, Currency string
	Batch, Count     int
	Net              int64
	FirstReceipt     int
	Methods          []struct {
		Label      string
		Payments   int
		PaymentSum int64
		Refunds    int
		RefundSum  int64
	}
	Exceptions []string
}

func (r reply) day(t *testing.T) (v closedDay) {
	t.Helper()
	require.Equal(t, 200, r.status, r.body)
	unmarshal(t, r.body, &v)
	require.Equal(t, "posagent.day/1", v.Schema)
	return v
}

const dayPath = "/agent/v1/end-of-day"

// TestField2_L4AClientClosesTheDay: a box that sells over HTTP alone had no way to close a day. The day is the whole terminal's, so
// that a client that reaches its own sales alone neither closes nor reads one. Its answer lost, it asks again under its key.
func TestField2_L4AClientClosesTheDay(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	require.Equal(t, 404, x.ask("main", "GET", dayPath, "", "").status, "none was closed")
	x.reaches(x.sell("alpha", "k1", "1250").sale(t).ID, "CONFIRMED")
	x.reaches(x.sell("eyes", "k2", "500").sale(t).ID, "CONFIRMED")
	for who, want := range map[string]int{"alpha": 403, "deaf": 403} {
		require.Equal(t, want, x.ask(who, "POST", dayPath, "night", "").status, who)
		require.Equal(t, want, x.ask(who, "GET", dayPath, "", "").status, who)
	}
	require.Equal(t, 400, x.ask("eyes", "POST", dayPath, "", "").status, "without a key")
	require.Equal(t, 400, x.ask("eyes", "POST", dayPath, "night", `{"batch":1}`).status, "an unknown name")
	require.Equal(t, 405, x.ask("eyes", "PUT", dayPath, "night", "").status)

	first := x.ask("eyes", "POST", dayPath, "night", "").day(t)
	require.Equal(t, []any{1, 2, int64(1750), "EUR", 1}, []any{first.Batch, first.Count, first.Net, first.Currency, first.FirstReceipt})
	require.Equal(t, []any{"Swish", 2, int64(1750)}, []any{first.Methods[0].Label, first.Methods[0].Payments, first.Methods[0].PaymentSum})
	require.Equal(t, first, x.ask("eyes", "POST", dayPath, "night", "{}").day(t), "asked again")
	x.restart()
	x.reaches(x.sell("alpha", "k3", "700").sale(t).ID, "CONFIRMED")
	require.Equal(t, first, x.ask("eyes", "POST", dayPath, "night", "").day(t), "after a restart, and when the next day has begun")
	second := x.ask("main", "POST", dayPath, "night", "").day(t)
	require.Equal(t, []any{2, 1, int64(700)}, []any{second.Batch, second.Count, second.Net}, "another client's key is its own")
	require.Equal(t, second, x.ask("eyes", "GET", dayPath, "", "").day(t))
	require.Equal(t, first, x.ask("eyes", "POST", dayPath, "night", "").day(t))
	x.stop()
}

// TestField2_L4AFullBatchIsSaid: long before a batch is full people are told of it; full, the terminal is not ready, and says what
// to type. Once the day is closed it sells on.
func TestField2_L4AFullBatchIsSaid(t *testing.T) {
	x := open(t, 20*time.Millisecond, 0)
	x.reaches(x.sell("eyes", "k1", "1250").sale(t).ID, "CONFIRMED")
	said := func() string { return x.ask("eyes", "GET", "/agent/v1/status", "", "").body }
	drivetest.UseReceipts(t, x.db, 8999)
	require.NotContains(t, said(), "receipt numbers")
	drivetest.UseReceipts(t, x.db, 9000)
	require.Contains(t, said(), "9000 of the 9999 receipt numbers of the open batch are used, and with the last one every sale is refused: posagent sale end-of-day")
	require.Equal(t, 200, x.ask("main", "GET", "/readyz", "", "").status)

	drivetest.UseReceipts(t, x.db, 9999)
	probe := x.ask("main", "GET", "/readyz", "", "")
	require.Equal(t, 503, probe.status)
	require.Contains(t, probe.body, "the open batch has no receipt number left, and nothing is sold, 9999 of the 9999 receipt numbers of the open batch are used: posagent sale end-of-day")
	require.NotContains(t, said(), "with the last one", "it is said once")
	require.Equal(t, 503, x.sell("eyes", "k2", "500").status)
	require.Equal(t, 1, x.ask("eyes", "POST", dayPath, "night", "").day(t).Batch)
	require.Equal(t, 200, x.ask("main", "GET", "/readyz", "", "").status)
	require.Equal(t, "approved", x.sell("eyes", "k2", "500").sale(t).Outcome)
	x.stop()
}
