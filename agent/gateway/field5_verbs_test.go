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

// A person had released what a journal held after a loss, and a client that asked for a thing of the lost one was told to repeat its write
// under its key: nothing held it any more, the backend had forgotten the key, and it was charged twice. The kind: each loss whose release
// ends the holding of repeats. As long as they are held, TestField2_M44AdviceAndHold says what is advised.
func TestField5_NothingAdvisesToRepeatWhatNobodyHoldsAnyMore(t *testing.T) {
	const unknown = "L00000000-0000-8000-8000-000000000001"
	for _, kind := range []store.Kind{store.WasRestored, store.WasAccepted, store.WasLost, store.WasLocked} {
		t.Run(string(kind), func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				backup := s.backup()
				_, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessSale, 1000))
				require.NoError(t, err)
				s.restore(backup)
				require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
					return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: kind}, Generation: 2, RunMS: 1})
				}))
				s.pass(25 * time.Hour)
				_, err = s.box.ReleaseEach(t.Context())
				require.NoError(t, err)
				for _, read := range []func() error{
					func() error { _, err := s.pay.Read(t.Context(), unknown); return err },
					func() error { _, err := s.tok.Token(t.Context(), unknown); return err },
				} {
					err := read()
					require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
					require.NotContains(t, err.Error(), "Idempotency-Key")
					require.ErrorContains(t, err, "compare the backend's portal")
				}
			})
		})
	}
}
