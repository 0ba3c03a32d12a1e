package drive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/store"
)

// rows counts a table.
func (r *rig) rows(table string) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) error {
		return rd.QueryRow(`SELECT COUNT(*) FROM ` + table).Scan(&n)
	}))
	return n
}

// Sales that have ended go after KeepSales of running time, with all that belongs to them; the sums
// of their batch stay, what is open or unclosed stays, ids are not given again, and a jump of the
// wall clock deletes nothing.
func TestField_J10OldSalesArePurged(t *testing.T) {
	const day = 24 * time.Hour
	terminal(t, func(r *rig) {
		r.Halt()
		r.cfg.KeepSales = 2 * day
		r.Start()
		for range 3 {
			r.approved(1000)
		}
		totals, err := r.Close(context.Background())
		require.NoError(t, err)
		require.Equal(t, 3, totals.Count)
		r.approved(1000) // confirmed, on the open batch
		r.jump(2 * 366 * day)
		pass(46 * time.Hour)
		require.Equal(t, 4, r.rows("checkout_sales"), "only running time counts")
		late := r.approved(1000)
		pass(2 * day)
		require.Equal(t, 2, r.rows("checkout_sales"), "the unclosed one and the newest")
		require.Equal(t, 2, r.rows("checkout_requests"))
		require.Equal(t, 1, r.rows("checkout_batches"))
		require.LessOrEqual(t, r.rows("checkout_ages"), 5)
		require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			sales, err := journal.Sales(rd, 10)
			require.NoError(t, err)
			require.Len(t, sales, 2)
			require.Equal(t, late.Sale, string(sales[0].Key))
			n := 0
			require.NoError(t, rd.QueryRow(`SELECT COUNT(*) FROM checkout_entries WHERE sale NOT IN (SELECT key FROM checkout_sales)`).Scan(&n))
			require.Zero(t, n, "the history goes with its sale")
			return nil
		}))
		second, err := r.Close(context.Background())
		require.NoError(t, err)
		require.Equal(t, 2, second.Count)
		pass(5 * day)
		require.Equal(t, 1, r.rows("checkout_sales"), "the newest stays: the next id is above it")
		require.Equal(t, 2, r.rows("checkout_batches"))
		r.approved(1000)
		require.NoError(t, r.DB.Read(context.Background(), func(rd store.Reader) error {
			sales, err := journal.Sales(rd, 1)
			require.NoError(t, err)
			require.EqualValues(t, 6, sales[0].ID)
			return nil
		}))
	})
}
