package salesapi_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
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
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	wallets "posagent/schemes/backend/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// Amounts of the scenario table: what the wallet does.
const (
	paid     = 1250
	declined = 90003
	never    = 90008
)

// byHand is the wallet of a customer who pays when the test says so, with pays.
const byHand = time.Hour

// rig is a terminal over the embedded backend.
type rig struct {
	t       *testing.T
	backend *backend.Backend
	url     string
	path    string
	wallet  time.Duration
	grace   time.Duration
	boot    string
	ways    agent.Ways
	probe   int // what /readyz answers once it has started; 0 = 200
	born    time.Time

	addr string // of its port
	db   store.Journal
	stop func()
}

// open starts the backend and the terminal, in a test beside others. wallet is how long a customer takes to pay.
func open(t *testing.T, wallet, grace time.Duration) *rig {
	t.Parallel()
	x := &rig{t: t, wallet: wallet, grace: grace, boot: "boot-1", born: time.Now().Add(-time.Hour), path: filepath.Join(t.TempDir(), "agent.db")}
	x.provider()
	x.start()
	t.Cleanup(func() { x.stop() })
	return x
}

// provider opens an embedded backend of its own, which the next start sells at.
func (x *rig) provider() {
	t := x.t
	b, err := backend.Open(t.Context(), backend.Config{
		Dir: t.TempDir(), Synchronous: "OFF", WalletDelay: &x.wallet, PublicURL: "http://127.0.0.1:1",
		Seed: `{"merchants":["B1"],"methods":[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","meanDelay":10,"label":"Swish","trigger":["QR"],"transactionTypes":["PAYMENT","REFUND","REVERSAL"]}]}`,
	})
	require.NoError(t, err)
	server := httptest.NewServer(b.Handler())
	x.backend, x.url = b, server.URL
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = b.Run(ctx) })
	t.Cleanup(func() { server.Close(); cancel(); running.Wait(); require.NoError(t, b.Close()) })
}

// start starts the terminal on its journal.
func (x *rig) start() {
	t := x.t
	x.db = storetest.OpenAt(t, x.path, agent.Schema()...)
	creds := backend.DemoCredentials()
	client, err := upstream.New(upstream.Config{
		Base: x.url, Timeout: need.Limit(), RetryWait: time.Millisecond, Auth: upstream.Auth{ConsumerKey: wire.Secret(creds.ConsumerKey), ConsumerSecret: creds.ConsumerSecret},
	})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ready, born := make(chan struct{}), x.born
	a := agent.New(agent.Options{
		DB: x.db, Schemes: &aapay.Client{BaseURL: x.url, Doer: client.Unanswered()}, Methods: &methods.Client{BaseURL: x.url, Doer: client},
		Query: methods.Query{BaxID: "B1", TerminalID: "T1", Caller: "posagent"}, Refresh: time.Hour, Port: ln,
		Drive: drive.Config{
			TerminalID: "T1", MerchantID: "merchant", MerchantName: "Corner shop", Currency: "EUR", Language: "en", TimeoutUnit: "m", Poll: 30 * time.Millisecond, Grace: x.grace,
		},
		IdempotencyTTL: 24 * time.Hour, Probe: func(ctx context.Context, _ string) error { return client.Probe(ctx) },
		Local: agent.Local{
			Token: "main-token-0123456789", Within: need.Limit(), About: view.Status{Running: true}, Rate: 1_000_000,
			Clients: []port.Client{
				{Name: "alpha", Token: "alpha-token-0123456789", May: []string{"read", "sales"}}, {Name: "beta", Token: "beta-token-0123456789", May: []string{"read", "sales"}},
				{Name: "deaf", Token: "deaf-token-0123456789", May: []string{"read", "pay"}}, {Name: "eyes", Token: "eyes-token-0123456789", May: []string{"read", "sales", "all"}},
			},
		},
		Now: time.Now, Boot: func() time.Duration { return time.Since(born) }, BootID: x.boot, Log: slog.New(slog.DiscardHandler), Ways: x.ways, Up: func() { close(ready) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	x.addr = ln.Addr().String()
	var once sync.Once
	x.stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(t, <-ended)
			client.CloseIdle()
			require.NoError(t, x.db.Close())
		})
	}
	<-ready
	need.Until(t, "readiness "+strconv.Itoa(cmp.Or(x.probe, 200)), func() bool { return x.ask("main", "GET", "/readyz", "", "").status == cmp.Or(x.probe, 200) })
}

