package agent_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent"
	"posagent/agent/gateway"
	"posagent/agent/port"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/schemes/aapay"
	"posagent/schemes/payments"
	"posagent/store/storetest"
)

// A local client may put a card number into a path, its digits apart and escaped as he likes: none is in a refusal, an event, a
// figure, a status, the log or the journal, whether the backend is away, breaks off or refuses.
func TestNoPathLeavesACardNumber(t *testing.T) {
	const token = "local-token-0123456789"
	const away, broken, refusing = 0, 1, 2
	var mode atomic.Int32
	mode.Store(refusing)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mode.Load() == broken {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/problem+json") // it says the path, as ours does
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"type":"urn:problem:not-found","title":"No such payment `+r.URL.EscapedPath()+`","status":404,"detail":"none at `+r.URL.EscapedPath()+`"}`)
	}))
	t.Cleanup(server.Close)
	log := &program.Talk{}
	client, err := upstream.New(upstream.Config{
		Base: server.URL, Auth: upstream.Auth{Bearer: "b"}, Timeout: need.Limit(), RetryWait: time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil)),
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if mode.Load() == away {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("cut")}
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
	})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "agent.db")
	db := storetest.OpenAt(t, path, agent.Schema()...)
	front := gateway.NewFront(gateway.Options{DB: db, Payments: &payments.Client{BaseURL: server.URL, Doer: client.Once()}, Within: 300 * time.Millisecond})
	ready, born := make(chan struct{}), time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	a := agent.New(agent.Options{
		DB: db, Schemes: noBackend{}, Methods: noBackend{}, Refresh: time.Hour, Port: ln, Front: front,
		Local: agent.Local{
			Token: token, Within: time.Second,
			Services: []port.Service{port.Payments(front.Payments(), ""), port.Schemes(&aapay.Client{BaseURL: server.URL, Doer: client.Once()})},
			Live:     func() view.Live { return view.Live{Schemes: view.Trouble{Reason: client.Stats().Reason, Since: born}} },
			Upstream: []view.Upstream{{Name: "payments", Healthy: client.Healthy}},
		},
		Probe: func(ctx context.Context, _ string) error { return client.Probe(ctx) },
		Now:   time.Now, Boot: func() time.Duration { return time.Since(born) }, BootID: "boot", Up: func() { close(ready) }, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-ready

	ask := func(method, path string) (int, string) {
		body := ""
		if method == http.MethodPost {
			body = `{"amount":1}`
		}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+ln.Addr().String()+path, strings.NewReader(body))
		require.NoError(t, err, path)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		return answered(t, req)
	}
	// plain takes escapes and what stands between digits away.
	plain := func(s string) string {
		for strings.Contains(s, "%25") {
			s = strings.ReplaceAll(s, "%25", "%")
		}
		return strings.NewReplacer("%20", "", "%2D", "", "%2B", "", "%34", "4", " ", "", "-", "", "+", "").Replace(s)
	}
	clean := func(where, text string) {
		t.Helper()
		require.NotContains(t, plain(text), "4111111111111111", where)
	}
	var stored int
	for _, at := range []int32{refusing, away, broken} {
		mode.Store(at)
		client.CloseIdle()
		for _, between := range []string{"", "%20", "-", "%2D", "+", "%2B", "%2520", "%252D"} {
			id := strings.Join([]string{"%34111", "1111", "1111", "1111"}, between)
			require.Equal(t, "4111111111111111", plain(id))
			for _, c := range [][2]string{
				{"POST", "/api/v1/payments/" + id + "/Capture"}, {"POST", "/api/v1/payments/" + id + "/Nothing"}, {"GET", "/api/v1/payments/" + id},
				{"GET", "/api/v1/" + id}, {"GET", "/" + id}, {"GET", "/agent/v1/operations/" + id}, {"GET", "/agent/v1/sales/" + id},
				{"GET", "/ms/aapay/v2/transaction/" + id + "/status?method=" + id}, {"POST", "/ms/aapay/v2/transaction/" + id + "/initialize"},
				{"GET", "/v1.0/Invoice/" + id + "/?instance=x"}, {"GET", "/hooks/" + id}, {"GET", "/agent/v1/operations?kind=" + id},
			} {
				status, text := ask(c[0], c[1])
				if status == http.StatusAccepted { // it names the payment as its caller did
					stored++
					_, text, _ = strings.Cut(text, `","`)
				}
				clean(c[0]+" "+c[1], text)
			}
		}
		for _, path := range []string{"/agent/v1/operations?limit=200", "/agent/v1/status", "/metrics"} {
			_, text := ask("GET", path)
			clean(path, text)
		}
	}
	require.Positive(t, stored, "some were taken while the backend was away")
	mode.Store(refusing)
	need.Until(t, "nothing waits any more", func() bool {
		_, text := ask("GET", "/agent/v1/operations?open=true&limit=1")
		return strings.Contains(text, `"operations":[]`)
	})
	_, text := ask("GET", "/agent/v1/operations?limit=200")
	require.Contains(t, text, `"FAILED"`)
	clean("operations", text)
	cancel()
	require.NoError(t, <-ended)
	clean("log", log.String())
	for _, suffix := range []string{"", "-wal"} { // the events are in it
		data, err := os.ReadFile(path + suffix)
		if err != nil && suffix != "" {
			continue
		}
		require.NoError(t, err)
		clean("journal", string(data))
	}
}
