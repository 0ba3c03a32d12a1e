package salesapi_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
)

// lostAnswer asks for a sale of a customer by hand, and is gone before it is paid.
func (x *rig) lostAnswer(key, body string) (id string) {
	x.t.Helper()
	conn := x.raw(x.request("alpha", "POST", "/agent/v1/sales?wait=60s", key, body))
	need.Until(x.t, "a sale is begun", func() bool { return x.sales() > 0 })
	require.NoError(x.t, conn.(*net.TCPConn).SetLinger(0)) // RST
	require.NoError(x.t, conn.Close())
	id = x.newest()
	x.pays(id)
	return id
}

// An approval whose answer was lost is not told: it is kept, over grace and restart, and asking by its
// key tells it.
func TestUnheardApprovalIsKept(t *testing.T) {
	x := open(t, byHand, 50*time.Millisecond)
	id := x.lostAnswer("k1", `{"amount":1250}`)
	x.reaches(id, "UNCONFIRMED")
	x.restart()
	require.Equal(t, 200, x.sold("alpha", "k2", `{"amount":700}`).status, "the next sale undoes nothing")
	phase, told := x.phase(id)
	require.Equal(t, []string{"UNCONFIRMED", "lost"}, []string{phase, told})
	r := x.ask("alpha", "GET", "/agent/v1/sales?key=k1", "", "")
	require.Equal(t, []any{200, id, "approved"}, []any{r.status, r.sale(t).ID, r.sale(t).Outcome}, r.body)
	x.reaches(id, "CONFIRMED")
}

// A client that says so has an approval undone that it did not hear.
func TestUnheardApprovalIsUndone(t *testing.T) {
	x := open(t, byHand, 0)
	id := x.lostAnswer("k1", `{"amount":1250,"unheard":"undo"}`)
	x.reaches(id, "UNCONFIRMED")
	require.Equal(t, 200, x.sold("alpha", "k2", `{"amount":700}`).status)
	v := x.until("alpha", id, func(v sale) bool { return v.Outcome == "aborted" && !v.Settling })
	require.Equal(t, "ended", v.State)
}

// A sale goes on over a restart of the program, and its key finds it then.
func TestRestartInTheMiddle(t *testing.T) {
	x := open(t, byHand, 0)
	id := x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1250}`).sale(t).ID
	x.restart()
	x.pays(id)
	v := x.sell("alpha", "k1", "1250").sale(t)
	require.Equal(t, []string{id, "approved"}, []string{v.ID, v.Outcome})
	x.reaches(id, "CONFIRMED")
	require.Equal(t, 1, x.sales())
}

// A purchase that comes again under another key shows that the client does not know of the first: that
// one is undone.
func TestSamePurchaseUnderAnotherKeyUndoesTheFirst(t *testing.T) {
	x := open(t, byHand, 0)
	first := x.lostAnswer("k1", `{"amount":1250,"reference":"order-1"}`)
	x.reaches(first, "UNCONFIRMED")
	r := x.sold("alpha", "k2", `{"amount":1250,"reference":"order-1"}`)
	require.Equal(t, []any{200, "approved"}, []any{r.status, r.sale(t).Outcome}, r.body)
	v := x.until("alpha", first, func(v sale) bool { return v.State == "ended" && !v.Settling })
	require.Equal(t, "aborted", v.Outcome)
	require.NotEqual(t, first, r.sale(t).ID)
}

// A journal that replaced another may lack the sale: 504 says so, and the same request sells once.
func TestAReplacedJournalDoesNotSayNotFound(t *testing.T) {
	x := open(t, 50*time.Millisecond, 0)
	require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
		return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: store.WasRestored, Why: "w"}, Generation: 2, AtMS: time.Now().UnixMilli()})
	}))
	r := x.ask("alpha", "GET", "/agent/v1/sales?key=k1", "", "")
	require.Equal(t, 504, r.status, r.body)
	require.Equal(t, "unknown-outcome", r.problem(t))
	v := x.sell("alpha", "k1", "1250")
	require.Equal(t, []any{200, "approved"}, []any{v.status, v.sale(t).Outcome}, v.body)
	require.Equal(t, 1, x.sales())
}
