package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Options of a port.
type Options struct {
	Listener net.Listener
	Live     func() error            // nil error = every loop of the daemon is alive
	Ready    func() error            // nil error = the store can be written and older sales are in hand
	Mount    map[string]http.Handler // more routes behind the guard, by http.ServeMux pattern
}

// Port is the local HTTP server.
type Port struct {
	ln  net.Listener
	srv *http.Server
}

// New makes a port; it starts nothing.
func New(o Options) *Port {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", probe(o.Live))
	mux.HandleFunc("GET /readyz", probe(o.Ready))
	for pattern, h := range o.Mount {
		mux.Handle(pattern, h)
	}
	return &Port{ln: o.Listener, srv: &http.Server{
		Handler:           Guard(o.Listener.Addr(), http.MaxBytesHandler(mux, 256<<10)),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}}
}

// Addr is where the port listens.
func (p *Port) Addr() string { return p.ln.Addr().String() }

// Run serves until ctx ends, then finishes what is in flight within 3 s.
func (p *Port) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if p.srv.Shutdown(grace) != nil {
			p.srv.Close()
		}
	})
	defer stop()
	if err := p.srv.Serve(p.ln); !errors.Is(err, http.ErrServerClosed) {
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

// Guard refuses what a web page could send: a foreign Host (DNS rebinding), or any sign of a browser.
// addr is the listening address; the names allowed are its own IP and, on loopback, localhost.
func Guard(addr net.Addr, next http.Handler) http.Handler {
	hosts := allowed(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		if !hosts[strings.ToLower(r.Host)] {
			http.Error(w, "this port answers to its own address only", http.StatusForbidden)
			return
		}
		for _, h := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
			if _, there := r.Header[h]; there {
				http.Error(w, "this port is closed to web pages", http.StatusForbidden)
				return
			}
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
