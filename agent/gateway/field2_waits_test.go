package gateway_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// late is a way on which the first write is given up, and arrives after d all the same.
func (s *shop) late(d time.Duration) mode {
	first := true
	return func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
		r.Header.Del(wire.KeyHeader)
		if r.Method == http.MethodGet || !first {
			return answer()
		}
		first = false
		still := r.Clone(context.WithoutCancel(r.Context()))
		time.AfterFunc(d, func() {
			if resp, err := s.cable.to.Do(still); err == nil {
				_ = resp.Body.Close()
			}
		})
		return nil, &net.OpError{Op: "read", Err: context.DeadlineExceeded}
	}
}

// A lost request may arrive within the quiet time. Nothing that anybody does shortens the wait that proves that it did not: every way to
// have an operation tried at once.
func TestField2_M38NothingShortensTheWaitThatProves(t *testing.T) {
	hurries := map[string]func(t *testing.T, s *shop, key wire.Key, repeat func()){
		"nobody": func(*testing.T, *shop, wire.Key, func()) {},
		"send now": func(t *testing.T, s *shop, key wire.Key, _ func()) {
			_ = s.box.SendNow(t.Context(), key) // at its end it is refused
		},
		"send all": func(t *testing.T, s *shop, _ wire.Key, _ func()) {
			_, err := s.box.SendAll(t.Context())
			require.NoError(t, err)
		},
		"the network came back": func(_ *testing.T, s *shop, _ wire.Key, _ func()) { s.box.Online() },
		"the client repeats":    func(_ *testing.T, _ *shop, _ wire.Key, repeat func()) { repeat() },
		"a start": func(_ *testing.T, s *shop, _ wire.Key, _ func()) {
			way := s.cable.mode
			s.stop()
			s.start()
			s.cable.set(false, way)
		},
	}
	for _, stored := range []bool{true, false} {
		for name, hurry := range hurries {
			for about, act := range map[string]func(t *testing.T, s *shop) (func() (*wire.Pending, error), func() int64){
				"link": func(t *testing.T, s *shop) (func() (*wire.Pending, error), func() int64) {
					tx := s.paid()
					return func() (*wire.Pending, error) {
							d, err := s.front.Transactions().Refund(t.Context(), "k", tx.ID, paylinks.RefundRequest{Amount: cents(500)})
							return d.Operation, err
						}, func() int64 {
							now, err := s.front.Transactions().Read(t.Context(), tx.ID)
							require.NoError(t, err)
							return *now.Invoice.RefundedAmount
						}
				},
				"payment": func(t *testing.T, s *shop) (func() (*wire.Pending, error), func() int64) {
					c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
					require.NoError(t, err)
					return func() (*wire.Pending, error) {
							d, err := s.pay.Refund(t.Context(), "k", c.PaymentID, payments.RefundRequest{Amount: some(500)})
							return d.Operation, err
						}, func() int64 {
							p, err := s.backend.Payments().Read(t.Context(), c.PaymentID)
							require.NoError(t, err)
							return int64(p.Summary.RefundedAmount)
						}
				},
			} {
				word := map[bool]string{true: "stored", false: "answered now"}[stored]
				t.Run(about+", "+word+", "+name, func(t *testing.T) {
					opts := gateway.Options{Keyless: []string{gateway.Payments}}
					if !stored {
						opts.Unstored = []string{gateway.Payments, gateway.Paylinks}
						opts.Patience = time.Second
					}
					inShop(t, opts, func(t *testing.T, s *shop) {
						ask, back := act(t, s)
						s.cable.set(false, s.late(25*time.Second))
						_, _ = ask()
						ops := s.ops()
						key := ops[len(ops)-1].Key
						for range 12 {
							hurry(t, s, key, func() { _, _ = ask() })
							s.pass(1500 * time.Millisecond)
						}
						s.pass(3 * time.Minute)
						require.EqualValues(t, 500, back(), "once")
						require.Equal(t, outbox.Done, s.op(key).State, s.op(key).Reason)
					})
				})
			}
		}
	}
}

// The same of an undo: what the backend does not know yet, and a refund that timed out, are asked for more often and proven no sooner.
func TestField2_M38NothingShortensAnUndosWindow(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		status func(int, string) (aapay.Status, error)
	}{
		"not found": {gateway.KindReversal, func(int, string) (aapay.Status, error) { return aapay.Status{}, wire.Errorf(wire.NotFound, "t", "no") }},
		"timed out": {gateway.KindRefund, func(int, string) (aapay.Status, error) { return state(aapay.TimedOut, ""), nil }},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", started again", false: ", sent now"}[restarts], func(t *testing.T) {
				s := &service{start: func(int, bool) (aapay.Reply, error) { return reply(202, 0, ""), nil }, status: c.status}
				synctest.Test(t, func(t *testing.T) {
					db, err := sqlite.Open(t.Context(), sqlite.Options{Path: t.TempDir() + "/a.db", Steps: outbox.Schema(), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF"})
					require.NoError(t, err)
					defer func() { require.NoError(t, db.Close()) }()
					var o *outbox.Outbox
					stop := func() {}
					start := func() {
						o = outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{gateway.Reversal(s, nil, nil), gateway.Refund(s, nil, nil)}})
						ctx, cancel := context.WithCancel(t.Context())
						done := make(chan error, 1)
						go func() { done <- o.Run(ctx) }()
						stop = func() { cancel(); require.NoError(t, <-done) }
					}
					start()
					n := outbox.New{Key: wire.NewKey(), Kind: c.kind, Aggregate: "sale-1", AmountMin: 1250, Currency: "EUR",
						Payload: payload(t, func(p *gateway.UndoPayload) { p.Window = time.Minute })}
					require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return o.Accept(tx, n) }))
					o.Wake()
					get := func() (op outbox.Op) {
						require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { op, err = o.Get(r, n.Key); return err }))
						return op
					}
					for range 50 {
						if restarts {
							stop()
							start()
						} else {
							require.NoError(t, o.SendNow(t.Context(), n.Key))
						}
						time.Sleep(1100 * time.Millisecond)
						synctest.Wait()
						require.Equal(t, outbox.Sent, get().State, get().Reason)
						require.Equal(t, 1, s.begun(), "nothing was proven")
					}
					time.Sleep(2 * time.Minute)
					synctest.Wait()
					require.Contains(t, []outbox.State{outbox.Doubt, outbox.Failed}, get().State, "the window is over")
					stop()
				})
			})
		}
	}
}
