package gateway_test

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/paylinks"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/storetest"
)

// booth is a front over the real backend outside of any bubble: the suites make tests of their own. Its clock is set by hand.
type booth struct {
	cable   *cable
	front   *gateway.Front
	box     *outbox.Outbox
	db      store.Journal
	backend *backend.Backend
	ahead   atomic.Int64 // of the boot clock, ns
}

// direct says that the front calls the backend in process, not over a cable.
func newBooth(t *testing.T, direct bool) *booth {
	b := openBackend(t)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	x := &booth{cable: &cable{to: wiretest.Direct(b.Handler())}, backend: b}
	x.db = storetest.Open(t, steps()...)
	o := gateway.Options{DB: x.db, Payments: b.Payments(), Tokens: b.Tokens(), Links: b.Links(), Transactions: b.Transactions(), Within: 10 * time.Second, Limits: gateway.Limits{Count: 1000}}
	if !direct {
		o.Payments = &payments.Client{BaseURL: "http://backend.test", Doer: x.cable}
		o.Tokens = &tokens.Client{BaseURL: "http://backend.test", Doer: x.cable}
		links := linkClient("http://backend.test", x.cable)
		o.Links, o.Transactions = links.Links(), links.Transactions()
	}
	x.front = gateway.NewFront(o)
	began := time.Now()
	x.box = outbox.NewOutbox(outbox.Options{DB: x.db, Kinds: x.front.Kinds(), Watch: x.front.Watch,
		Boot: func() time.Duration { return time.Since(began) + time.Duration(x.ahead.Load()) }})
	x.front.Attach(x.box)
	ended := make(chan error, 2)
	go func() { ended <- x.box.Run(t.Context()) }()
	go func() { ended <- x.front.Run(t.Context()) }()
	t.Cleanup(func() { require.NoError(t, <-ended); require.NoError(t, <-ended) })
	need.Until(t, "proof of all three services", func() bool {
		n := 0
		require.NoError(t, x.db.Read(t.Context(), func(r store.Reader) error { return r.QueryRow(`SELECT COUNT(*) FROM offline_proven`).Scan(&n) }))
		return n == 3
	})
	return x
}

func (x *booth) state(t *testing.T, key wire.Key) (op outbox.Op) {
	require.NoError(t, x.db.Read(t.Context(), func(r store.Reader) (err error) { op, err = x.box.Get(r, key); return err }))
	return op
}

// outage is a caller's way to the front: every write that is new finds the cable behind it cut.
type outage struct {
	x  *booth
	to wire.Doer

	mu    sync.Mutex
	known []string
}

// Do implements wire.Doer.
func (o *outage) Do(r *http.Request) (*http.Response, error) {
	if key := r.Header.Get(wire.KeyHeader); r.Method != http.MethodGet {
		o.mu.Lock()
		if key == "" || !slices.Contains(o.known, key) {
			o.known = append(o.known, key)
			o.x.cable.set(true, nil)
		}
		o.mu.Unlock()
	}
	return o.to.Do(r)
}

// settle lets three hours go by with the cable cut, then mends it.
func (o *outage) settle(t *testing.T, op *wire.Pending) {
	x := o.x
	require.False(t, x.state(t, op.Key).State.Final(), "nothing gets through a cut cable")
	x.ahead.Add(int64(3 * time.Hour))
	x.box.Online()
	x.cable.set(false, nil)
	need.Until(t, "an end of "+string(op.Key), func() bool { x.box.Online(); return x.state(t, op.Key).State.Final() })
}

// The contracts' own suites on the outbox.
func TestConformance(t *testing.T) {
	t.Run("outbox to backend", func(t *testing.T) {
		x := newBooth(t, true)
		t.Run("payments", func(t *testing.T) {
			f := backendtest.Payments(x.backend)
			f.Service = x.front.Payments()
			paymentstest.Run(t, f)
		})
		t.Run("tokens", func(t *testing.T) {
			f := backendtest.Tokens(x.backend)
			f.Service, f.Card.ValidationCode, f.Declined.ValidationCode = x.front.Tokens(), "", ""
			tokenstest.Run(t, f)
		})
		t.Run("payment links", func(t *testing.T) {
			f := backendtest.Links(x.backend)
			f.Links, f.Transactions = x.front.Links(), x.front.Transactions()
			paylinkstest.Run(t, f)
		})
	})
	t.Run("outbox to client to handler to backend, cut for three hours", func(t *testing.T) {
		x := newBooth(t, false)
		url := func(k wire.Key) string { return "/agent/v1/operations/" + string(k) }
		way := &outage{x: x, to: wiretest.Direct(payments.Handler(x.front.Payments(), payments.HandlerOptions{OperationURL: url}))}
		t.Run("payments", func(t *testing.T) {
			f := backendtest.Payments(x.backend)
			f.Service, f.Settle, f.Codeless = &payments.Client{BaseURL: "http://port.test", Doer: way}, way.settle, true
			paymentstest.Run(t, f)
		})
		stored := &outage{x: x, to: wiretest.Direct(tokens.Handler(x.front.Tokens(), tokens.HandlerOptions{OperationURL: url}))}
		t.Run("tokens", func(t *testing.T) {
			f := backendtest.Tokens(x.backend)
			f.Service, f.Settle = &tokens.Client{BaseURL: "http://port.test", Doer: stored}, stored.settle
			f.Card.ValidationCode, f.Declined.ValidationCode = "", ""
			tokenstest.Run(t, f)
		})
		links := &outage{x: x, to: wiretest.Direct(paylinks.Handler(x.front.Links(), x.front.Transactions(), paylinks.HandlerOptions{
			OperationURL: url, Secret: func(string) (wire.Secret, error) { return backend.DemoCredentials().Secret, nil },
		}))}
		t.Run("payment links", func(t *testing.T) {
			c := linkClient("http://port.test", links)
			var one sync.Mutex // of calls that come at once, one settles for all
			settle := func(t *testing.T, op *wire.Pending) {
				one.Lock()
				defer one.Unlock()
				if !x.state(t, op.Key).State.Final() {
					links.settle(t, op)
				}
			}
			f := backendtest.Links(x.backend)
			f.Links, f.Transactions, f.Settle = c.Links(), c.Transactions(), settle
			paylinkstest.Run(t, f)
		})
		require.Greater(t, x.ahead.Load(), int64(100*3*time.Hour), "it was cut, again and again")
	})
}
