package backend_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store/postgres/pgtest"
)

// monitor serves a backend's figures, and returns what reads one page of them.
func monitor(t *testing.T, b *backend.Backend) func() string {
	t.Helper()
	srv := httptest.NewServer(b.Monitor())
	t.Cleanup(srv.Close)
	return func() string {
		resp, err := srv.Client().Get(srv.URL + "/metrics")
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", resp.Header.Get("Content-Type"))
		return string(data)
	}
}

// figure is one line of a page: a name, labels, a number.
var figure = regexp.MustCompile(`^posagent_backend_[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? -?[0-9.]+$`)

// TestFigures: a monitor reads what the services, the books and the process do, and nothing of what a caller wrote.
func TestFigures(t *testing.T) {
	never := -time.Second
	b, srv := listen(t, backend.Config{Dir: t.TempDir(), WalletDelay: &never, Version: `1.2"3`})
	read := monitor(t, b)
	pay := &payments.Client{BaseURL: srv.URL, Doer: bearer{srv.Client(), demoBearer}}
	_, err := pay.Create(t.Context(), wire.NewKey(), payments.CreateRequest{
		Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale,
		CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 1},
	})
	require.NoError(t, err)
	for _, path := range []string{"/wp-login.php", "/api/v1/nothing/4111111111111111?secret=hunter2", "/readyz"} {
		resp, err := srv.Client().Get(srv.URL + path)
		require.NoError(t, err)
		_ = resp.Body.Close()
	}
	var got string
	for _, want := range []string{ // what runs beside gets there in its time
		`build_info{version="1.2\"3",go="`, "ready 1\n", `store_state{state="ready"} 1`, `store_state{state="full"} 0`, "store_readable 1\n", "store_last_failure_timestamp_seconds 0\n",
		`requests_total{service="payments",operation="payments.create",status="2xx"} 1`, `requests_total{service="other",operation="other",status="4xx"} 2`,
		`requests_total{service="probe",operation="GET /readyz",status="2xx"} 1`, `request_duration_seconds_count{service="payments",operation="payments.create"} 1`,
		`request_duration_seconds_bucket{service="payments",operation="payments.create",le="+Inf"} 1`, "requests_in_flight 0\n",
		`leases_held{task="deliver"} 1`, `leases_held{task="wallets"} 1`, `leases_held{task="cards"} 1`, `leases_held{task="links"} 1`, `leases_held{task="sessions"} 1`,
		`sweep_last_success_timestamp_seconds{task="cards"} 1`, "deliveries_waiting 0\n", "delivery_overdue_seconds 0\n", "delivery_endpoints_paused 0\n",
		`delivery_attempts_total{outcome="delivered"} 0`, "process_start_time_seconds 1", "go_goroutines ", "process_resident_memory_bytes ", "store_schema_steps ",
	} {
		need.Until(t, want, func() bool {
			got = read()
			return strings.Contains(got, "\nposagent_backend_"+want)
		})
	}
	commits := regexp.MustCompile(`(?m)^posagent_backend_commits_total ([0-9]+)$`).FindStringSubmatch(got)
	require.NotNil(t, commits, got)
	require.NotEqual(t, "0", commits[1])
	typed := map[string]bool{}
	for line := range strings.Lines(got) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ = strings.Cut(name, " ")
			require.False(t, typed[name], "two figures are called %s", name)
			typed[name] = true
		} else if !strings.HasPrefix(line, "# HELP ") {
			require.Regexp(t, figure, line)
		}
	}
	require.Equal(t, os.Getenv(pgtest.Env) != "", typed["posagent_backend_store_connections_used"] && typed["posagent_backend_store_connections_limit"], "a file has no connections")
	require.Equal(t, os.Getenv(pgtest.Env) == "", typed["posagent_backend_store_file_bytes"], "a server has no file here")
	for _, no := range []string{"411111", "hunter2", "wp-login", "/api/v1", "demo"} {
		require.NotContains(t, got, no)
	}
	b.Leave()
	require.Contains(t, read(), "posagent_backend_ready 0\n")
}

// TestMonitorAnswersToItsName: a web page that made its own name mean this machine reads nothing.
func TestMonitorAnswersToItsName(t *testing.T) {
	b := run(t, backend.Config{Dir: t.TempDir(), PublicURL: "http://h"})
	h := b.Monitor("watch.internal", "")
	for _, row := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/metrics", "127.0.0.1:9490", 200},
		{"GET", "/metrics", "[::1]:9490", 200},
		{"GET", "/metrics", "localhost:9490", 200},
		{"GET", "/metrics", "WATCH.internal", 200},
		{"GET", "/livez", "10.0.0.7", 204},
		{"GET", "/readyz", "localhost", 204},
		{"GET", "/metrics", "evil.example:9490", 403},
		{"GET", "/readyz", "evil.example", 403},
		{"GET", "/livez", "127.0.0.1.evil.example", 403},
		{"GET", "/metrics", "", 403},
		{"POST", "/metrics", "localhost", 405},
		{"GET", "/token", "localhost", 404},
		{"GET", "/api/v1/payments", "localhost", 404},
	} {
		r := httptest.NewRequestWithContext(t.Context(), row.method, row.path, nil)
		r.Host = row.host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, row.status, w.Code, "%s %s at %s", row.method, row.path, row.host)
	}
}

// TestRequestsAreLogged: with the operation, the credential's name and the Key.
func TestRequestsAreLogged(t *testing.T) {
	var out bytes.Buffer
	b := run(t, backend.Config{Dir: t.TempDir(), PublicURL: "http://127.0.0.1", Requests: slog.New(slog.NewTextHandler(&out, nil))})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/payments/0123abcd?why=hunter2", nil)
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", demoBearer)
	b.Handler().ServeHTTP(httptest.NewRecorder(), r)
	require.Contains(t, out.String(), "msg=request service=payments operation=payments.read method=GET status=404 durationMs=")
	require.Contains(t, out.String(), " credential=bearer")
	require.NotContains(t, out.String(), "0123abcd")
	require.NotContains(t, out.String(), "hunter2")
	require.NotContains(t, out.String(), "posagent-demo-bearer")
}
