package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// TestField3_C5AKeyFindsWhatIsStillItsClients: an Idempotency-Key that came on two routes finds both operations, until a person gives one
// to another client: then it finds the one that is left, and names the other's nowhere. The terminal's own token finds its own keys' alone.
func TestField3_C5AKeyFindsWhatIsStillItsClients(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		caller := wire.Caller{Name: "alpha", Own: true}
		ctx := wire.WithCaller(t.Context(), caller)
		_, err := s.front.Tokens().Create(ctx, "k", tokens.CreateRequest{})
		require.NoError(t, err)
		_, err = s.front.Tokens().CreateRecurring(ctx, "k", tokens.RecurringRequest{})
		require.NoError(t, err)
		find := func(by wire.Caller) (keys []wire.Key) {
			_ = s.db.Read(t.Context(), func(r store.Reader) (err error) { keys, err = s.front.Find(r, by, "k"); return nil }) // none is no key
			return keys
		}
		both := find(caller)
		require.Len(t, both, 2)
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { _, err := s.front.Own(tx, both[0], "beta"); return err }))
		require.Equal(t, both[1:], find(caller))
		require.Empty(t, find(wire.Caller{Name: "beta", Own: true}), "beta has another key")
		require.Empty(t, find(wire.Caller{}))
	})
}
