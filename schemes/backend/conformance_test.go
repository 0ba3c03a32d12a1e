package backend_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/backend"
	"posagent/schemes/backend/backendtest"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/methods"
	"posagent/schemes/methods/methodstest"
	"posagent/schemes/payments"
	"posagent/schemes/payments/paymentstest"
	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

const oneMerchant = `{"merchants":["B1"],"methods":[
	{"priority":1,"paymentProviderId":1,"name":"ONE","meanDelay":10,"label":"One","trigger":["QR"],"transactionTypes":["PAYMENT","REFUND","REVERSAL"]},
	{"priority":2,"paymentProviderId":2,"name":"TWO","meanDelay":10,"label":"Two","trigger":["MANUAL"],"transactionTypes":["PAYMENT"]}]}`

// both runs a suite on the backend in process and, once over has put a client in its place, behind HTTP.
func both(t *testing.T, suite func(t *testing.T), over func()) {
	t.Run("in process", suite)
	over()
	t.Run("client to handler", suite)
}

// booked wants entries in the books, and each of them balanced.
func booked(t *testing.T, b *backend.Backend) {
	t.Helper()
	entries, err := b.Books(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	balanced(t, entries)
}

// The contract's own suites, on the backend in process and behind HTTP.
func TestConformance(t *testing.T) {
	b, srv := serve(t, t.TempDir(), -1) // nobody pays by himself
	doer := bearer{srv.Client(), demoBearer}
	f := backendtest.Aapay(b)
	both(t, func(t *testing.T) { aapaytest.Run(t, f) }, func() {
		f.Service, f.Wire = &aapay.Client{BaseURL: srv.URL, Doer: doer}, &wiretest.Site{BaseURL: srv.URL, Doer: doer}
	})
	booked(t, b)
}

func TestPaymentsConformance(t *testing.T) {
	b, srv := serve(t, t.TempDir(), -1)
	doer := bearer{srv.Client(), demoBearer}
	f := backendtest.Payments(b)
	client := &payments.Client{BaseURL: srv.URL, Doer: doer, Operator: "nets"}
	both(t, func(t *testing.T) { paymentstest.Run(t, f) }, func() {
		f.Service, f.Wire = client, &wiretest.Site{BaseURL: srv.URL, Doer: doer}
	})
	t.Run("stored first", func(t *testing.T) {
		q := &queue{sent: map[wire.Key]bool{}}
		h := payments.Handler(q.before(client), payments.HandlerOptions{})
		f.Service, f.Wire = &payments.Client{BaseURL: wiretest.BaseURL, Doer: wiretest.Direct(h)}, nil
		f.Settle = func(_ *testing.T, op *wire.Pending) { q.settle(op.Key) }
		paymentstest.Run(t, f)
	})
	booked(t, b)
}

// queue answers every keyed write of payments pending until it is settled.
type queue struct {
	mu   sync.Mutex
	sent map[wire.Key]bool
}

func (q *queue) settle(key wire.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent[key] = true
}

// before is the queue before a service.
func (q *queue) before(s payments.Service) payments.Service {
	return wrongPayments{next: s, write: func(_ context.Context, o *paymentsWrite) (any, error) {
		q.mu.Lock()
		settled := q.sent[o.key]
		q.mu.Unlock()
		local, op := "L"+string(o.key), &wire.Pending{Key: o.key, Status: wire.PendingStatus}
		switch {
		case o.key == "" || settled:
			return o.send()
		case o.create != nil:
			return payments.Created{PaymentID: local, Operation: op}, nil
		}
		return payments.Done{PaymentID: o.id, TransactionRef: local, Operation: op}, nil
	}}
}

func TestTokensConformance(t *testing.T) {
	b, srv := serve(t, t.TempDir(), -1)
	doer := bearer{srv.Client(), demoBearer}
	f := backendtest.Tokens(b)
	both(t, func(t *testing.T) { tokenstest.Run(t, f) }, func() {
		f.Service, f.Wire = &tokens.Client{BaseURL: srv.URL, Doer: doer}, &wiretest.Site{BaseURL: srv.URL, Doer: doer}
	})
}

func TestMethodsConformance(t *testing.T) {
	b, err := backend.Open(t.Context(), backend.Config{
		Dir: t.TempDir(), Seed: oneMerchant, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF",
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	f := methodstest.Fixture{Service: b.Methods(), BaxID: "B1", TerminalID: "T 1/ä", NoBaxID: "B2"}
	url, doer := inMemory(t, b)
	both(t, func(t *testing.T) { methodstest.Run(t, f) }, func() {
		f.Service, f.TerminalID = &methods.Client{BaseURL: url + "/", Doer: doer}, "T1"
		f.Wire = &wiretest.Site{BaseURL: url, Doer: doer}
	})
}

// The built-in seed shows every kind of method, and nothing an agent must repair.
func TestBuiltInSeed(t *testing.T) {
	b, _ := serve(t, t.TempDir(), time.Hour)
	defs, err := b.Methods().List(context.Background(), methods.Query{BaxID: "any", TerminalID: "T", Lang: "de"})
	require.NoError(t, err)
	good, problems := methods.Usable(defs)
	require.Empty(t, problems)
	require.Len(t, good, 8)
	byName := map[string]methods.Definition{}
	for _, d := range good {
		byName[d.Name] = d
	}
	best := good[0]
	require.Equal(t, "SWISH_E_COM", best.Name)
	require.Equal(t, []methods.Trigger{methods.QR}, best.Trigger)
	require.EqualValues(t, 10, best.MeanDelay)
	require.Equal(t, "Mit Swish scannen", best.TriggerParams.Qr.PushText)
	require.NotEmpty(t, best.TriggerParams.Qr.BgColor)
	require.True(t, methods.HasTrigger(byName["EASY"], methods.QR) && methods.HasTrigger(byName["EASY"], methods.Manual))
	require.NotEmpty(t, methods.Prompts(byName["EASY"], methods.Payment, methods.Manual))
	require.True(t, methods.OK(byName["KLARNA"], methods.Payment, "RESERVED"))
	require.False(t, methods.OK(byName["SANTANDER"], methods.Payment, "RESERVED"))
	require.True(t, methods.ReceiptRequired(byName["SANTANDER"], methods.Payment))
	require.Nil(t, byName["SANTANDER"].StaleTimeOut)
	require.True(t, methods.OK(byName["TWINT"], methods.Payment, "PAID"))
	require.True(t, methods.StartsWithoutAmount(byName["TWINT"]))
	require.True(t, methods.EMVQR(byName["BLUECODE"]))
	require.False(t, methods.Supports(byName["VIPPS"], methods.Reversal))
	require.True(t, methods.Undoable(byName["VIPPS"]))
	require.Len(t, methods.Prompts(byName["SANTANDER"], methods.Payment, methods.Manual), 2)
	require.Equal(t, "Geschenkkarte", byName["GIFT_CARD"].Label)
	for _, d := range good {
		require.True(t, methods.Supports(d, methods.Refund) && methods.OK(d, methods.Refund, "REFUNDED"), d.Name)
		require.Equal(t, methods.Supports(d, methods.Reversal), methods.OK(d, methods.Reversal, "REVERSED"), d.Name)
	}
}

func TestHostedConformance(t *testing.T) {
	b, srv := serve(t, t.TempDir(), -1)
	doer := apiKey{srv.Client()}
	f := backendtest.Hosted(b)
	c := &hosted.Client{BaseURL: srv.URL, APIKey: "demo-api-key", Doer: srv.Client()}
	both(t, func(t *testing.T) { hostedtest.Run(t, f) }, func() {
		f.Sessions, f.Orders, f.Wire = c.Sessions(), c.Orders(), &wiretest.Site{BaseURL: srv.URL, Doer: doer}
	})
	booked(t, b)
	for _, key := range []string{"", "demo-api-kez", "posagent-demo-bearer"} {
		c.APIKey = wire.Secret(key)
		_, err := c.Orders().Methods(t.Context())
		require.Equal(t, wire.Unauthorized, wire.CodeOf(err))
	}
}

// apiKey adds the key of hosted build.
type apiKey struct{ next wire.Doer }

func (a apiKey) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(hosted.KeyHeader, "demo-api-key")
	return a.next.Do(r)
}
