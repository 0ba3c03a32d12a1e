package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// TestField4_UpdateAClientsWriteOnTrial: while a program is on trial the steps of KeySchema wait. A client's write about a thing that the
// terminal made failed then, and so did one whose id has capitals. It is done once.
func TestField4_UpdateAClientsWriteOnTrial(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { // as a journal of before
			for _, column := range []string{"spelled", "canonical"} {
				if _, err := tx.Exec(`ALTER TABLE offline_purged DROP COLUMN ` + column); err != nil {
					return err
				}
			}
			for _, st := range gateway.KeySchema() {
				if _, err := tx.Exec(`DELETE FROM store_steps WHERE name = ?`, st.Name); err != nil {
					return err
				}
			}
			return nil
		}))
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		part := payments.CaptureRequest{Amount: some(300)}
		for range 2 {
			_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
			require.NoError(t, err)
		}
		_, err = s.pay.Capture(t.Context(), "d2", "NOT-Here", part)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		s.pass(time.Minute)
		n, sum := s.captured(c.PaymentID)
		require.Equal(t, []any{1, int32(300)}, []any{n, sum})
	})
}
