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

// count counts the rows of a table.
func (s *shop) count(table string) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT COUNT(*) FROM ` + table).Scan(&n)
	}))
	return n
}

// After its retention an operation is gone: its key names nothing else for ever, its payment is still known by its local id, and of a
// payment that never came to be only the key is left.
func TestField_J7APurgedOperationKeepsItsKey(t *testing.T) {
	const retention = 48 * time.Hour
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.stop()
		s.retention = retention
		s.start()
		s.pass(time.Second)
		s.cut()
		good, err := s.pay.Create(t.Context(), "k1", moto(payments.ProcessSale, 500))
		require.NoError(t, err)
		bad := moto(payments.ProcessSale, 700)
		bad.CardDetails.PAN = wire.NewPAN(declined)
		never, err := s.pay.Create(t.Context(), "k2", bad)
		require.NoError(t, err)
		s.mend()
		s.pass(5 * time.Minute)
		require.Equal(t, 2, s.count("offline_claims"))
		require.Equal(t, 1, s.count("offline_things"), "the one that the backend has named")

		s.pass(retention - time.Hour)
		again, err := s.pay.Create(t.Context(), "k1", moto(payments.ProcessSale, 500))
		require.NoError(t, err)
		require.Nil(t, again.Operation, "the backend's own answer")
		_, err = s.pay.Create(t.Context(), "k1", moto(payments.ProcessSale, 501))
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
		require.Len(t, s.ops(), 2)

		s.pass(3 * time.Hour)
		require.Empty(t, s.ops())
		require.Zero(t, s.count("offline_claims"))
		require.Equal(t, 2, s.count("offline_keys"))
		require.Equal(t, 2, s.count("offline_things"))
		read, err := s.pay.Read(t.Context(), good.PaymentID)
		require.NoError(t, err)
		require.Equal(t, int32(500), read.Summary.CapturedAmount)
		_, err = s.pay.Refund(t.Context(), "k3", good.PaymentID, payments.RefundRequest{Amount: some(200)})
		require.NoError(t, err)
		refused, err := s.pay.Read(t.Context(), never.PaymentID)
		require.NoError(t, err, "readable by its id for ever")
		require.Equal(t, "failed", refused.Operation.Status)
		require.Contains(t, refused.Operation.Note, "never made: ")
		require.Equal(t, int32(700), refused.Summary.PaymentAmount)
		require.Zero(t, refused.Summary.AuthorizedAmount)

		for range 2 { // over a restart too
			for _, amount := range []int32{500, 501} {
				_, err = s.pay.Create(t.Context(), "k1", moto(payments.ProcessSale, amount))
				require.Equal(t, wire.Gone, wire.CodeOf(err), "%v", err)
				require.ErrorContains(t, err, "operation "+string(good.Operation.Key)+", which ended DONE")
			}
			_, err = s.pay.Create(t.Context(), "k2", bad)
			require.ErrorContains(t, err, "operation "+string(never.Operation.Key)+", which ended FAILED")
			s.stop()
			s.start()
			s.pass(time.Second)
		}
		require.Len(t, s.ops(), 1, "the refund")
		other, err := s.pay.Create(t.Context(), "k4", moto(payments.ProcessSale, 501))
		require.NoError(t, err)
		require.NotEqual(t, again.PaymentID, other.PaymentID)

		s.cut()
		_, err = s.pay.Read(t.Context(), good.PaymentID)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "half of its history would tell wrong sums: %v", err)
	})
}
