package torture_test

import (
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive"
	"posagent/agent/port"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/ecr/till"
	"posagent/ecr/torture"
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store/storetest"
)

// TestTheTerminalPassesOverHTTP: this program's own port scores full marks, and so do the backend's books.
func TestTheTerminalPassesOverHTTP(t *testing.T) {
	need.Verify(t, "half a minute of sales; TestAGoodTerminalPasses judges the protocol in virtual time, agent/port/salesapi the port")
	bank, addr := agentOf(t, need.Limit()/30) // long enough to cut lines, abort and ask meanwhile
	books := func(ctx context.Context) (sum money.Minor, err error) {
		list, err := bank.Books(ctx)
		for _, one := range list {
			for _, p := range one.Postings {
				if p.Account == "merchant" {
					sum += p.Amount
				}
			}
		}
		return sum, err
	}
	s := settings
	s.Host = addr
	for _, k := range till.Protocols() {
		if k.Name != "http" {
			continue
		}
		p, err := k.Make(s)
		require.NoError(t, err)
		var dialer net.Dialer
		card, err := torture.Run(t.Context(), torture.Options{
			Protocol: p, Amount: 1250, Sales: 4, Seed: 7, Wait: need.Limit(), Books: books,
			Connect: func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) },
		})
		require.NoError(t, err)
		require.Len(t, card.Rows, 15)
		for _, r := range card.Rows {
			want := torture.Passed
			if r.Row == "one piece" || r.Row == "late acknowledgement" {
				want = torture.Cannot
			}
			require.Equal(t, want, r.Verdict, "%+v", r)
		}
	}
}

// agentOf is a terminal over the embedded backend, and the address of its port. pays is how long a customer takes.
func agentOf(t *testing.T, pays time.Duration) (*backend.Backend, string) {
	bank, err := backend.Open(t.Context(), backend.Config{
		Dir: t.TempDir(), Synchronous: "OFF", WalletDelay: &pays, PublicURL: "http://127.0.0.1:1",
		Seed: `{"merchants":["B1"],"methods":[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","meanDelay":10,"label":"Swish","trigger":["QR"],"transactionTypes":["PAYMENT","REFUND","REVERSAL"]}]}`,
	})
	require.NoError(t, err)
	server := httptest.NewServer(bank.Handler())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = bank.Run(ctx) })
	t.Cleanup(func() { server.Close(); cancel(); running.Wait(); require.NoError(t, bank.Close()) })
	db := storetest.OpenAt(t, t.TempDir()+"/agent.db", agent.Schema()...)
	creds := backend.DemoCredentials()
	client, err := upstream.New(upstream.Config{
		Base: server.URL, Timeout: need.Limit(), RetryWait: time.Millisecond, Auth: upstream.Auth{ConsumerKey: wire.Secret(creds.ConsumerKey), ConsumerSecret: creds.ConsumerSecret},
	})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ready, born := make(chan struct{}), time.Now().Add(-time.Hour)
	a := agent.New(agent.Options{
		DB: db, Schemes: &aapay.Client{BaseURL: server.URL, Doer: client.Unanswered()}, Methods: &methods.Client{BaseURL: server.URL, Doer: client},
		Query: methods.Query{BaxID: "B1", TerminalID: "T1", Caller: "posagent"}, Refresh: time.Hour, Port: ln,
		Drive:          drive.Config{TerminalID: "T1", MerchantID: "merchant", MerchantName: "Corner shop", Currency: "EUR", Language: "en", TimeoutUnit: "m", Poll: 30 * time.Millisecond},
		IdempotencyTTL: 24 * time.Hour, Probe: func(ctx context.Context, _ string) error { return client.Probe(ctx) },
		Local: agent.Local{
			Token: "main-token-0123456789", Within: need.Limit(), About: view.Status{Running: true, Sandbox: true}, Rate: 1_000_000,
			Clients: []port.Client{
				{Name: "alpha", Token: "alpha-token-0123456789", May: []string{"read", "sales"}}, {Name: "beta", Token: "beta-token-0123456789", May: []string{"read", "sales"}},
			},
		},
		Now: time.Now, Boot: func() time.Duration { return time.Since(born) }, BootID: "boot-1", Log: slog.New(slog.DiscardHandler), Up: func() { close(ready) },
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		client.CloseIdle()
		require.NoError(t, db.Close())
	})
	<-ready
	need.Until(t, "the terminal is ready", func() bool {
		resp, err := server.Client().Get("http://" + ln.Addr().String() + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == 200
	})
	return bank, ln.Addr().String()
}
