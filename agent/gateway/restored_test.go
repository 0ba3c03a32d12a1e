package gateway_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// bundleKey wraps what is in a backup.
var bundleKey = storetest.Wrapper{ID: 99}

// backup copies the journal of the running shop.
func (s *shop) backup() string {
	s.t.Helper()
	copied := filepath.Join(s.t.TempDir(), "copy.db")
	require.NoError(s.t, sqlite.Snapshot(s.t.Context(), s.path, copied, s.key, bundleKey, nil))
	return copied
}

// restore stops the shop, puts a copy in its journal's place and starts it again.
func (s *shop) restore(copied string) {
	s.t.Helper()
	s.stop()
	require.NoError(s.t, sqlite.Stage(s.t.Context(), sqlite.Options{Path: copied, Steps: steps(), Wrapper: s.key}, bundleKey, "an older backup"))
	require.NoError(s.t, sqlite.Replace(s.t.Context(), copied, s.path, false))
	s.restored = "an older backup"
	s.start()
	s.pass(time.Second)
}

// captured is what the backend's books say of a payment: how many captures, and their sum.
func (s *shop) captured(id string) (int, int32) {
	s.t.Helper()
	p, err := s.backend.Payments().Read(s.t.Context(), id)
	require.NoError(s.t, err)
	return len(p.Captures), p.Summary.CapturedAmount
}

// newBox goes on at another box, whose journal and key are its own.
func (s *shop) newBox() {
	s.t.Helper()
	s.stop()
	s.key, s.path, s.secret = storetest.Wrapper{ID: s.key.ID + 1}, filepath.Join(s.t.TempDir(), "agent.db"), ""
	s.start()
	s.pass(time.Second)
}

// rotate changes the key of the box, as posagent config rotate-key does.
func (s *shop) rotate() {
	s.t.Helper()
	next := storetest.Wrapper{ID: s.key.ID + 1}
	secret, err := s.db.Secret(s.t.Context(), "callers", s.secret)
	require.NoError(s.t, err)
	require.NoError(s.t, s.db.Rewrap(s.t.Context(), next, nil))
	require.NoError(s.t, store.KeepSecret(s.secret, next, secret))
	s.stop()
	s.key = next
	s.start()
	s.pass(time.Second)
}

// An older backup is restored, and a client repeats its key: one capture in the backend's books, whatever happened to the box.
func TestField_J7ARestoredJournalMakesTheSameKey(t *testing.T) {
	for name, between := range map[string]func(s *shop, backup string){
		"restored":                   func(s *shop, backup string) { s.restore(backup) },
		"key rotated, then restored": func(s *shop, backup string) { s.rotate(); s.restore(backup) },
		"restored, then key rotated": func(s *shop, backup string) { s.restore(backup); s.rotate() },
		"restored on a new box":      func(s *shop, backup string) { s.newBox(); s.restore(backup) },
		"journal lost, nothing saved": func(s *shop, _ string) {
			s.stop()
			s.path = filepath.Join(s.t.TempDir(), "agent.db")
			s.start()
			s.pass(time.Second)
			_, err := s.pay.Create(s.t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
			require.NoError(s.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				before, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
				require.NoError(t, err)
				backup := s.backup()
				after, err := s.pay.Create(t.Context(), "c2", moto(payments.ProcessAuthorize, 2000))
				require.NoError(t, err)
				part := payments.CaptureRequest{Amount: some(300)}
				first := map[string]payments.Done{}
				for key, id := range map[string]string{"d1": before.PaymentID, "d2": after.PaymentID} {
					first[key], err = s.pay.Capture(t.Context(), wire.Key(key), id, part)
					require.NoError(t, err)
				}

				between(s, backup)
				c, err := s.pay.Create(t.Context(), "c2", moto(payments.ProcessAuthorize, 2000))
				require.NoError(t, err)
				require.Equal(t, after, c, "the backend's id names the payment that the key made")
				for range 2 {
					for key, id := range map[string]string{"d1": before.PaymentID, "d2": after.PaymentID} {
						again, err := s.pay.Capture(t.Context(), wire.Key(key), id, part)
						require.NoError(t, err)
						require.Equal(t, first[key], again, "the backend's own answer")
						n, sum := s.captured(id)
						require.Equal(t, 1, n)
						require.EqualValues(t, 300, sum)
						_, err = s.pay.Capture(t.Context(), wire.Key(key), id, payments.CaptureRequest{Amount: some(301)})
						require.Equal(t, wire.KeyReused, wire.CodeOf(err), "another body: %v", err)
					}
				}
				other, err := s.pay.Capture(t.Context(), "d3", after.PaymentID, part)
				require.NoError(t, err)
				require.NotEqual(t, first["d2"].TransactionRef, other.TransactionRef)
				n, _ := s.captured(after.PaymentID)
				require.Equal(t, 2, n, "another key is another capture")
			})
		})
	}
}

// A thing has a local id and the backend's: under one key both name one operation, also where the journal has lost it.
func TestField_J7ANameIsNotAnotherThing(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		s.mend()
		s.pass(time.Minute)
		made, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		require.NotEqual(t, c.PaymentID, made.PaymentID)
		backup := s.backup()
		part := payments.CaptureRequest{Amount: some(300)}
		first, err := s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		s.restore(backup)
		again, err := s.pay.Capture(t.Context(), "d1", made.PaymentID, part)
		require.NoError(t, err)
		require.Equal(t, first.TransactionRef, again.TransactionRef)
		n, _ := s.captured(made.PaymentID)
		require.Equal(t, 1, n)
	})
}

