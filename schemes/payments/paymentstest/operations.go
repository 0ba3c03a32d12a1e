package paymentstest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// operation is an operation on a payment.
type operation struct {
	name  string // as its path has it, in small letters
	do    func(ctx context.Context, svc payments.Service, key wire.Key, id string, amount *int32) (payments.Done, error)
	whole bool                                 // it takes no amount
	ready func(f Fixture, t *testing.T) string // makes a payment of which it can move 100
	after [3]int32                             // of that payment then: authorized, captured, refunded
	test  func(f Fixture, t *testing.T)
}

func operations() []operation {
	return []operation{
		{
			name: "authorize", test: Fixture.authorize,
			do: func(ctx context.Context, svc payments.Service, key wire.Key, id string, amount *int32) (payments.Done, error) {
				return svc.Authorize(ctx, key, id, payments.AuthorizeRequest{Amount: amount})
			},
			ready: func(f Fixture, t *testing.T) string { return f.made(t, f.Hosted("")) }, after: [3]int32{100, 0, 0},
		},
		{
			name: "capture", test: Fixture.capture,
			do: func(ctx context.Context, svc payments.Service, key wire.Key, id string, amount *int32) (payments.Done, error) {
				return svc.Capture(ctx, key, id, payments.CaptureRequest{Amount: amount})
			},
			ready: Fixture.reserved, after: [3]int32{amount, 100, 0},
		},
		{
			name: "cancel", test: Fixture.cancel, whole: true,
			do: func(ctx context.Context, svc payments.Service, key wire.Key, id string, _ *int32) (payments.Done, error) {
				return svc.Cancel(ctx, key, id, payments.CancelRequest{Description: "changed his mind"})
			},
			ready: Fixture.reserved, after: [3]int32{},
		},
		{
			name: "refund", test: Fixture.refund,
			do: func(ctx context.Context, svc payments.Service, key wire.Key, id string, amount *int32) (payments.Done, error) {
				return svc.Refund(ctx, key, id, payments.RefundRequest{Amount: amount})
			},
			ready: Fixture.paid, after: [3]int32{amount, amount, 100},
		},
	}
}

// act performs one operation on a payment; a is its amount, 0 for none.
func (f Fixture) act(t *testing.T, key wire.Key, op, id string, a int32) (payments.Done, error) {
	t.Helper()
	var p *int32
	if a != 0 {
		p = &a
	}
	all := operations()
	i := slices.IndexFunc(all, func(o operation) bool { return o.name == op })
	require.GreaterOrEqual(t, i, 0, op)
	return call(t, f, func() (payments.Done, *wire.Pending, error) {
		d, err := all[i].do(t.Context(), f.Service, key, id, p)
		if d.Operation != nil {
			require.Equal(t, "L"+string(d.Operation.Key), d.TransactionRef)
		}
		return d, d.Operation, err
	})
}

// did performs an operation that must succeed.
func (f Fixture) did(t *testing.T, op, id string, a int32) payments.Done {
	t.Helper()
	d, err := f.act(t, wire.NewKey(), op, id, a)
	require.NoError(t, err)
	require.Equal(t, id, d.PaymentID)
	require.NotEmpty(t, d.TransactionRef)
	return d
}

// refused performs an operation that must be refused for one of the reasons.
func (f Fixture) refused(t *testing.T, op, id string, a int32, reasons ...string) {
	t.Helper()
	_, err := f.act(t, wire.NewKey(), op, id, a)
	isRefused(t, err, reasons...)
}

func (f Fixture) authorize(t *testing.T) {
	t.Run("a created payment", func(t *testing.T) {
		for _, req := range []payments.CreateRequest{f.Moto("", f.Approved), f.Hosted("")} {
			id := f.made(t, req)
			f.did(t, "authorize", id, 0)
			f.sums(t, id, amount, 0, 0)
		}
	})
	t.Run("a part", func(t *testing.T) {
		id := f.made(t, f.Hosted(""))
		f.did(t, "authorize", id, amount-1)
		f.sums(t, id, amount-1, 0, 0)
		f.refused(t, "capture", id, amount, payments.OverCharge)
	})
	t.Run("too much", func(t *testing.T) {
		id := f.made(t, f.Hosted(""))
		f.refused(t, "authorize", id, amount+1, payments.OverCharge)
		f.sums(t, id, 0, 0, 0)
	})
	t.Run("twice", func(t *testing.T) {
		id := f.made(t, f.Hosted(""))
		f.did(t, "authorize", id, amount/2)
		f.refused(t, "authorize", id, amount/2, payments.AlreadyReserved)
		f.refused(t, "authorize", f.reserved(t), 0, payments.AlreadyReserved)
		f.refused(t, "authorize", f.paid(t), 0, payments.AlreadyReserved, payments.AlreadyCharged)
		f.sums(t, id, amount/2, 0, 0)
	})
	f.unknown(t, "authorize")
}

// unknown is an operation on no payment at all.
func (f Fixture) unknown(t *testing.T, op string) {
	t.Run("unknown payment", func(t *testing.T) {
		for _, id := range []string{number(), "-1", "1;2", "1 OR 1=1", "１", "a/b", "%2f", "ünï"} {
			_, err := f.act(t, wire.NewKey(), op, id, 1)
			require.Equal(t, wire.NotFound, wire.CodeOf(err), "%q: %v", id, err)
		}
		for _, id := range []string{"", "..", "a\x00b", "a\nb", strings.Repeat("x", payments.MaxID+1)} {
			_, err := f.act(t, wire.NewKey(), op, id, 1)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q: %v", id, err)
		}
	})
}

