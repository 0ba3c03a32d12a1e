package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField4_B10OneCopyTwiceGivesNoLocalNumberTwice: a backup was restored a second time, and the journal numbered its links as the first
// restored one had: a client that held a number read, paid for and took back another order's link. The kind: whatever a journal numbers
// itself behind a copy (agent/checkout/drive/journal has batches). A third is asked, because two may meet by chance.
func TestField4_B10OneCopyTwiceGivesNoLocalNumberTwice(t *testing.T) {
	begin := map[int64]bool{}
	for range 3 {
		db := storetest.Open(t, append(outbox.Schema(), gateway.Schema()...)...)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			require.NoError(t, gateway.SkipNumbers(tx, 60))
			behind, err := store.Column[int64](tx, `SELECT thing FROM offline_purged`)
			require.Len(t, behind, 1)
			require.Greater(t, behind[0], int64(100_000), "those of the lost journal are left out")
			begin[behind[0]] = true
			return err
		}))
	}
	require.Greater(t, len(begin), 1, "%v", begin)
}
