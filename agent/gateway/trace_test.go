package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// A client's trace is stored with its operation: what is sent after a restart belongs to it, and what had none to that of its Key.
func TestTraceOfAStoredOperation(t *testing.T) {
	const trace = wire.Trace("4bf92f3577b34da6a3ce929d0e0e4736")
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		req := payments.CreateRequest{Type: payments.ProviderHosted, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale}
		_, err := s.pay.Create(t.Context(), "before", req)
		require.NoError(t, err)
		s.cut()
		_, err = s.pay.Create(wire.WithTrace(t.Context(), trace), "with", req)
		require.NoError(t, err)
		_, err = s.pay.Create(t.Context(), "with", req) // the same request: its trace is no part of it
		require.NoError(t, err)
		_, err = s.pay.Create(t.Context(), "without", req)
		require.NoError(t, err)
		s.stop()
		s.start()
		s.mend()
		s.pass(5 * time.Minute)
		ops := s.ops()
		require.Len(t, ops, 3)
		books, err := s.backend.Books(t.Context())
		require.NoError(t, err)
		got := map[wire.Trace]int{}
		for _, e := range books {
			got[e.TraceID]++
		}
		want := map[wire.Trace]int{trace: 1, wire.TraceOfKey(ops[0].Key): 1, wire.TraceOfKey(ops[2].Key): 1}
		require.Equal(t, want, got)
		require.Equal(t, trace, ops[1].Trace)
	})
}
