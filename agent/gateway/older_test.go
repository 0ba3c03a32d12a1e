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

// asOlder puts what is known of the clients' keys where the program before offline/7 had it.
func (s *shop) asOlder(keys ...string) {
	s.t.Helper()
	require.NoError(s.t, s.db.Write(s.t.Context(), func(tx store.Tx) error {
		for _, key := range keys {
			name := s.db.MAC("offline_keys", "name", "", key)
			_, err := tx.Exec(`INSERT INTO offline_keys (digest, body, key, name) SELECT digest, body, key, ? FROM offline_claims WHERE name = ?`, name, name[:16])
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO offline_things (about, local, backend, folded, key, seen, owner, mac)
			SELECT about, 'L' || key, '', '', key, seen, owner, mac FROM offline_claims WHERE about <> ''`)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM offline_claims`)
		}
		return err
	}))
	require.Equal(s.t, len(keys), s.count("offline_keys"))
}

// A client's key that came under an older program names its operation for ever: while it is open, once its payment has another id, and
// when it is purged.
func TestKeysThatCameUnderAnOlderProgram(t *testing.T) {
	const retention = 48 * time.Hour
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.stop()
		s.retention = retention
		s.start()
		s.pass(time.Second)
		s.cut()
		made, err := s.pay.Create(t.Context(), "k1", moto(payments.ProcessAuthorize, 500))
		require.NoError(t, err)
		capture := payments.CaptureRequest{Amount: some(200)}
		part, err := s.pay.Capture(t.Context(), "k2", made.PaymentID, capture)
		require.NoError(t, err)
		s.asOlder("k1", "k2")

		repeat := func(id string) {
			again, err := s.pay.Create(t.Context(), "k1", moto(payments.ProcessAuthorize, 500))
			require.NoError(t, err)
			require.Equal(t, id, again.PaymentID)
			_, err = s.pay.Create(t.Context(), "k1", moto(payments.ProcessAuthorize, 501))
			require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
			_, err = s.pay.Capture(t.Context(), "k2", made.PaymentID, capture)
			require.NoError(t, err)
			_, err = s.pay.Capture(t.Context(), "k2", made.PaymentID, payments.CaptureRequest{Amount: some(201)})
			require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
			require.Len(t, s.ops(), 2)
			require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) error {
				key, err := s.front.Find(r, wire.Caller{}, "k2")
				require.Equal(t, []wire.Key{part.Operation.Key}, key)
				return err
			}))
		}
		repeat(made.PaymentID)
		s.mend()
		s.pass(5 * time.Minute)
		repeat(s.backendID(made.PaymentID)) // the backend's own answer; our Key of the capture would be another one now
		n, sum := s.captured(s.backendID(made.PaymentID))
		require.Equal(t, 1, n)
		require.EqualValues(t, 200, sum)

		s.pass(retention + 2*time.Hour)
		require.Empty(t, s.ops())
		_, err = s.pay.Create(t.Context(), "k1", moto(payments.ProcessAuthorize, 500))
		require.Equal(t, wire.Gone, wire.CodeOf(err), "%v", err)
		_, err = s.pay.Capture(t.Context(), "k2", made.PaymentID, capture)
		require.Equal(t, wire.Gone, wire.CodeOf(err), "%v", err)
	})
}

// backendID is the backend's id of a payment.
func (s *shop) backendID(local string) (id string) {
	s.t.Helper()
	require.NoError(s.t, s.db.Read(s.t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT backend FROM offline_things WHERE about = 'payment' AND local = ?`, local).Scan(&id)
	}))
	require.NotEmpty(s.t, id)
	return id
}
