package backend_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/disputes"
	"posagent/schemes/disputes/disputestest"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// desk is a backend whose clock a test moves.
func desk(t *testing.T, dir string) (*backend.Backend, string, *atomic.Int64) {
	t.Helper()
	var ahead atomic.Int64
	b, err := backend.Open(t.Context(), backend.Config{
		Dir: dir, PublicURL: "http://127.0.0.1:1", Synchronous: "OFF",
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	require.NoError(t, err)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = backend.Server(b.Handler())
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, b.Close())
	})
	return b, srv.URL, &ahead
}

func buyer(b *backend.Backend, pan string) func(*testing.T, money.Minor) disputestest.Purchase {
	return func(t *testing.T, amount money.Minor) disputestest.Purchase {
		t.Helper()
		date := time.Now().UTC().Format(disputes.DateLayout)
		out, err := b.Payments().Create(t.Context(), wire.NewKey(), payments.CreateRequest{
			Type: payments.Moto, Amount: int32(amount), CurrencyCode: "EUR", Processing: payments.ProcessSale,
			CardDetails: &payments.CardDetails{PAN: wire.NewPAN(pan), ExpiryYear: 2090, ExpiryMonth: 1},
		})
		require.NoError(t, err)
		return disputestest.Purchase{ID: out.PaymentID, PAN: wire.NewPAN(pan), Amount: amount, Currency: "EUR", Date: date}
	}
}

func TestDisputesConformance(t *testing.T) {
	fixture := func(b *backend.Backend, ahead *atomic.Int64) disputestest.Fixture {
		return disputestest.Fixture{
			Service: b.Disputes(), Keys: b.Disputes(), Buy: buyer(b, "4111111111111111"),
			Refund: func(t *testing.T, p disputestest.Purchase) {
				_, err := b.Payments().Refund(t.Context(), wire.NewKey(), p.ID, payments.RefundRequest{Amount: new(int32(p.Amount))})
				require.NoError(t, err)
			},
			Answer: func(*testing.T) { ahead.Add(int64(2 * time.Second)) },
		}
	}
	t.Run("in process", func(t *testing.T) {
		b, _, ahead := desk(t, t.TempDir())
		disputestest.Run(t, fixture(b, ahead))
		entries, err := b.Books(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, entries)
		balanced(t, entries)
	})
	t.Run("client to handler", func(t *testing.T) {
		b, url, ahead := desk(t, t.TempDir())
		f, doer := fixture(b, ahead), bearer{http.DefaultClient, demoBearer}
		c := &disputes.Client{BaseURL: url, Doer: doer, Dir: t.TempDir(), Operator: "Nets"}
		f.Service, f.Keys = c, c
		f.Wire = &disputestest.Wire{BaseURL: url, Doer: doer}
		disputestest.Run(t, f)
	})
}
