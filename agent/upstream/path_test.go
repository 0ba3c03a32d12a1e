package upstream

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
	"posagent/cross/need"
	"posagent/schemes/wire"
)

// connector is a proxy that knows CONNECT alone and asks for credentials.
type connector struct {
	net.Listener
	mu    sync.Mutex
	lines []string // of the requests it saw, credentials among them
}

const proxyWord = "Basic dGlsbDpodXNoLXByb3h5" // till:hush-proxy

func newConnector(t *testing.T) *connector {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &connector{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

func (p *connector) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.lines = append(p.lines, req.Method+" "+req.Host+" "+req.Header.Get("Proxy-Authorization")+" "+req.Header.Get("Authorization"))
	p.mu.Unlock()
	if req.Header.Get("Proxy-Authorization") != proxyWord {
		_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return
	}
	to, err := net.Dial("tcp", req.Host)
	if err != nil {
		return
	}
	defer to.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(to, in) }()
	_, _ = io.Copy(conn, to)
}

func (p *connector) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// An https backend is reached through CONNECT: the proxy gets its own credentials and not the backend's, and no text holds either.
func TestProxyConnect(t *testing.T) {
	ours := certs.New(t, "root")
	cert, _ := issue(t, ours, nil)
	var s seen
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header.Get("Proxy-Authorization"))
		s.note(r)
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	for _, tc := range []struct {
		auth wire.Secret
		ok   bool
	}{{"till:hush-proxy", true}, {"till:hush-wrong", false}, {"", false}} {
		var log bytes.Buffer
		proxy := newConnector(t)
		cfg := Config{
			Base: srv.URL, RootsFile: ours.File, Proxy: "http://" + proxy.Addr().String(), ProxyAuth: tc.auth, Auth: Auth{Bearer: "hush-backend"},
			Timeout: need.Limit(), RetryWait: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		c, err := New(cfg)
		require.NoError(t, err)
		before := s.count()
		_, err = exchange(t, c, "POST", srv.URL, "", "x")
		c.CloseIdle()
		lines := proxy.seen()
		require.Len(t, lines, 1)
		require.True(t, strings.HasPrefix(lines[0], "CONNECT "+srv.Listener.Addr().String()+" "), lines[0])
		require.NotContains(t, lines[0], "hush-backend")
		texts := fmt.Sprintf("%+v %v %+v %s", cfg, err, c.Stats(), &log)
		require.NotContains(t, texts, "hush")
		require.NotContains(t, texts, strings.TrimPrefix(proxyWord, "Basic "))
		if tc.ok {
			require.NoError(t, err)
			require.Equal(t, "Bearer hush-backend", s.auth[before])
			continue
		}
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "nothing was sent to the backend: %v", err)
		require.Equal(t, before, s.count())
	}
}

// A key that is not pinned is refused before anything is sent, is not tried again, and the reason names what to do.
func TestWrongPinNamesItsRemedy(t *testing.T) {
	ours := certs.New(t, "root")
	cert, pin := issue(t, ours, nil)
	next, nextPin := issue(t, ours, nil)
	_, strange := issue(t, ours, nil)
	var hands atomic.Int32
	start := func(cert tls.Certificate) *httptest.Server {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		srv.TLS = &tls.Config{
			Certificates:       []tls.Certificate{cert},
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { hands.Add(1); return nil, nil },
		}
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv
	}
	pins := []string{pin, nextPin}
	for name, tc := range map[string]struct {
		cert tls.Certificate
		pins []string
		ok   bool
	}{"the pin": {cert, pins, true}, "the backup pin": {next, pins, true}, "neither": {cert, []string{strange, nextPin}, false}} {
		srv := start(tc.cert)
		c := client(t, srv.URL, func(cfg *Config) { cfg.RootsFile, cfg.Pins = ours.File, tc.pins })
		before := hands.Load()
		_, err := exchange(t, c, "POST", srv.URL, "k", "x")
		require.EqualValues(t, 1, hands.Load()-before, "%s: not tried again", name)
		if tc.ok {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, errPin)
		require.Contains(t, c.Stats().Reason, "upstream.pins")
	}
}

// A peer that accepts and then says nothing, in TLS or out of it, costs one try's time, and nothing was sent.
func TestTLSStallIsCutByTheDeadline(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	base := "https://" + l.Addr().String() // the kernel accepts, nobody reads
	c := client(t, base, func(cfg *Config) { cfg.Timeout = soon() })
	start := time.Now()
	_, err = exchange(t, c, "POST", base, "", "x")
	require.Error(t, err)
	require.Less(t, time.Since(start), need.Limit())
	require.False(t, c.Healthy())
}

func TestResetAmidTheBodyIsNoAnswer(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"paymentId":"1"}`)
		_ = http.NewResponseController(w).Flush()
		reset(w)
	})
	_, err := exchange(t, client(t, srv.URL, nil), "POST", srv.URL, "", "x")
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
}

// A token is fetched again before the backend would refuse it, by the terminal's own clock.
func TestTokenIsRenewedBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tokens atomic.Int32
		z := &authorizer{id: "a", key: "b", tokenURL: "https://pay.example/token", now: time.Now, client: &http.Client{Transport: answers(func(*http.Request) *http.Response {
			tokens.Add(1)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"access_token":"t","expires_in":"60"}`))}
		})}}
		_, err := z.header(t.Context())
		require.NoError(t, err)
		time.Sleep(53 * time.Second)
		_, err = z.header(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, tokens.Load(), "good for 54 of 60 s")
		time.Sleep(2 * time.Second)
		_, err = z.header(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2, tokens.Load(), "renewed 5 s before its end")
	})
}

type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// Two services have two clients: what one suffers does not close the other's way.
func TestCircuitsAreApart(t *testing.T) {
	bad := serve(t, func(w http.ResponseWriter, _ *http.Request) { reset(w) })
	good := serve(t, func(http.ResponseWriter, *http.Request) {})
	a, b := client(t, bad.URL, nil), client(t, good.URL, nil)
	for range openAfter {
		_, err := exchange(t, a, "POST", bad.URL, "", "x")
		require.Error(t, err)
	}
	require.True(t, a.Stats().Open)
	_, err := exchange(t, b, "POST", good.URL, "", "x")
	require.NoError(t, err)
	require.False(t, b.Stats().Open)
}
