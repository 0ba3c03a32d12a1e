package port_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/cross/need"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// answering is a service whose answer waits, and is to be heard.
type answering struct {
	payments.Service
	called, hold, heard chan struct{}
}

func (s answering) Read(ctx context.Context, _ string) (payments.Payment, error) {
	s.called <- struct{}{}
	<-s.hold
	wire.OnHeard(ctx, func() { s.heard <- struct{}{} })
	return payments.Payment{}, wire.Errorf(wire.NotFound, "", "none")
}

// An answer is heard once the caller's machine has acknowledged it. One that is written to a connection that is gone is not, although
// the call goes on without its caller.
func TestField2_M48AnAnswerToADeadConnectionIsNotHeard(t *testing.T) {
	for name, c := range map[string]struct {
		leaves func(*net.TCPConn) error
		heard  bool
	}{
		"it reads the answer":         {func(*net.TCPConn) error { return nil }, true},
		"it has gone with a reset":    {func(c *net.TCPConn) error { _ = c.SetLinger(0); return c.Close() }, false},
		"it has gone without a reset": {(*net.TCPConn).Close, false},
	} {
		t.Run(name, func(t *testing.T) {
			svc := answering{called: make(chan struct{}, 1), hold: make(chan struct{}), heard: make(chan struct{}, 1)}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			ok := func() error { return nil }
			p := port.New(port.Options{
				Listener: ln, Live: ok, Ready: ok, Token: token, Services: []port.Service{port.Payments(svc, "")},
			})
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			conn, err := net.Dial("tcp", ln.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			_, err = conn.Write([]byte("GET /api/v1/payments/P1 HTTP/1.1\r\nHost: " + ln.Addr().String() + "\r\nAuthorization: " + bearer + "\r\n\r\n"))
			require.NoError(t, err)
			need.Receive(t, "the call", svc.called)
			require.NoError(t, c.leaves(conn.(*net.TCPConn)))
			close(svc.hold)
			if c.heard {
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				require.NoError(t, err)
				require.Equal(t, http.StatusNotFound, resp.StatusCode)
				require.NoError(t, resp.Body.Close())
				need.Receive(t, "the answer to be heard", svc.heard)
			}
			cancel()
			require.NoError(t, need.Receive(t, "the end of the port", ended)) // it waits for what is in flight
			require.Empty(t, svc.heard)
		})
	}
}