// restart starts it again, in the same boot of the box.
func (x *rig) restart() { x.stop(); x.start() }

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// sale is what a client reads of a sale. It is written by hand.
type sale struct {
	Schema, ID, Key, State, Outcome, Code, Text, Type, Currency, Transaction, Method, Label, Step string
	Amount                                                                                        int64
	Receipt                                                                                       int
	Settling                                                                                      bool
	QR                                                                                            *struct {
		Payload, PNG, SVG string
		Seconds           int
		Until             time.Time
	}
	Receipts *struct {
		Customer, Merchant struct {
			Lines  []struct{ Text, Right string }
			Text   string
			ESCPOS []byte
		}
	}
	Sale struct{ Phase, Told, Line string }
}

func (r reply) sale(t *testing.T) (v sale) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(r.body), &v), "%d %s", r.status, r.body)
	return v
}

// problem is the type of a refusal.
func (r reply) problem(t *testing.T) string {
	t.Helper()
	var p struct {
		Type, Detail string
		Status       int
	}
	require.Contains(t, r.header.Get("Content-Type"), "application/problem+json", r.body)
	require.NoError(t, json.Unmarshal([]byte(r.body), &p), r.body)
	require.Equal(t, r.status, p.Status)
	return strings.TrimPrefix(p.Type, "urn:problem:")
}

// request makes a request of a client; key "" = none.
func (x *rig) request(who, method, path, key, body string) *http.Request {
	req, err := http.NewRequest(method, "http://"+x.addr+path, strings.NewReader(body))
	require.NoError(x.t, err)
	req.Header.Set("Authorization", "Bearer "+who+"-token-0123456789")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return req
}

// send sends it over a connection of its own or an idle one.
func (x *rig) send(req *http.Request) reply {
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(x.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(x.t, err)
	return reply{resp.StatusCode, resp.Header, string(data)}
}

func (x *rig) ask(who, method, path, key, body string) reply {
	return x.send(x.request(who, method, path, key, body))
}

// sell asks for a payment and waits for its outcome.
func (x *rig) sell(who, key string, amount string) reply {
	return x.ask(who, "POST", "/agent/v1/sales?wait=60s", key, `{"amount":`+amount+`}`)
}

// newest is the id of the newest sale.
func (x *rig) newest() (id string) {
	x.t.Helper()
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT key FROM checkout_sales ORDER BY id DESC LIMIT 1`).Scan(&id)
	}))
	return id
}

// pays is a customer by hand who pays a sale as soon as the backend has it.
func (x *rig) pays(id string) {
	x.t.Helper()
	var transaction int64
	need.Until(x.t, "the backend's transaction of "+id, func() bool {
		require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error {
			return r.QueryRow(`SELECT transaction_id FROM checkout_sales WHERE key = ?`, id).Scan(&transaction)
		}))
		return transaction != 0
	})
	_, err := x.backend.Aapay().(*wallets.Wallets).Pay(x.t.Context(), number(transaction))
	require.NoError(x.t, err)
}

// sold asks for a payment of a customer by hand, who pays it.
func (x *rig) sold(who, key, body string) (r reply) {
	x.t.Helper()
	before, answered := x.sales(), make(chan reply, 1)
	req := x.request(who, "POST", "/agent/v1/sales?wait=60s", key, body)
	go func() { answered <- x.send(req) }()
	need.Until(x.t, "the sale "+key, func() bool { return x.sales() > before })
	x.pays(x.newest())
	return need.Receive(x.t, "the answer to "+key, answered)
}

// until reads a sale until it is as wanted.
func (x *rig) until(who, id string, want func(sale) bool) (v sale) {
	x.t.Helper()
	need.Until(x.t, "the sale as wanted: "+id, func() bool {
		r := x.ask(who, "GET", "/agent/v1/sales/"+id, "", "")
		require.Equal(x.t, 200, r.status, r.body)
		v = r.sale(x.t)
		return want(v)
	})
	return v
}

// phase reads the journal, which tells no client anything.
func (x *rig) phase(id string) (phase, told string) {
	x.t.Helper()
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT phase, told FROM checkout_sales WHERE key = ?`, id).Scan(&phase, &told)
	}))
	return phase, told
}

// reaches waits for a phase.
func (x *rig) reaches(id, want string) {
	x.t.Helper()
	need.Until(x.t, "the sale in "+want, func() bool { phase, _ := x.phase(id); return phase == want })
}

// sales counts the sales of the journal.
func (x *rig) sales() (n int) {
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error { return r.QueryRow(`SELECT COUNT(*) FROM checkout_sales`).Scan(&n) }))
	return n
}

// raw writes a request over a connection of its own.
func (x *rig) raw(req *http.Request) net.Conn {
	conn, err := net.Dial("tcp", x.addr)
	require.NoError(x.t, err)
	var b bytes.Buffer
	require.NoError(x.t, req.Write(&b))
	_, err = conn.Write(b.Bytes())
	require.NoError(x.t, err)
	return conn
}

func unmarshal(t *testing.T, text string, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), v), text)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
