package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// With the backend there, a caller gets its own answer.
func TestTheBackendsOwnAnswer(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		require.Nil(t, c.Operation)
		require.NotEqual(t, byte('L'), c.PaymentID[0])
		require.NotEmpty(t, c.PayPageURL)
		d, err := s.pay.Refund(t.Context(), "", c.PaymentID, payments.RefundRequest{})
		require.NoError(t, err)
		require.Nil(t, d.Operation)
		bad := moto(payments.ProcessSale, 1000)
		bad.CardDetails.PAN = wire.NewPAN(declined)
		_, err = s.pay.Create(t.Context(), "", bad)
		require.Equal(t, wire.Conflict, wire.CodeOf(err))
		require.NotEmpty(t, wire.ReasonOf(err), "the reason comes along")
	})
}

// The cable is cut for three hours: what is written is stored, dependent operations follow, and both ids name one payment.
func TestCutForThreeHours(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		began := time.Now()
		c, err := s.pay.Create(t.Context(), "till-1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(began), 3*time.Second)
		require.NotNil(t, c.Operation)
		require.Equal(t, "L"+string(c.Operation.Key), c.PaymentID)
		require.Empty(t, c.PayPageURL)
		require.Contains(t, c.Operation.Note, "merchant bears the risk")

		began = time.Now()
		part, err := s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{Amount: some(300)})
		require.NoError(t, err)
		require.Less(t, time.Since(began), time.Second, "it is known that nobody answers")
		require.Equal(t, c.PaymentID, part.PaymentID)
		require.Equal(t, "L"+string(part.Operation.Key), part.TransactionRef)
		all, err := s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err)
		require.EqualValues(t, 700, s.op(all.Operation.Key).AmountMin, "what is left")
		for _, id := range []string{c.PaymentID, string(c.Operation.Key)} {
			p, err := s.pay.Read(t.Context(), id)
			require.NoError(t, err)
			require.EqualValues(t, 1000, p.Summary.PaymentAmount)
			require.Equal(t, wire.PendingStatus, p.Operation.Status)
		}
		s.pass(3 * time.Hour)
		require.Equal(t, outbox.Pending, s.op(c.Operation.Key).State)
		s.mend()
		s.pass(time.Minute)

		again, err := s.pay.Create(t.Context(), "till-1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		require.Nil(t, again.Operation)
		require.NotEqual(t, c.PaymentID, again.PaymentID)
		for _, id := range []string{c.PaymentID, string(c.Operation.Key), again.PaymentID} {
			p, err := s.pay.Read(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, id, p.PaymentID, "the id asked is the id answered")
			require.EqualValues(t, 1000, p.Summary.CapturedAmount)
			require.Nil(t, p.Operation)
			_, err = s.pay.Refund(t.Context(), "", id, payments.RefundRequest{Amount: some(100)})
			require.NoError(t, err)
		}
		for _, op := range s.ops() {
			require.Equal(t, outbox.Done, op.State)
			require.Equal(t, "payment/"+c.PaymentID, op.Aggregate, "one payment, one line, by whatever id")
		}
		seen := map[string]bool{}
		for _, w := range s.cable.writes() {
			require.NotContains(t, w.path, c.PaymentID, "the backend's id is sent")
			require.NotEmpty(t, w.key)
			require.False(t, seen[w.key], "one Key, one operation")
			seen[w.key] = true
		}
		require.Len(t, seen, 6)
	})
}
