package gateway_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/need"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// However the reading before a compared write fails, nothing has left: it is not in doubt, and is done once the thing can be read.
func TestMoneyC2_NothingSentIsNeverInDoubt(t *testing.T) {
	status := func(code int) mode {
		return func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"text/html"}}, Body: http.NoBody}, nil
		}
	}
	ways := map[string]mode{"answer lost": func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
		return nil, &net.OpError{Op: "read", Err: context.DeadlineExceeded}
	}}
	for _, code := range []int{401, 404, 408, 429, 500, 502, 503} {
		ways[fmt.Sprint(code)] = status(code)
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
				made, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
				require.NoError(t, err)
				tx := s.paid()
				before := len(s.cable.writes())
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					if r.Method == http.MethodGet {
						return way(r, answer)
					}
					return answer()
				})
				d, err := s.pay.Capture(t.Context(), "", made.PaymentID, payments.CaptureRequest{Amount: some(300)})
				require.NoError(t, err)
				x, err := s.front.Transactions().Refund(t.Context(), "", tx.ID, paylinks.RefundRequest{Amount: cents(500)})
				require.NoError(t, err)
				s.pass(time.Duration(need.Size(15, 60)) * time.Minute)
				for _, p := range []*wire.Pending{d.Operation, x.Operation} {
					require.NotNil(t, p)
					s.is(p.Key, outbox.Pending)
				}
				require.Len(t, s.cable.writes(), before, "nothing leaves unread")
				s.stop()
				s.start()
				s.mend()
				s.pass(10 * time.Minute)
				s.is(d.Operation.Key, outbox.Done)
				s.is(x.Operation.Key, outbox.Done)
				require.Len(t, s.cable.writes(), before+2)
			})
		})
	}
}

// What waited for hours is read again before it leaves: what somebody else did meanwhile is not taken for its effect.
func TestMoneyC2_ReadRightBeforeItLeaves(t *testing.T) {
	inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
		made, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded} // it can be read, and not be written
			}
			return answer()
		})
		d, err := s.pay.Capture(t.Context(), "", made.PaymentID, payments.CaptureRequest{Amount: some(300)})
		require.NoError(t, err)
		s.pass(time.Hour)
		s.is(d.Operation.Key, outbox.Pending)
		other(300)(s, made.PaymentID, nil)
		s.cable.set(false, missed) // it is lost on its way
		s.box.Online()
		s.pass(25 * time.Second)
		s.is(d.Operation.Key, outbox.Sent)
		s.cable.set(false, keyless)
		s.pass(10 * time.Minute)
		s.is(d.Operation.Key, outbox.Done)
		p, err := s.backend.Payments().Read(t.Context(), made.PaymentID)
		require.NoError(t, err)
		require.EqualValues(t, 600, p.Summary.CapturedAmount, "both")
	})
}

// grudging is a service that loses the first refund and refuses it from then on; its transaction is read as the script says.
type grudging struct {
	paylinks.Transactions
	is     func(writes, readings int) (paylinks.Transaction, error) // since the last write
	writes atomic.Int32
	reads  atomic.Int32
}

func (g *grudging) Read(context.Context, int64) (paylinks.Transaction, error) {
	return g.is(int(g.writes.Load()), int(g.reads.Add(1)))
}

func (g *grudging) Refund(context.Context, wire.Key, int64, paylinks.RefundRequest) (paylinks.Done, error) {
	g.reads.Store(0)
	if g.writes.Add(1) == 1 {
		return paylinks.Done{}, wire.Errorf(wire.UnknownOutcome, "t", "no answer")
	}
	return paylinks.Done{}, &wire.Error{Code: wire.Conflict, Op: "t", Reason: "no-refund", Msg: "not of 4111111111111111"}
}

