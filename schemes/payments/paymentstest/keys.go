package paymentstest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

func (f Fixture) idempotency(t *testing.T) {
	t.Run("create", func(t *testing.T) {
		key, req := wire.NewKey(), f.Hosted("")
		first, err := f.make(t, key, req)
		require.NoError(t, err)
		again, err := f.make(t, key, req)
		require.NoError(t, err)
		require.Equal(t, first, again)
		req.Amount++
		_, err = f.make(t, key, req)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	})
	t.Run("create without a key", func(t *testing.T) {
		a, err := f.Service.Create(t.Context(), "", f.Hosted(""))
		require.NoError(t, err)
		b, err := f.Service.Create(t.Context(), "", f.Hosted(""))
		require.NoError(t, err)
		require.NotEqual(t, a.PaymentID, b.PaymentID)
	})
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			id, key := op.ready(f, t), wire.NewKey()
			first, err := f.act(t, key, op.name, id, 100)
			require.NoError(t, err)
			again, err := f.act(t, key, op.name, id, 100)
			require.NoError(t, err)
			require.Equal(t, first, again)
			f.sums(t, id, op.after[0], op.after[1], op.after[2])
			if !op.whole {
				_, err = f.act(t, key, op.name, id, 101)
				require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
				f.sums(t, id, op.after[0], op.after[1], op.after[2])
			}
		})
	}
	t.Run("a refusal is kept", func(t *testing.T) {
		key, id := wire.NewKey(), f.made(t, f.Hosted(""))
		_, err := f.act(t, key, "capture", id, 100)
		isRefused(t, err, payments.NotReserved)
		f.did(t, "authorize", id, 0)
		_, err = f.act(t, key, "capture", id, 100)
		isRefused(t, err, payments.NotReserved)
		f.sums(t, id, amount, 0, 0)
		key = wire.NewKey()
		_, err = f.make(t, key, f.Moto(payments.ProcessSale, f.Declined))
		require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
	})
	t.Run("an invalid request does not use the key up", func(t *testing.T) {
		key, req := wire.NewKey(), f.Hosted("")
		broken := req
		broken.Amount = -1
		_, err := f.make(t, key, broken)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		_, err = f.make(t, key, req)
		require.NoError(t, err)
	})
	t.Run("broken keys", func(t *testing.T) {
		for _, key := range []wire.Key{"a b", "ü", wire.Key(strings.Repeat("k", 65)), "a\x00"} {
			_, err := f.Service.Create(t.Context(), key, f.Hosted(""))
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", key, err)
		}
	})
}

// atOnce lets many callers do the same thing.
func (f Fixture) atOnce(t *testing.T) {
	t.Run("one key", func(t *testing.T) {
		key, req := wire.NewKey(), f.Hosted("")
		ids := wiretest.AtOnce(func(int) string {
			c, err := f.Service.Create(t.Context(), key, req)
			if err != nil || c.Operation != nil {
				return ""
			}
			return c.PaymentID
		})
		last, err := f.make(t, key, req)
		require.NoError(t, err)
		delete(ids, "")
		delete(ids, last.PaymentID)
		require.Empty(t, ids, "one key, one payment")
	})
	t.Run("one capture", func(t *testing.T) {
		id, key := f.reserved(t), wire.NewKey()
		one := int32(100)
		wiretest.AtOnce(func(int) bool {
			_, err := f.Service.Capture(t.Context(), key, id, payments.CaptureRequest{Amount: &one}) // judged by the sums
			return err == nil
		})
		_, err := f.act(t, key, "capture", id, one)
		require.NoError(t, err)
		require.Len(t, f.sums(t, id, amount, one, 0).Captures, 1)
	})
	for _, op := range []string{"capture", "refund"} {
		t.Run("all of it by everyone: "+op, func(t *testing.T) {
			id := f.reserved(t)
			if op == "refund" {
				f.did(t, "capture", id, 0)
			}
			part, keys := int32(amount/4), [wiretest.Callers]wire.Key{}
			wiretest.AtOnce(func(i int) bool {
				var err error
				if keys[i] = wire.NewKey(); op == "refund" {
					_, err = f.Service.Refund(t.Context(), keys[i], id, payments.RefundRequest{Amount: &part})
				} else {
					_, err = f.Service.Capture(t.Context(), keys[i], id, payments.CaptureRequest{Amount: &part})
				}
				return err == nil // judged below
			})
			done := 0
			for _, key := range keys {
				if _, err := f.act(t, key, op, id, part); err == nil {
					done++
				}
			}
			require.Equal(t, 4, done, "what is there is given once")
			if op == "refund" {
				f.sums(t, id, amount, amount, amount)
			} else {
				f.sums(t, id, amount, amount, 0)
			}
		})
	}
}
