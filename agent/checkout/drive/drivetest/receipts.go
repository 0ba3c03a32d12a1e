package drivetest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout/drive/journal"
	"posagent/store"
)

// UseReceipts gives receipt numbers of the open batch to copies of its newest sale until so many are
// used: in place of hours of sales. The copies do not verify.
func UseReceipts(t *testing.T, db store.DB, used int) {
	t.Helper()
	var now journal.Receipts
	require.NoError(t, db.Read(context.Background(), func(r store.Reader) (err error) { now, err = journal.ReceiptsOf(r); return err }))
	if now.Used < used {
		Copy(t, db, used-now.Used)
	}
}

// Copy adds copies of the newest sale, each with the next receipt number where that has one. They do not
// verify.
func Copy(t *testing.T, db store.DB, count int) {
	t.Helper()
	require.NoError(t, db.Write(context.Background(), func(tx store.Tx) error {
		columns, err := store.Column[string](tx, `SELECT name FROM pragma_table_info('checkout_sales')`)
		if err != nil {
			return err
		}
		given := map[string]string{
			"id": "s.id + n.i", "key": "s.id || '-copy-' || n.i", "receipt": "CASE s.receipt WHEN 0 THEN 0 ELSE s.receipt + n.i END", "transaction_id": "0", "sequence": "''",
		}
		values := make([]string, len(columns))
		for i, name := range columns {
			if values[i] = given[name]; values[i] == "" {
				values[i] = "s." + name
			}
		}
		_, err = tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO checkout_sales (`+strings.Join(columns, ", ")+`) SELECT `+strings.Join(values, ", ")+`
			FROM checkout_sales s, n WHERE s.id = (SELECT MAX(id) FROM checkout_sales)`, count)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE checkout_counters SET value = (SELECT MAX(receipt) FROM checkout_sales) WHERE name = 'receipt'`)
		return err
	}))
}
