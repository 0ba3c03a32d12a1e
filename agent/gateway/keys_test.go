package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// One key on two routes names two operations (MONEY C.8: its scope is client, method and path), and both are found by it, for their
// client alone; the same route again is the same operation.
func TestAKeyOnTwoRoutesFindsBoth(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		alpha := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true})
		s.cut()
		made, err := s.pay.Create(alpha, "k1", moto(payments.ProcessAuthorize, 500))
		require.NoError(t, err)
		part, err := s.pay.Capture(alpha, "k1", made.PaymentID, payments.CaptureRequest{Amount: some(200)})
		require.NoError(t, err)
		again, err := s.pay.Capture(alpha, "k1", made.PaymentID, payments.CaptureRequest{Amount: some(200)})
		require.NoError(t, err)
		require.Equal(t, part.Operation.Key, again.Operation.Key)
		require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) error {
			keys, err := s.front.Find(r, wire.Caller{Name: "alpha", Own: true}, "k1")
			require.NoError(t, err)
			require.Equal(t, []wire.Key{made.Operation.Key, part.Operation.Key}, keys)
			_, err = s.front.Find(r, wire.Caller{Name: "beta", Own: true}, "k1")
			require.ErrorIs(t, err, outbox.ErrUnknown)
			return nil
		}))
	})
}

// However often the answer is lost, it is one operation with one Key and one body.
func TestUndoIsSentAgainUnderItsKey(t *testing.T) {
	for _, kind := range []string{gateway.KindReversal, gateway.KindRefund} {
		svc := &service{
			start: func(n int, _ bool) (aapay.Reply, error) {
				if n < 4 {
					return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "t", "no reply")
				}
				return reply(202, 0, "pp-1"), nil
			},
			status: func(int, string) (aapay.Status, error) { return state(aapay.Finalized, aapay.Commit), nil },
		}
		run(t, kind, svc, nil, 10*time.Minute, func(op outbox.Op, _ []gateway.UndoResult) {
			require.Equal(t, outbox.Done, op.State)
			require.Len(t, svc.keys, 4)
			for i, key := range svc.keys {
				require.Equal(t, op.Key, key)
				require.Equal(t, svc.requests[0], svc.requests[i])
			}
		})
	}
}
