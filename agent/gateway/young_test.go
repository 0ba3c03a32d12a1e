package gateway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// A payment that came under a client's key stands beside its operation until the backend has named it. It is found there by its local
// id, for its owner alone, and moves with both ids once it has them.
func TestAPaymentStandsBesideItsOperation(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		alpha, beta := wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true}), wire.WithCaller(t.Context(), wire.Caller{Name: "beta", Own: true})
		s.cut()
		made, err := s.pay.Create(alpha, "k1", moto(payments.ProcessAuthorize, 500))
		require.NoError(t, err)
		local, key := made.PaymentID, made.Operation.Key
		require.Equal(t, "L"+string(key), local)
		require.Zero(t, s.count("offline_things"))
		find := func(caller wire.Caller) (found wire.Key, ids string) {
			require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) (err error) {
				keys, err := s.front.Find(r, caller, local)
				if err != nil {
					require.ErrorIs(t, err, outbox.ErrUnknown)
					return nil
				}
				require.Len(t, keys, 1)
				found = keys[0]
				a, b := gateway.IDs(r, s.op(key))
				ids = a + "," + b
				return nil
			}))
			return found, ids
		}
		reach := func(owner, other string) {
			mine, theirs := wire.WithCaller(t.Context(), wire.Caller{Name: owner, Own: true}), wire.WithCaller(t.Context(), wire.Caller{Name: other, Own: true})
			read, err := s.pay.Read(mine, local)
			require.NoError(t, err)
			require.Equal(t, int32(500), read.Summary.PaymentAmount)
			_, err = s.pay.Read(theirs, local)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
			_, err = s.pay.Capture(theirs, "k2", local, payments.CaptureRequest{})
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
			found, ids := find(wire.Caller{Name: owner, Own: true})
			require.Equal(t, key, found)
			require.Equal(t, local+",", ids)
			found, _ = find(wire.Caller{Name: other, Own: true})
			require.Empty(t, found)
		}
		reach("alpha", "beta")
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
			given, err := s.front.Own(tx, key, "beta")
			require.Len(t, given.Ops, 1)
			require.Equal(t, "payment,", given.About+","+given.Backend)
			return err
		}))
		reach("beta", "alpha")
		_, err = s.pay.Create(alpha, "k1", moto(payments.ProcessAuthorize, 500))
		require.NoError(t, err, "its key is still the one that made it")
		_, err = s.pay.Capture(beta, "k3", local, payments.CaptureRequest{Amount: some(200)})
		require.NoError(t, err)
		require.Len(t, s.ops(), 2)

		s.mend()
		s.pass(5 * time.Minute)
		require.Equal(t, 1, s.count("offline_things"))
		n, sum := s.captured(s.backendID(local))
		require.Equal(t, 1, n)
		require.EqualValues(t, 200, sum)
		for _, id := range []string{local, s.backendID(local)} {
			_, err = s.pay.Read(beta, id)
			require.NoError(t, err)
			_, err = s.pay.Read(alpha, id)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		}
	})
}

// A payment whose owner was changed in the store is not reached by anyone, and nothing is sent for it.
func TestAnAlteredPaymentBesideItsOperationIsNotUsed(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		made, err := s.pay.Create(wire.WithCaller(t.Context(), wire.Caller{Name: "alpha", Own: true}), "k1", moto(payments.ProcessAuthorize, 500))
		require.NoError(t, err)
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE offline_claims SET owner = 'beta'`)
			return err
		}))
		_, err = s.pay.Capture(wire.WithCaller(t.Context(), wire.Caller{Name: "beta", Own: true}), "k2", made.PaymentID, payments.CaptureRequest{})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.Len(t, s.ops(), 1)
	})
}
