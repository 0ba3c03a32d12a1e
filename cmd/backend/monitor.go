package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"posagent/cmd/usage"
	"posagent/schemes/backend"
)

// monitor is the listener that an operator's programs ask.
type monitor struct {
	ln  net.Listener
	srv *http.Server
}

// listenMonitor listens on an address; one without a host is loopback. nil where there is no address.
func listenMonitor(address string) (*monitor, string, error) {
	if address == "" {
		return nil, "", nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", usage.Fail(usage.ExitUsage, "--monitor: want host:port, or :port for 127.0.0.1, not %q", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, "", usage.Fail(usage.ExitFailed, "--monitor: %v (choose another address)", err)
	}
	return &monitor{ln, backend.MonitorServer(nil)}, host, nil
}

// serve serves the figures until close.
func (m *monitor) serve(b *backend.Backend, name string) error {
	m.srv.Handler = b.Monitor(name)
	if err := m.srv.Serve(m.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("--monitor: %w", err)
	}
	return nil
}

// close ends serve. It is called last: who watches sees that the process leaves.
func (m *monitor) close(ctx context.Context) {
	if m.srv.Shutdown(ctx) != nil {
		_ = m.srv.Close() // its listener is closed already
	}
}