func (f Fixture) capture(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		id := f.reserved(t)
		f.did(t, "capture", id, 0)
		f.sums(t, id, amount, amount, 0)
		f.refused(t, "capture", id, 0, payments.AlreadyCharged, payments.OverCharge)
		f.refused(t, "capture", id, 1, payments.AlreadyCharged, payments.OverCharge)
		f.sums(t, id, amount, amount, 0)
	})
	t.Run("parts", func(t *testing.T) {
		id := f.reserved(t)
		a, b := f.did(t, "capture", id, 1), f.did(t, "capture", id, 2500)
		require.NotEqual(t, a.TransactionRef, b.TransactionRef)
		f.refused(t, "capture", id, amount-2500, payments.OverCharge)
		f.sums(t, id, amount, 2501, 0)
		f.did(t, "capture", id, 0)
		require.Len(t, f.sums(t, id, amount, amount, 0).Captures, 3)
	})
	t.Run("too much", func(t *testing.T) {
		id := f.reserved(t)
		f.refused(t, "capture", id, amount+1, payments.OverCharge)
		f.refused(t, "capture", id, 1<<31-1, payments.OverCharge)
		f.sums(t, id, amount, 0, 0)
	})
	t.Run("nothing reserved", func(t *testing.T) {
		for _, req := range []payments.CreateRequest{f.Hosted(""), f.Moto("", f.Approved)} {
			id := f.made(t, req)
			f.refused(t, "capture", id, 0, payments.NotReserved)
			f.refused(t, "capture", id, 1, payments.NotReserved)
			f.sums(t, id, 0, 0, 0)
		}
	})
	t.Run("with a basket", func(t *testing.T) {
		id, part := f.reserved(t), int32(700)
		req := payments.CaptureRequest{Amount: &part, Description: "first parcel", TerminalID: "T1",
			Basket: []payments.BasketItem{{ItemNumber: "1", Title: "Tea", Quantity: 2, UnitPrice: 350, VatPercentage: new(json.Number("25"))}}}
		key := wire.NewKey()
		send := func() (payments.Done, *wire.Pending, error) {
			d, err := f.Service.Capture(t.Context(), key, id, req)
			return d, d.Operation, err
		}
		_, err := call(t, f, send)
		require.NoError(t, err)
		p := f.sums(t, id, amount, part, 0)
		require.NotNil(t, p.Captures[0].Description)
		require.Equal(t, "first parcel", *p.Captures[0].Description)
		req.Basket[0].UnitPrice, key = 351, wire.NewKey()
		_, err = call(t, f, send)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
		require.Equal(t, payments.AmountDiffersFromOrderItems, wire.ReasonOf(err))
		f.sums(t, id, amount, part, 0)
	})
	f.unknown(t, "capture")
}

func (f Fixture) cancel(t *testing.T) {
	t.Run("a reservation", func(t *testing.T) {
		id := f.reserved(t)
		f.did(t, "cancel", id, 0)
		f.sums(t, id, 0, 0, 0)
		for _, op := range []string{"cancel", "capture", "authorize"} {
			f.refused(t, op, id, 0, payments.AlreadyCancelled)
		}
		f.refused(t, "refund", id, 1, payments.ChargeNotFound, payments.AlreadyCancelled)
		f.sums(t, id, 0, 0, 0)
	})
	t.Run("after capture", func(t *testing.T) {
		id := f.paid(t)
		f.refused(t, "cancel", id, 0, payments.AlreadyCharged)
		f.sums(t, id, amount, amount, 0)
		id = f.reserved(t)
		f.did(t, "capture", id, 1)
		f.refused(t, "cancel", id, 0, payments.AlreadyCharged)
		f.sums(t, id, amount, 1, 0)
	})
	t.Run("nothing reserved", func(t *testing.T) {
		f.refused(t, "cancel", f.made(t, f.Hosted("")), 0, payments.NotReserved)
	})
	f.unknown(t, "cancel")
}

func (f Fixture) refund(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		id := f.paid(t)
		f.did(t, "refund", id, 0)
		f.sums(t, id, amount, amount, amount)
		f.refused(t, "refund", id, 1, payments.PaymentAlreadyRefunded, payments.InvalidRefundAmount)
		f.refused(t, "refund", id, 0, payments.PaymentAlreadyRefunded, payments.InvalidRefundAmount)
		f.refused(t, "cancel", id, 0, payments.AlreadyCharged)
		f.refused(t, "capture", id, 0, payments.AlreadyCharged, payments.OverCharge)
	})
	t.Run("parts", func(t *testing.T) {
		id := f.reserved(t)
		f.did(t, "capture", id, 600)
		f.did(t, "refund", id, 100)
		f.refused(t, "refund", id, 501, payments.InvalidRefundAmount)
		f.did(t, "refund", id, 200)
		f.sums(t, id, amount, 600, 300)
		f.did(t, "capture", id, 400)
		f.did(t, "refund", id, 0)
		require.Len(t, f.sums(t, id, amount, 1000, 1000).Refunds, 3)
	})
	t.Run("nothing captured", func(t *testing.T) {
		for _, id := range []string{f.reserved(t), f.made(t, f.Hosted(""))} {
			f.refused(t, "refund", id, 1, payments.ChargeNotFound)
		}
	})
	f.unknown(t, "refund")
}
