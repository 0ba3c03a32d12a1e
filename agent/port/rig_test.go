package port_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/port"
	"posagent/agent/port/salesapi"
	"posagent/agent/records/events"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/disputes"
	"posagent/schemes/hosted"
	"posagent/schemes/methods"
	"posagent/schemes/onboarding"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/storetest"
)

const token = "local-token-0123456789"

// rig is a port over the real embedded backend, which can be cut off.
type rig struct {
	t        *testing.T
	addr     string
	db       store.Journal
	backend  *backend.Backend
	url      string // of the backend
	inbox    *inbox.Inbox
	outbox   *outbox.Outbox
	happened *events.Log
	writes   atomic.Int64                // that reached the backend
	ahead    atomic.Int64                // of the backend's clock, ns
	broken   atomic.Bool                 // the backend takes a write and never answers
	instead  func(w http.ResponseWriter) // a proxy's answer to a write that the backend has done; nil = none
	server   *httptest.Server
	port     *port.Port
	stop     func()
}

// start makes one. With cut nothing listens where the backend should be.
func start(t *testing.T, cut bool) *rig {
	x := &rig{t: t, db: storetest.Open(t, agent.Schema()...)}
	never := time.Duration(-1)
	b, err := backend.Open(t.Context(), backend.Config{
		Now: func() time.Time { return time.Now().Add(time.Duration(x.ahead.Load())) },
		Dir: t.TempDir(), Synchronous: "OFF", WalletDelay: &never, PublicURL: "http://127.0.0.1:1", HookAllow: []string{"127.0.0.1"},
		Seed: `{"merchants":["B1"],"methods":[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","meanDelay":10,"label":"One","trigger":["QR"],"transactionTypes":["PAYMENT","REFUND","REVERSAL"]},
			{"priority":2,"paymentProviderId":2,"name":"TWO","meanDelay":10,"label":"Two","trigger":["MANUAL"],"transactionTypes":["PAYMENT"]}]}`,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	x.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			x.writes.Add(1)
			if x.broken.Load() {
				_, _ = io.Copy(io.Discard, r.Body)
				panic(http.ErrAbortHandler)
			}
			if x.instead != nil {
				b.Handler().ServeHTTP(httptest.NewRecorder(), r)
				x.instead(w)
				return
			}
		}
		b.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(x.server.Close)
	url := x.server.URL
	x.backend, x.url = b, url
	if cut {
		x.server.Close()
	}
	creds := backend.DemoCredentials()
	to := func(auth upstream.Auth) wire.Doer {
		u, err := upstream.New(upstream.Config{Base: url, Auth: auth, Timeout: need.Limit(), RetryWait: time.Millisecond})
		require.NoError(t, err)
		return u.Once()
	}
	bearer := to(upstream.Auth{Bearer: creds.Bearer})
	build := &hosted.Client{BaseURL: url, APIKey: creds.APIKey, Doer: to(upstream.Auth{})}
	u, err := upstream.New(upstream.Config{Base: url, Auth: upstream.Auth{Bearer: creds.Bearer}, Timeout: need.Limit(), MaxBody: disputes.MaxBody})
	require.NoError(t, err)
	disputed := &disputes.Client{BaseURL: url, Doer: u.Once(), Dir: t.TempDir()}
	links := &paylinks.Client{BaseURL: url, Instance: creds.Instance, Secret: creds.Secret, Doer: to(upstream.Auth{})}
	x.happened = events.New(events.Options{DB: x.db})
	x.outbox = outbox.NewOutbox(outbox.Options{DB: x.db, Record: x.record, Kinds: []outbox.Kind{{Name: "test", Send: func(context.Context, outbox.Op) outbox.Verdict {
		return outbox.Verdict{State: outbox.Done}
	}}}})
	x.inbox = inbox.New(inbox.Options{DB: x.db})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := port.New(port.Options{
		Listener: ln, Live: func() error { return nil }, Ready: func() error { return nil }, Hooks: x.inbox.Handler("Bearer hook"), Token: token,
		Within: need.Limit(), Dir: t.TempDir(), Version: "test", Log: slog.New(slog.DiscardHandler),
		Rate:  1_000_000, // an idle machine runs a suite faster than a client may ask
		Sales: x.till(),
		House: &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now, About: view.Status{Running: true, Version: "test"},
			Services: []view.Upstream{{Name: "payments", Healthy: func() bool { return true }}}},
		Services: []port.Service{
			port.Payments(&payments.Client{BaseURL: url, Doer: bearer}, ""),
			port.Tokens(&tokens.Client{BaseURL: url, Doer: bearer}),
			port.Hosted(inbox.Builds(x.db, build.Sessions(), time.Now), build.Orders()),
			port.Notices(x.inbox.Notices()),
			port.Onboarding(&onboarding.Client{BaseURL: url, Doer: bearer}),
			port.Links(links.Links(), links.Transactions(), "shop", false),
			port.Schemes(&aapay.Client{BaseURL: url, Doer: bearer}),
			port.Methods(&methods.Client{BaseURL: url, Doer: bearer}),
			port.Disputes(disputed, disputed, ""),
		},
	})
	x.addr, x.port = "http://"+p.Addr(), p
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	x.stop = func() {
		cancel()
		if err, open := <-ended; open {
			require.NoError(t, err)
			close(ended)
		}
	}
	t.Cleanup(x.stop)
	return x
}

// record notes what happens as the daemon does.
func (x *rig) record(tx store.Tx, was outbox.State, op outbox.Op) error {
	if it, ok := view.OperationEvent(tx, was, op, nil); ok {
		return x.happened.Add(tx, it)
	}
	return nil
}

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// bearer is the proof most routes want.
const bearer = "Bearer " + token

// ask sends one request; auth "" sends none.
func (x *rig) ask(method, path, auth, kind, body string) reply {
	req, err := http.NewRequest(method, x.addr+path, strings.NewReader(body))
	require.NoError(x.t, err)
	if key, ok := strings.CutPrefix(auth, "Key "); ok {
		req.Header.Set(hosted.KeyHeader, key)
	} else if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, body := wiretest.Send(x.t, http.DefaultTransport.RoundTrip, req)
	return reply{resp.StatusCode, resp.Header, body}
}

// doer shows a credential, as local software does.
type doer struct{ auth string }

func (d doer) Do(r *http.Request) (*http.Response, error) {
	if d.auth != "" {
		r.Header.Set("Authorization", d.auth)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// code is the code of an error that must be there.
func code(t *testing.T, err error) wire.Code {
	var e *wire.Error
	require.True(t, errors.As(err, &e), "%v", err)
	return e.Code
}

// sign makes the signature of a form whose values need no escape, without the service's own code.
func sign(form string) string { return signBy(token, form) }

func signBy(secret, form string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(form))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// closedDesk is a checkout that accepts nothing.
type closedDesk struct{ salesapi.Desk }

func (closedDesk) Find(context.Context, string, string) (ecr.Sale, error) {
	return ecr.Sale{}, ecr.ErrNone
}

func (closedDesk) ClosedBy(context.Context, ecr.Asker) (ecr.Totals, error) {
	return ecr.Totals{}, ecr.ErrNone
}

// till serves sales of a terminal without a checkout.
func (x *rig) till() *salesapi.Till {
	return salesapi.New(salesapi.Options{Desk: closedDesk{}, House: &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now}, DB: x.db})
}