// In a restored journal that has lost the operation the backend says that the key was used with another body.
func TestField_J7AnotherBodyAfterARestore(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		backup := s.backup()
		_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, payments.CaptureRequest{Amount: some(300)})
		require.NoError(t, err)
		s.restore(backup)
		_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, payments.CaptureRequest{Amount: some(301)})
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
		n, sum := s.captured(c.PaymentID)
		require.Equal(t, 1, n)
		require.EqualValues(t, 300, sum)
	})
}

// A restored journal that is older than the backend's memory of a key holds what comes under a client's key, until a person has
// released everything.
func TestField_J7AnOldRestoredJournalHoldsKeys(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		backup := s.backup()
		part := payments.CaptureRequest{Amount: some(300)}
		_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		s.restore(backup)
		_, err = s.pay.Capture(t.Context(), "young", c.PaymentID, payments.CaptureRequest{Amount: some(1)})
		require.NoError(t, err)
		s.pass(25 * time.Hour)

		held, err := s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		require.NotNil(t, held.Operation)
		require.Equal(t, outbox.Held, s.op(held.Operation.Key).State)
		require.Contains(t, s.op(held.Operation.Key).Reason, "restored")
		s.pass(time.Hour)
		n, _ := s.captured(c.PaymentID)
		require.Equal(t, 2, n, "the held one was not sent")
		again, err := s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		require.Equal(t, held.Operation.Key, again.Operation.Key)
		secret := moto(payments.ProcessSale, 5)
		secret.CardDetails.ValidationCode = "123"
		_, err = s.pay.Create(t.Context(), "v1", secret)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "what cannot be stored cannot be held: %v", err)
		require.NoError(t, s.box.Resolve(t.Context(), held.Operation.Key, outbox.Failed, "captured before, the portal says"))

		s.stop() // a restart forgets nothing of it
		s.start()
		s.pass(time.Second)
		more, err := s.pay.Create(t.Context(), "c2", moto(payments.ProcessSale, 700))
		require.NoError(t, err)
		require.Equal(t, outbox.Held, s.op(more.Operation.Key).State)
		_, err = s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 700))
		require.NoError(t, err, "without a key nothing can be a repeat")
		_, err = s.box.ReleaseEach(t.Context())
		require.NoError(t, err)
		s.pass(time.Second)
		require.Equal(t, outbox.Done, s.op(more.Operation.Key).State)
		free, err := s.pay.Create(t.Context(), "c3", moto(payments.ProcessSale, 700))
		require.NoError(t, err)
		require.Nil(t, free.Operation)
	})
}

// Where the backend honours no keys, a restored journal holds what comes under a client's key at once.
func TestField_J7WithoutKeysARestoredJournalHoldsAtOnce(t *testing.T) {
	inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		backup := s.backup()
		s.cable.set(false, keyless)
		part := payments.CaptureRequest{Amount: some(300)}
		_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		s.restore(backup)
		held, err := s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		require.NotNil(t, held.Operation)
		s.pass(time.Hour)
		n, _ := s.captured(c.PaymentID)
		require.Equal(t, 1, n)
	})
}

// What was withdrawn is asked for again under the same key: the same operation goes on.
func TestField_J7AWithdrawnOperationIsRevived(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		req := moto(payments.ProcessSale, 900)
		req.CardDetails.ValidationCode = "123"
		s.cut()
		_, err := s.pay.Create(t.Context(), "c1", req)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.Len(t, s.ops(), 1)
		key := s.ops()[0].Key
		require.Equal(t, outbox.Expired, s.ops()[0].State)
		other := req
		other.Amount = 901
		s.mend()
		s.pass(time.Minute)
		_, err = s.pay.Create(t.Context(), "c1", other)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
		made, err := s.pay.Create(t.Context(), "c1", req)
		require.NoError(t, err)
		require.Nil(t, made.Operation)
		require.Len(t, s.ops(), 1)
		require.Equal(t, key, s.ops()[0].Key)
		require.Equal(t, outbox.Done, s.ops()[0].State)
		require.Equal(t, string(key), s.cable.writes()[0].key)
		require.Len(t, s.cable.writes(), 1)
		again, err := s.pay.Create(t.Context(), "c1", req)
		require.NoError(t, err)
		require.Equal(t, made, again)
		lines := []outbox.Line{}
		require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) (err error) { lines, err = outbox.Report(r); return err }))
		require.Equal(t, []outbox.Line{{Kind: gateway.KindPaymentCreate, Currency: "EUR", State: outbox.Done, Count: 1, Sum: 900}}, lines)
	})
}

// A thing named by a local id that the journal has lost is not asked for at the backend, and nothing is frozen under the key.
func TestField_J7ALostLocalIDIsNotSent(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		backup := s.backup()
		s.cut()
		c, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		part := payments.CaptureRequest{Amount: some(300)}
		_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.NoError(t, err)
		s.mend()
		s.pass(time.Minute)
		s.restore(backup)
		_, err = s.pay.Capture(t.Context(), "d1", c.PaymentID, part)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
		require.Empty(t, s.ops())
		again, err := s.pay.Create(t.Context(), "c1", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		n, _ := s.captured(again.PaymentID)
		require.Equal(t, 1, n)
	})
}
