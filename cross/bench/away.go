package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/agent/upstream"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store/sqlite"
)

// awayAtMost bounds the p99 of an accept while the backend misbehaves, beside the one while there is no backend at all.
const awayAtMost = 1.2

const (
	awayCallers = 8
	awayBursts  = 4   // in which a turn is measured
	awayTries   = 100 // writes until the backend has to be known to be away
)

// fault is a way in which the backend is away. The first is the limit: no process listens, which a dial learns at once.
type fault struct {
	name string
	dial func(ctx context.Context, e *estate) (net.Conn, error)
}

var faults = []fault{
	{name: "nobody listens", dial: func(context.Context, *estate) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}},
	{name: "blackholed", dial: func(ctx context.Context, _ *estate) (net.Conn, error) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}},
	{name: "resets", dial: func(ctx context.Context, e *estate) (net.Conn, error) { return reach(ctx, e.resets) }},
	{name: "stalls in TLS", dial: func(ctx context.Context, e *estate) (net.Conn, error) { return reach(ctx, e.mute) }},
	{name: "one byte a second", dial: func(ctx context.Context, e *estate) (net.Conn, error) { return reach(ctx, e.slow) }},
}

func reach(ctx context.Context, to net.Listener) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", to.Addr().String())
}

// estate is a backend over TLS, and what stands in its place.
type estate struct {
	server             *httptest.Server
	roots              string
	resets, mute, slow net.Listener
}

func (b *bench) estate(answer http.Handler) (*estate, error) {
	e := &estate{roots: filepath.Join(b.dir, "roots.pem"), server: httptest.NewTLSServer(answer)}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.server.Certificate().Raw})
	err := os.WriteFile(e.roots, cert, 0o600)
	var lc net.ListenConfig
	for _, ln := range []*net.Listener{&e.resets, &e.mute, &e.slow} {
		if err == nil {
			*ln, err = lc.Listen(b.ctx, "tcp", "127.0.0.1:0")
		}
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	go accepting(e.resets, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() })
	go accepting(e.mute, func(net.Conn) {}) // the other side gives up
	go accepting(tls.NewListener(e.slow, e.server.TLS), func(c net.Conn) { go drip(c) })
	return e, nil
}

// drip answers with one byte a second, from the first on, until the other side has gone.
func drip(c net.Conn) {
	defer c.Close()
	for _, char := range []byte("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat(" ", 1000)) {
		if _, err := c.Write([]byte{char}); err != nil {
			return
		}
		<-time.After(time.Second)
	}
}

func accepting(ln net.Listener, with func(net.Conn)) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		with(c)
	}
}

func (e *estate) close() error {
	e.server.CloseClientConnections()
	e.server.Close()
	var err error
	for _, ln := range []net.Listener{e.resets, e.mute, e.slow} {
		if ln != nil {
			err = errors.Join(err, ln.Close())
		}
	}
	return err
}

// route is a terminal's way from a local client's write to the backend, with a fault in it once it is cut.
type route struct {
	fault
	cut    atomic.Bool
	client *upstream.Client
	pay    payments.Service
	box    *outbox.Outbox
	stop   func() error
	p99s   []time.Duration
}

func (b *bench) route(e *estate, f fault) (*route, error) {
	t := &route{fault: f}
	var err error
	t.client, err = upstream.New(upstream.Config{
		Base: e.server.URL, RootsFile: e.roots, Auth: upstream.Auth{Bearer: backend.DemoCredentials().Bearer}, Timeout: 2 * time.Second,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if t.cut.Load() {
				return t.dial(ctx, e)
			}
			return reach(ctx, e.server.Listener)
		},
	})
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(b.ctx, sqlite.Options{
		Path: filepath.Join(b.dir, fmt.Sprintf("till-%d.db", len(f.name))), Steps: append(outbox.Schema(), gateway.Schema()...), Wrapper: wrapper{},
	})
	if err != nil {
		return nil, err
	}
	front := gateway.NewFront(gateway.Options{
		DB: db, Payments: &payments.Client{BaseURL: e.server.URL, Doer: t.client.Once()}, Within: time.Second,
		Endpoints: map[string]string{gateway.Payments: e.server.URL}, Limits: gateway.Limits{Count: 1 << 40},
	})
	t.box = outbox.NewOutbox(outbox.Options{
		DB: db, Kinds: front.Kinds(), Watch: front.Watch, Probe: func(ctx context.Context, _ string) error { return t.client.Probe(ctx) },
	})
	front.Attach(t.box)
	t.pay = front.Payments()
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error, 2)
	go func() { ended <- t.box.Run(ctx) }()
	go func() { ended <- front.Run(ctx) }()
	t.stop = func() error {
		cancel()
		err := errors.Join(<-ended, <-ended)
		t.client.CloseIdle()
		return errors.Join(err, db.Close())
	}
	return t, nil
}

// write is one payment of a local client; stored says that it is told "pending".
func (t *route) write(ctx context.Context) (stored bool, err error) {
	p, err := t.pay.Create(ctx, wire.NewKey(), payments.CreateRequest{
		Type: payments.ProviderHosted, Amount: 1250, CurrencyCode: "EUR", RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
	})
	return p.Operation != nil, err
}

// fall proves the service, then cuts it off until the terminal knows.
func (t *route) fall(ctx context.Context) error {
	if stored, err := t.write(ctx); err != nil || stored {
		return fmt.Errorf("%s: the backend did not answer before: %w", t.name, errors.Join(err, ctx.Err()))
	}
	t.cut.Store(true)
	t.client.CloseIdle()
	for range awayTries {
		if t.box.Down(gateway.Payments) {
			return nil
		}
		if _, err := t.write(ctx); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return fmt.Errorf("%s: the terminal does not notice", t.name)
}

// away measures the accept of local clients' writes while the backend is away in several ways, in turns.
func (b *bench) away() (err error) {
	bk, err := backend.Open(b.ctx, backend.Config{Dir: filepath.Join(b.dir, "backend"), PublicURL: "http://127.0.0.1:1"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bk.Close()) }()
	e, err := b.estate(bk.Handler())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	var routes []*route
	defer func() {
		for _, t := range routes {
			err = errors.Join(err, t.stop())
		}
	}()
	for _, f := range faults {
		t, err := b.route(e, f)
		if err != nil {
			return err
		}
		routes = append(routes, t)
		if err := t.fall(b.ctx); err != nil {
			return err
		}
	}
	for range awayBursts * b.turns {
		for _, t := range routes {
			got, err := load(awayCallers, max(awayCallers, b.ops/awayBursts), func() error {
				stored, err := t.write(b.ctx)
				if err == nil && !stored {
					err = errors.New("answered, though nobody is there")
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			t.p99s = append(t.p99s, got.p99)
		}
	}
	limit := routes[0]
	for _, t := range routes[1:] {
		// Neighbours only add: the quieter bursts tell of us.
		ours, beside := quantile(t.p99s, 0.25), quantile(limit.p99s, 0.25)
		b.table.add(row{
			what: fmt.Sprintf("payment accepted, %d callers, backend %s, p99", awayCallers, t.name), ours: short(ours), limit: short(beside),
			ratio: float64(ours) / float64(beside), atMost: awayAtMost, note: fmt.Sprintf("limit: nobody listens; %d failed calls meanwhile", t.client.Stats().Failures),
		})
	}
	return nil
}
