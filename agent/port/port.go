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
	"strings"
	"time"

	"posagent/agent/view"
	"posagent/schemes/wire"
)

// Options of a port. Listener, Live and Ready are required.
type Options struct {
	Listener net.Listener
	Live     func() error  // nil error = every loop of the daemon is alive
	Ready    func() error  // nil error = the store can be written and older sales are in hand
	Pages    http.Handler  // pages of stored payments at PayPath, for a customer's browser; nil = none
	Hooks    http.Handler  // takes webhooks at HooksPath and proves who sends; nil = none are taken
	Token    wire.Secret   // what local clients show; "" = no service, nothing of the terminal
	Clients  []Client      // who have a token of their own
	Rate     int           // requests per second of one client; 0 = 1000
	Parallel int           // requests in flight of one client; 0 = 48
	House    *view.Daemon  // nil = nothing of the terminal is shown
	Services []Service     // mounted with a Token only
	Within   time.Duration // of one call to the backend, as upstream bounds it; 0 = 30 s
	Dir      string        // where attachments lie while a request is served; "" = the system's folder
	Version  string
	Refused  func(address string) // is told of each request without a client's credential; it must not block; nil = nothing
	Touched  func()               // is called after each request that may have carried card data; it must not block; nil = nothing
	Log      *slog.Logger
}

// PayPath is where the pages of stored payments are. They need no token but the payment's id, which cannot be guessed.
const PayPath = "/pay/"

// HooksPath is where webhooks arrive, NoticesPath where notifications of hosted build do.
const (
	HooksPath   = "/hooks/webhooks"
	NoticesPath = "/hooks/notifications"
)

// Limits of the port.
const (
	maxConns  = 64
	strangers = 5 * time.Second // for the header of a request, and its body until it is known who asks
	readTime  = 15 * time.Second

	strangerRate = 100 // answers a second to requests that nobody proves
	churnRate    = 300 // connections a second that end for another where all are taken
	churnBurst   = 32

	maxHeader = 16 << 10 // bytes
)

// Port is the local HTTP server.
type Port struct {
	ln    net.Listener
	srv   *http.Server
	conns *limiter
	api   *api
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
	p.api = newAPI(o, p.conns)
	p.srv = &http.Server{
		Handler:        Guard(o.Listener.Addr(), p.api.routes()),
		ReadTimeout:    strangers,
		WriteTimeout:   readTime + o.Within + 10*time.Second,
		IdleTimeout:    60 * time.Second,
		MaxHeaderBytes: maxHeader,
		ConnState:      p.conns.state,
		ConnContext:    withSlot,
		BaseContext:    func(net.Listener) context.Context { return withCrowd(newCrowd(strangerRate, strangerRate)) },
		ErrorLog:       log.New(io.Discard, "", 0), // what a client does wrong is the client's, and would be anybody's to write
	}
	p.srv.RegisterOnShutdown(func() { close(p.api.ended) })
	return p
}

// Addr is where the port listens.
func (p *Port) Addr() string { return p.ln.Addr().String() }

// Run serves until ctx ends, then finishes what is in flight within 3 s. It refuses to serve other machines.
func (p *Port) Run(ctx context.Context) error {
	if host, _, err := net.SplitHostPort(p.Addr()); err != nil || !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("local port: %s is not this machine only", p.Addr())
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if p.srv.Shutdown(grace) != nil {
			p.api.cut()
			p.srv.Close()
		}
	})
	err := p.srv.Serve(p.conns)
	if !stop() {
		<-over // what is in flight still reads the store
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("local port: %w", err)
	}
	return nil
}

func probe(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "not ok:", err)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

// Guard refuses what a web page could send: a foreign Host (DNS rebinding), or any sign of a browser but where it reads a page.
// addr is the listening address; the names allowed are its own IP and, on loopback, localhost.
func Guard(addr net.Addr, next http.Handler) http.Handler {
	hosts := allowed(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		why := ""
		page := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, PayPath)
		for _, h := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
			if _, there := r.Header[h]; there && !page {
				why = "this port is closed to web pages"
			}
		}
		if !hosts[strings.ToLower(r.Host)] {
			why = "this port answers to its own address only"
		}
		if len(r.TransferEncoding) > 0 { // it may have named a length as well, and then what follows is anybody's guess
			w.Header().Set("Connection", "close")
		}
		if why != "" {
			unread(w, r)
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func allowed(addr net.Addr) map[string]bool {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	hosts := map[string]bool{net.JoinHostPort(host, port): true}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		hosts["localhost:"+port] = true
	}
	return hosts
}
