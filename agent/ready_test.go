package agent_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
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

// TestReadyWithoutAMethodList: a terminal whose first method list does not come answers its register all the same, and says so.
func TestReadyWithoutAMethodList(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ready := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	a := agent.New(agent.Options{
		DB: storetest.Open(t, agent.Schema()...), Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Port: ln,
		Now: time.Now, Boot: func() time.Duration { return time.Hour }, BootID: "boot", Ready: func() { close(ready) }, Log: slog.New(slog.DiscardHandler),
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal("ended: ", err)
	case <-time.After(10 * time.Second):
		t.Fatal("never ready")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ln.Addr().String()+"/readyz", nil)
	require.NoError(t, err)
	reply, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	reply.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, reply.StatusCode, "answers registers, cannot sell")
	cancel()
	require.NoError(t, <-ended)
}