// A refusal that comes again after a lost answer ends a write once a third reading shows no effect, with the backend's own refusal;
// an effect that it shows is the answer, and what cannot be told stays in doubt.
func TestMoneyC2_RefusedAgain(t *testing.T) {
	given := func(n int64) (paylinks.Transaction, error) {
		tx := paylinks.Transaction{ID: 7, UUID: "u", Status: paylinks.Confirmed, Invoice: &paylinks.TransactionInvoice{TotalAmount: 1000, RefundedAmount: &n}}
		if n > 0 {
			tx.Status = paylinks.PartiallyRefunded
		}
		return tx, nil
	}
	for name, c := range map[string]struct {
		is    func(writes, readings int) (paylinks.Transaction, error)
		state outbox.State
	}{
		"no effect": {func(int, int) (paylinks.Transaction, error) { return given(0) }, outbox.Failed},
		"no effect, and a reading that fails": {func(writes, readings int) (paylinks.Transaction, error) {
			if writes == 2 && readings < 3 {
				return paylinks.Transaction{}, wire.Errorf(wire.UnknownOutcome, "t", "no answer")
			}
			return given(0)
		}, outbox.Failed},
		"its effect came late": {func(writes, _ int) (paylinks.Transaction, error) { return given(int64(300 * (writes / 2))) }, outbox.Done},
		"another effect":       {func(writes, _ int) (paylinks.Transaction, error) { return given(int64(200 * (writes / 2))) }, outbox.Doubt},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", restart ", restart), func(t *testing.T) {
				script := &grudging{is: c.is}
				inShop(t, gateway.Options{Transactions: script}, func(t *testing.T, s *shop) {
					refund := func() (paylinks.Done, error) {
						return s.front.Transactions().Refund(t.Context(), "k", 7, paylinks.RefundRequest{Amount: cents(300)})
					}
					d, err := refund()
					require.NoError(t, err)
					require.NotNil(t, d.Operation)
					for range 100 {
						if script.writes.Load() == 2 {
							break
						}
						s.pass(time.Second)
					}
					require.EqualValues(t, 2, script.writes.Load(), "after two readings that show nothing it is sent again")
					s.is(d.Operation.Key, outbox.Sent)
					if restart {
						s.stop()
						s.start()
					}
					s.pass(2 * time.Minute)
					s.is(d.Operation.Key, c.state)
					require.EqualValues(t, 2, script.writes.Load())
					if c.state == outbox.Failed {
						_, err = refund()
						require.Equal(t, wire.Conflict, wire.CodeOf(err), "the backend's own refusal")
						require.EqualValues(t, "no-refund", wire.ReasonOf(err))
						require.Contains(t, s.op(d.Operation.Key).Reason, "not of 411111******1111")
					}
				})
			})
		}
	}
}

// Past the backend's memory of a Key a refused write may still be found to have had no effect: nothing has to be sent for that.
func TestMoneyC3_RefusedAgainAndOld(t *testing.T) {
	script := &grudging{}
	var away atomic.Bool
	script.is = func(int, int) (paylinks.Transaction, error) {
		if away.Load() {
			return paylinks.Transaction{}, wire.Errorf(wire.UnknownOutcome, "t", "no answer")
		}
		return paylinks.Transaction{ID: 7, UUID: "u", Status: paylinks.Confirmed, Invoice: &paylinks.TransactionInvoice{TotalAmount: 1000, RefundedAmount: new(int64)}}, nil
	}
	inShop(t, gateway.Options{Transactions: script}, func(t *testing.T, s *shop) {
		d, err := s.front.Transactions().Refund(t.Context(), "k", 7, paylinks.RefundRequest{Amount: cents(300)})
		require.NoError(t, err)
		for range 100 {
			if script.writes.Load() == 2 {
				break
			}
			s.pass(time.Second)
		}
		away.Store(true)
		s.off(25 * time.Hour)
		s.pass(time.Hour)
		s.is(d.Operation.Key, outbox.Sent)
		away.Store(false)
		s.pass(10 * time.Minute)
		s.is(d.Operation.Key, outbox.Failed)
		require.EqualValues(t, 2, script.writes.Load())
	})
}
