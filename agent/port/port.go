package port

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"posagent/agent/httpd"
	"posagent/schemes/wire"
)

// Limits of the port.
const (
	maxConns     = 64
	proofTime    = 5 * time.Second // for a request's header, and its body until its client is known
	unprovenRate = 100             // answers a second to requests without a proof

	maxHeader = 16 << 10 // bytes
)

// Port is the local HTTP server.
type Port struct {
	ln     net.Listener
	srv    *http.Server
	conns  *limiter
	calls  *gateway
	routes http.Handler
}

// New makes a port; it starts nothing.
func New(o Options) *Port {
	if o.Within <= 0 {
		o.Within = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sys", "port")
	p := &Port{ln: o.Listener, conns: newLimiter(o.Listener, maxConns)}
	known := &auth{newClients(o.Token, o.Clients, o.Rate, o.Parallel), p.conns, o.Refused, o.Log}
	p.calls = newGateway(known, o.Dir, o.Within, o.Touched)
	ended := make(chan struct{})
	p.routes = o.routes(p.calls, ended)
	p.srv = &http.Server{
		Handler:        wire.Drained(Guard(o.Listener.Addr(), p.routes)),
		ReadTimeout:    proofTime,
		WriteTimeout:   readTime + o.Within + 10*time.Second,
		IdleTimeout:    60 * time.Second,
		MaxHeaderBytes: maxHeader,
		ConnState:      p.conns.state,
		ConnContext:    withSlot,
		BaseContext:    func(net.Listener) context.Context { return withThrottle(newThrottle(unprovenRate, unprovenRate)) },
		ErrorLog:       log.New(io.Discard, "", 0), // any program on this machine could fill it
	}
	p.srv.RegisterOnShutdown(func() { close(ended) })
	return p
}

// Addr is where the port listens.
func (p *Port) Addr() string { return p.ln.Addr().String() }

// Run serves until ctx ends, then finishes what is in flight within 3 s. It refuses to serve other
// machines.
func (p *Port) Run(ctx context.Context) error {
	if host, _, err := net.SplitHostPort(p.Addr()); err != nil || !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("local port: %s is not this machine only", p.Addr())
	}
	err := httpd.Until(ctx, p.srv, p.conns, p.calls.cut)
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("local port: %w", err)
	}
	return nil
}
