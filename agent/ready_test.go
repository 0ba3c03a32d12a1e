package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/checkout/drive"
	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// noBackend is a backend nobody reaches.
type noBackend struct{}

func (noBackend) List(context.Context, methods.Query) ([]methods.Definition, error) {
	return nil, wire.Errorf(wire.Unavailable, "test", "no network")
}

func (noBackend) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, wire.Errorf(wire.Unavailable, "test", "no network")
}

func (b noBackend) InitializeWithIdempotency(ctx context.Context, _ wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return b.Initialize(ctx, typ, req)
}

func (noBackend) Status(context.Context, string, string) (aapay.Status, error) {
	return aapay.Status{}, wire.Errorf(wire.Unavailable, "test", "no network")
}

const readyToken = "local-token-0123456789"

// answered sends a request and returns the status and the text of its answer.
func answered(t *testing.T, req *http.Request) (status int, said string) {
	t.Helper()
	resp, said := wiretest.Send(t, http.DefaultTransport.RoundTrip, req)
	return resp.StatusCode, said
}

// alone runs an agent whose backend nobody reaches, waits until it answers registers, and returns a way to ask its port and one to end it.
func alone(t *testing.T, db store.Journal) (ask func(path, token string) (status int, said string), end func()) {
	t.Helper()
	ask, _, end = with(t, db, noBackend{})
	return ask, end
}

// upstreams is what an agent is started with.
type upstreams interface {
	aapay.Service
	List(context.Context, methods.Query) ([]methods.Definition, error)
}

// with is alone with a backend; send posts a body.
func with(t *testing.T, db store.Journal, b upstreams) (ask func(path, token string) (status int, said string), send func(path, body string) (status int, said string), end func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ready := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	a := agent.New(agent.Options{
		DB: db, Drive: drive.Config{Currency: "EUR"}, Schemes: b, Methods: b, Refresh: time.Hour, Port: ln, Now: time.Now, Local: agent.Local{Token: readyToken},
		Boot: func() time.Duration { return time.Hour }, BootID: "boot", Up: func() { close(ready) }, Log: slog.New(slog.DiscardHandler),
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	need.Until(t, "the terminal answers registers", func() bool {
		select {
		case <-ready:
			return true
		case err := <-ended:
			t.Fatal("ended: ", err)
		default:
		}
		return false
	})
	ask = func(path, token string) (int, string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ln.Addr().String()+path, nil)
		require.NoError(t, err)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		return answered(t, req)
	}
	send = func(path, body string) (int, string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+ln.Addr().String()+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+readyToken)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(wire.KeyHeader, "sale-1")
		return answered(t, req)
	}
	end = func() {
		cancel()
		require.NoError(t, <-ended)
	}
	return ask, send, end
}

// noRoutes is a backend that sells, and has neither route by which a payment starts.
type noRoutes struct{ noBackend }

func (noRoutes) List(context.Context, methods.Query) ([]methods.Definition, error) {
	return []methods.Definition{{
		Priority: 1, PaymentProviderID: 1, Name: "SWISH_E_COM", Label: "Swish", Trigger: []methods.Trigger{methods.QR},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Reversal},
	}}, nil
}

func (noRoutes) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, &wire.Error{Code: wire.NotFound, Op: "test", Err: aapay.ErrNoRoute}
}

func (b noRoutes) InitializeWithIdempotency(ctx context.Context, _ wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	return b.Initialize(ctx, typ, req)
}

func (noRoutes) Status(context.Context, string, string) (aapay.Status, error) {
	return aapay.Status{}, wire.Errorf(wire.NotFound, "test", "no such transaction")
}

// A backend without any route that starts a payment sells nothing. The first sale shows it, and the terminal is not ready, with that cause.
func TestField2_M8NoRouteStartsAPayment(t *testing.T) {
	ask, send, end := with(t, storetest.Open(t, agent.Schema()...), noRoutes{})
	defer end()
	need.Until(t, "the terminal is ready", func() bool { status, _ := ask("/readyz", ""); return status == http.StatusOK })
	_, said := send("/agent/v1/sales", `{"type":"payment","amount":1250,"currency":"EUR"}`)
	need.Until(t, "the terminal is not ready, after "+said, func() bool {
		status, why := ask("/readyz", "")
		return status == http.StatusServiceUnavailable && strings.Contains(why, "neither of the routes by which a payment starts")
	})
}

// TestReadyWithoutAMethodList: a terminal whose first method list does not come answers its register all the same, and says so.
func TestReadyWithoutAMethodList(t *testing.T) {
	ask, end := alone(t, storetest.Open(t, agent.Schema()...))
	status, _ := ask("/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, status, "answers registers, cannot sell")
	end()
}

// TestReadyOnAFullDisk: where a sale would be refused for want of the reserve's space, the probe does not say ready.
func TestReadyOnAFullDisk(t *testing.T) {
	for _, size := range []int64{-1, 1 << 60} { // none is kept; more than any disk has
		db, err := sqlite.Open(t.Context(), sqlite.Options{
			Path: filepath.Join(t.TempDir(), "agent.db"), Steps: agent.Schema(), Wrapper: storetest.Wrapper{}, Ballast: size,
		})
		require.NoError(t, err)
		ask, end := alone(t, db)
		status, said := ask("/readyz", "")
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, size > 0, strings.Contains(said, "no space left"), "reserve %d: %s", size, said)
		for path, want := range map[string]string{"/metrics": "\nposagent_store_ready 0\n", "/agent/v1/status": "disk full: sales are refused"} {
			_, said := ask(path, readyToken)
			require.Equal(t, size > 0, strings.Contains(said, want), "reserve %d: %s: %s", size, path, said)
		}
		end()
		require.NoError(t, db.Close())
	}
}

// troubled is a journal whose last write has failed.
type troubled struct {
	store.Journal
	err error
}

func (j troubled) Reserved(context.Context) error { return j.err }

func (j troubled) Health(ctx context.Context) store.Health {
	h := j.Journal.Health(ctx)
	h.State, h.Err, h.Others = store.Broken, j.err, []store.Process{{PID: 4711, Name: "sqlite3"}}
	return h
}

// TestField2_D3TheLastFailedWriteDecides: a terminal whose journal takes no write is not ready, whatever keeps it, and says which.
func TestField2_D3TheLastFailedWriteDecides(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"locked":    {fmt.Errorf("store: begin: %w", store.ErrBusy), "another program keeps the journal of "},
		"by whom":   {fmt.Errorf("store: begin: %w", store.ErrBusy), " locked, process 4711 (sqlite3)"},
		"read-only": {fmt.Errorf("store: write: %w", store.ErrReadOnly), " is read-only: "},
		"broken":    {fmt.Errorf("store: write: %w", store.ErrIO), "cannot be written or read, "},
		"full":      {fmt.Errorf("store: write: %w", store.ErrFull), "no space left on the disk of "},
	} {
		ask, end := alone(t, troubled{storetest.Open(t, agent.Schema()...), tc.err})
		status, said := ask("/readyz", "")
		require.Equal(t, http.StatusServiceUnavailable, status, name)
		require.Contains(t, said, tc.want, name)
		end()
	}
}
