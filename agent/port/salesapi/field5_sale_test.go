package salesapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField5_WhatWasGivenBackIsKnownByItsKey: money was given back, and the row of its original did not verify
// since. Asked again under its key the client was refused, which says that nothing was given back. The kind: a
// refund and a reversal of a sale by its id; a new one is refused. The registers' are in ecr/nexo and
// agent/checkout/drive.
func TestField5_WhatWasGivenBackIsKnownByItsKey(t *testing.T) {
	for path, body := range map[string]string{"/refund?wait=60s": `{"amount":500}`, "/reverse?wait=60s": ""} {
		t.Run(path, func(t *testing.T) {
			x := open(t, 20*time.Millisecond, 0)
			v := x.sell("alpha", "k1", "1250").sale(t)
			x.reaches(v.ID, "CONFIRMED")
			at := "/agent/v1/sales/" + v.ID + path
			back := x.ask("alpha", "POST", at, "back", body).sale(t)
			require.Equal(t, "approved", back.Outcome, path)
			x.reaches(back.ID, "DONE")
			x.stop()
			db := storetest.OpenAt(t, x.path, agent.Schema()...)
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE checkout_sales SET amount = amount + 1 WHERE key = ?`, v.ID)
				return err
			}))
			require.NoError(t, db.Close())
			x.start()
			again := x.ask("alpha", "POST", at, "back", body)
			require.Equal(t, 200, again.status, "%s: %s", path, again.body)
			require.Equal(t, []any{back.ID, "approved", back.Amount}, []any{again.sale(t).ID, again.sale(t).Outcome, again.sale(t).Amount})
			require.Equal(t, "not-reversible", x.ask("alpha", "POST", at, "another", body).problem(t))
			require.Equal(t, 2, x.sales(), "nothing was begun")
			x.stop()
		})
	}
}
