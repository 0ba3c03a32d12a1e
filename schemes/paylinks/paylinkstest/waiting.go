package paylinkstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// waitingLinks and waitingTxns repeat each write under its key until its answer is not pending. A write without a key gets one: only so
// can its answer be asked for.
type waitingLinks struct {
	paylinks.Links
	t      *testing.T
	settle func(*testing.T, *wire.Pending)
}

type waitingTxns struct {
	paylinks.Transactions
	t      *testing.T
	settle func(*testing.T, *wire.Pending)
}

// final repeats a call; op reads what its answer is pending on.
func final[T any](t *testing.T, settle func(*testing.T, *wire.Pending), key wire.Key, op func(T) *wire.Pending, do func(wire.Key) (T, error)) (T, error) {
	if key == "" {
		key = wire.NewKey()
	}
	for range 50 {
		out, err := do(key)
		if err != nil || op(out) == nil {
			return out, err
		}
		if op(out).Status != wire.PendingStatus {
			break
		}
		settle(t, op(out))
	}
	require.Fail(t, "the answer stays pending")
	panic("unreachable")
}

// Create implements paylinks.Links.
func (w waitingLinks) Create(ctx context.Context, key wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	return final(w.t, w.settle, key, func(c paylinks.Created) *wire.Pending { return c.Operation }, func(key wire.Key) (paylinks.Created, error) {
		c, err := w.Links.Create(ctx, key, req)
		if c.Operation != nil {
			require.GreaterOrEqual(w.t, c.ID, int64(paylinks.FirstLocalID))
			require.Nil(w.t, c.Hash)
			require.Nil(w.t, c.Link.Link)
			l, err := w.Links.Read(ctx, c.ID)
			require.NoError(w.t, err)
			require.Equal(w.t, req.ReferenceID, l.ReferenceID)
		}
		return c, err
	})
}

// Delete implements paylinks.Links.
func (w waitingLinks) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return final(w.t, w.settle, key, deletedOp, func(key wire.Key) (paylinks.Deleted, error) { return w.Links.Delete(ctx, key, id) })
}

func deletedOp(d paylinks.Deleted) *wire.Pending { return d.Operation }

func doneOp(d paylinks.Done) *wire.Pending { return d.Operation }

// Charge implements paylinks.Transactions.
func (w waitingTxns) Charge(ctx context.Context, key wire.Key, id int64, req paylinks.ChargeRequest) (paylinks.Done, error) {
	return final(w.t, w.settle, key, doneOp, func(key wire.Key) (paylinks.Done, error) { return w.Transactions.Charge(ctx, key, id, req) })
}

// Capture implements paylinks.Transactions.
func (w waitingTxns) Capture(ctx context.Context, key wire.Key, id int64) (paylinks.Done, error) {
	return final(w.t, w.settle, key, doneOp, func(key wire.Key) (paylinks.Done, error) { return w.Transactions.Capture(ctx, key, id) })
}

// Refund implements paylinks.Transactions.
func (w waitingTxns) Refund(ctx context.Context, key wire.Key, id int64, req paylinks.RefundRequest) (paylinks.Done, error) {
	return final(w.t, w.settle, key, doneOp, func(key wire.Key) (paylinks.Done, error) { return w.Transactions.Refund(ctx, key, id, req) })
}

// Delete implements paylinks.Transactions.
func (w waitingTxns) Delete(ctx context.Context, key wire.Key, id int64) (paylinks.Deleted, error) {
	return final(w.t, w.settle, key, deletedOp, func(key wire.Key) (paylinks.Deleted, error) { return w.Transactions.Delete(ctx, key, id) })
}
