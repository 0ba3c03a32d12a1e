package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
)

// stub is a backend that answers at once: a payment is live, its code is there at the first status read, and it is
// paid at the next one. It notes when the first byte of an initialize came in and when the status that says COMMIT was
// written.
type stub struct {
	server *http.Server
	url    string

	mu    sync.Mutex
	reads map[string]int
	next  int64
	ids   map[string]int64
	about bool      // the next reply says COMMIT
	came  time.Time // first byte of the last initialize
	said  time.Time // COMMIT left
}

var (
	_ aapay.Service   = (*stub)(nil)
	_ methods.Service = (*stub)(nil)
)

func newStub(ctx context.Context) (*stub, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &stub{url: "http://" + ln.Addr().String(), reads: map[string]int{}, ids: map[string]int64{}}
	mux := http.NewServeMux()
	mux.Handle(aapay.Prefix, aapay.Handler(s, aapay.HandlerOptions{}))
	mux.Handle(methods.Prefix, methods.Handler(s, methods.HandlerOptions{}))
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(&watched{ln, s}) }()
	return s, nil
}

func (s *stub) close() { _ = s.server.Close() }

// times are those of the last sale.
func (s *stub) times() (came, said time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came, s.said
}

// watched is a listener whose connections note when bytes pass.
type watched struct {
	net.Listener
	stub *stub
}

func (w *watched) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c, w.stub}, nil
}

type conn struct {
	net.Conn
	stub *stub
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	now := time.Now()
	if bytes.HasPrefix(p[:n], []byte("POST ")) {
		c.stub.mu.Lock()
		c.stub.came = now
		c.stub.mu.Unlock()
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.stub.mu.Lock()
	if c.stub.about {
		c.stub.about, c.stub.said = false, time.Now()
	}
	c.stub.mu.Unlock()
	return c.Conn.Write(p)
}

// Initialize implements aapay.Service; the program uses the other route.
func (s *stub) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return aapay.Reply{}, &wire.Error{Code: wire.Invalid, Op: "bench"}
}

// InitializeWithIdempotency implements aapay.Service.
func (s *stub) InitializeWithIdempotency(_ context.Context, _ wire.Key, _ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.ids[req.TerminalReference]; !known {
		s.next += 10_000_000 // past the numbers of the old sales that a journal is filled with, copies of the first
		s.ids[req.TerminalReference] = s.next
	}
	return aapay.Reply{HTTPStatus: http.StatusAccepted, Valid: true, Response: &aapay.Response{}}, nil
}

// Status implements aapay.Service.
func (s *stub) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[id]++
	st := aapay.Status{Valid: true, TransactionID: s.ids[id], State: aapay.Initialized, QRCodePayload: payload}
	if id == "" || s.reads[id] >= 2 {
		st.State, st.AccountState = aapay.Finalized, aapay.Commit
		s.about = true
	}
	return st, nil
}

// payload is what a wallet's code holds: 100 bytes.
var payload = "https://wallet.example/pay/" + strings.Repeat("0123456789", 7) + "abc"

// List implements methods.Service.
func (s *stub) List(context.Context, methods.Query) ([]methods.Definition, error) {
	return []methods.Definition{{
		Priority: 1, PaymentProviderID: 1, Name: "SWISH_E_COM", Label: "Swish", MeanDelay: 10, Trigger: []methods.Trigger{methods.QR},
		TransactionTypes: []methods.TransactionType{methods.Payment, methods.Refund, methods.Reversal},
	}}, nil
}
