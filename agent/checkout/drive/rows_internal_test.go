package drive

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/storetest"
)

// TestNoConditionReadsEverySale: a journal of years must not make a sale slower.
func TestNoConditionReadsEverySale(t *testing.T) {
	db := storetest.Open(t, Schema()...)
	for where, index := range map[string]string{
		bySequence + ` ORDER BY id DESC LIMIT 1`:                 "checkout_sales_sequence",
		byReceipt:                                                "checkout_sales_receipt",
		byReceipt + ` ORDER BY id DESC LIMIT 1`:                  "checkout_sales_receipt",
		byTransaction + ` AND kind = 'payment' ORDER BY id DESC`: "checkout_sales_transaction",
		byUndo:                                                  "checkout_sales_undo",
		confirmedIn + ` ORDER BY id`:                            "checkout_sales_receipt",
		`batch = ? AND receipt != 0`:                            "checkout_sales_receipt",
		`batch = ? AND receipt != 0 ORDER BY id`:                "checkout_sales_receipt",
		`active = 1 ORDER BY id`:                                "checkout_sales_active",
		`active = 1 AND receipt = 0`:                            "checkout_sales_active",
		`line = ? ORDER BY id DESC LIMIT 1`:                     "checkout_sales_line",
		`line = ? AND id < ? AND receipt != 0 ORDER BY id DESC`: "checkout_sales_line",
	} {
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			args := make([]any, strings.Count(where, "?"))
			var a, b, c int
			var plan string
			require.NoError(t, r.QueryRow(`EXPLAIN QUERY PLAN SELECT * FROM checkout_sales WHERE `+where, args...).Scan(&a, &b, &c, &plan))
			require.Contains(t, plan, index, where)
			return nil
		}))
	}
}
