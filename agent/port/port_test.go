package port

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire/wiretest"
)

// serve starts a port whose readiness is ready, and returns its address.
func serve(t *testing.T, ready error) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := New(Options{Listener: ln, Live: func() error { return nil }, Ready: func() error { return ready }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-done) })
	return p.Addr()
}

func fetch(t *testing.T, addr, path, host string, header http.Header) int {
	req, err := http.NewRequest("GET", "http://"+addr+path, nil)
	require.NoError(t, err)
	if host != "" {
		req.Host = host
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, _ := wiretest.Send(t, http.DefaultTransport.RoundTrip, req)
	return resp.StatusCode
}

func TestProbes(t *testing.T) {
	addr := serve(t, nil)
	require.Equal(t, 200, fetch(t, addr, "/livez", "", nil))
	require.Equal(t, 200, fetch(t, addr, "/readyz", "", nil))
	require.Equal(t, 404, fetch(t, addr, "/", "", nil))
	require.Equal(t, 503, fetch(t, serve(t, errors.New("disk full")), "/readyz", "", nil))
}

// A program that is refused hears why, in the shape that the document promises, and which address is wanted.
func TestGuardSaysWhatIsWanted(t *testing.T) {
	addr := serve(t, nil)
	for _, c := range []struct {
		host   string
		header string
		says   string
	}{
		{"127.0.0.1", "", "http://" + addr}, {"kiosk.example", "", "http://" + addr},
		{addr, "Origin", "header Origin"}, {addr, "Referer", "header Referer"}, {addr, "Sec-Fetch-Site", "header Sec-Fetch-Site"},
	} {
		req, err := http.NewRequest("POST", "http://"+addr+"/api/v1/payments", strings.NewReader("{}"))
		require.NoError(t, err)
		if req.Host = c.host; c.header != "" {
			req.Header.Set(c.header, "x")
		}
		resp, text := wiretest.Send(t, http.DefaultTransport.RoundTrip, req)
		require.Equal(t, 403, resp.StatusCode)
		require.Equal(t, "application/problem+json; charset=utf-8", resp.Header.Get("Content-Type"), c)
		var body struct {
			Type, Detail string
			Status       int
		}
		require.NoError(t, json.Unmarshal([]byte(text), &body))
		require.Equal(t, "urn:problem:forbidden", body.Type)
		require.Equal(t, 403, body.Status)
		require.Contains(t, body.Detail, c.says)
	}
}

func TestGuardIsClosedToTheWeb(t *testing.T) {
	addr := serve(t, nil)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	require.Equal(t, 200, fetch(t, addr, "/livez", "localhost:"+port, nil))
	for _, host := range []string{"evil.example:" + port, "127.0.0.1.evil.example", "127.1:" + port, "0.0.0.0:" + port,
		"localhost", "localhost.:" + port, "[::ffff:127.0.0.1]:" + port, "127.0.0.1:1"} {
		require.Equal(t, 403, fetch(t, addr, "/livez", host, nil), host)
	}
	for _, h := range []http.Header{{"Origin": {"null"}}, {"Origin": {"http://" + addr}}, {"Referer": {"http://" + addr + "/"}}, {"Sec-Fetch-Site": {"same-origin"}}} {
		require.Equal(t, 403, fetch(t, addr, "/livez", "", h), "%v", h)
	}
}
