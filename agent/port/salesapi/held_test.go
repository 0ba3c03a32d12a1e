package salesapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive/journal"
	"posagent/cross/need"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_M33AHeldSaleIsNotRunning: a client that asked for a sale which a restored journal has open
// heard "running", with a code that had been paid. It hears that a person looks, however it asks.
func TestField2_M33AHeldSaleIsNotRunning(t *testing.T) {
	x := open(t, byHand, 0)
	id := x.ask("alpha", "POST", "/agent/v1/sales", "k1", `{"amount":1250}`).sale(t).ID
	x.until("alpha", id, func(v sale) bool { return v.QR != nil })
	x.stop()
	db := storetest.OpenAt(t, x.path, agent.Schema()...)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := journal.SetAside(tx, db, "restored", time.Now())
		return err
	}))
	require.NoError(t, db.Close())
	x.start()
	held := func(r reply) {
		t.Helper()
		require.Equal(t, 200, r.status, r.body)
		v := r.sale(t)
		require.Equal(t, []any{id, "held", "in_progress", "held", "held: a person looks, do not repeat", true},
			[]any{v.ID, v.State, v.Outcome, v.Code, v.Text, v.Settling})
		require.Nil(t, v.QR)
		require.Nil(t, v.Receipts)
		require.Equal(t, "HELD", v.Sale.Phase)
	}
	for _, paid := range []bool{false, true} {
		if paid {
			x.pays(id)
			need.Until(t, "the alert of "+id, func() bool {
				n := 0
				require.NoError(t, x.db.Read(t.Context(), func(r store.Reader) error {
					return r.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE loud = 1 AND text LIKE '%held: the backend says that it was paid%'`).Scan(&n)
				}))
				return n == 1
			})
		}
		held(x.sell("alpha", "k1", "1250"))
		held(x.ask("alpha", "GET", "/agent/v1/sales?key=k1", "", ""))
		held(x.ask("alpha", "GET", "/agent/v1/sales/"+id, "", ""))
		held(x.ask("eyes", "GET", "/agent/v1/sales/"+id, "", ""))
		require.Equal(t, 404, x.ask("alpha", "GET", "/agent/v1/sales/"+id+"/qr.png", "", "").status)
		require.Equal(t, "too-late", x.ask("alpha", "POST", "/agent/v1/sales/"+id+"/abort", "", "").problem(t))
		require.Equal(t, "not-reversible", x.ask("alpha", "POST", "/agent/v1/sales/"+id+"/refund", "r1", `{"amount":100}`).problem(t))
	}
	require.Equal(t, 1, x.sales())
	phase, told := x.phase(id)
	require.Equal(t, []string{"HELD", ""}, []string{phase, told})
}
