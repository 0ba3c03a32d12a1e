package meter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend/meter"
	"posagent/schemes/wire"
	"posagent/store"
)

func page(m *meter.Meter) string {
	var p meter.Page
	m.Write(&p)
	return p.String()
}

// What stands in a label cannot end it, nor its line.
func TestEscapes(t *testing.T) {
	var p meter.Page
	p.Head("x", meter.Gauge, "a \\ b\nc")
	p.Value("x", 1.5, "version", "1\"} 2\nevil 3 \\", "go", "\xff")
	require.Equal(t, "# HELP posagent_backend_x a \\\\ b\\nc\n# TYPE posagent_backend_x gauge\n"+
		`posagent_backend_x{version="1\"} 2\nevil 3 \\",go="?"} 1.5`+"\n", p.String())
}

// Classes of a histogram include those below them, and a duration at a bound is in its class.
func TestHistogram(t *testing.T) {
	m := meter.New(nil)
	for _, took := range []time.Duration{time.Millisecond, 1001 * time.Microsecond, time.Second, time.Minute} {
		m.Wrote(took, 1, nil)
	}
	got := page(m)
	for _, want := range []string{
		`commit_duration_seconds_bucket{le="0.001"} 1`, `commit_duration_seconds_bucket{le="0.0025"} 2`, `commit_duration_seconds_bucket{le="0.5"} 2`,
		`commit_duration_seconds_bucket{le="1"} 3`, `commit_duration_seconds_bucket{le="30"} 3`, `commit_duration_seconds_bucket{le="+Inf"} 4`,
		`commit_duration_seconds_sum 61.002001`, `commit_duration_seconds_count 4`, `commits_total 4`,
	} {
		require.Contains(t, got, "posagent_backend_"+want+"\n")
	}
}

// A write that the closure itself refuses is no failure of the books; each other error has its word.
func TestWrites(t *testing.T) {
	m := meter.New(nil)
	m.Wrote(time.Second, 3, nil)
	m.Wrote(time.Second, 1, errors.New("the payment is closed"))
	m.Wrote(time.Second, 100, fmt.Errorf("%w: 100 runs", store.ErrBusy))
	m.Wrote(time.Second, 1, fmt.Errorf("%w: gone: %w", store.ErrCommitUnknown, store.ErrIO))
	got := page(m)
	for _, want := range []string{
		`commits_total 1`, `commit_reruns_total 101`, `commit_failures_total{reason="busy"} 1`, `commit_failures_total{reason="unknown"} 1`,
		`commit_failures_total{reason="io"} 0`, `commit_failures_total{reason="full"} 0`,
	} {
		require.Contains(t, got, "posagent_backend_"+want+"\n")
	}
}

// Deliveries, sweeps and leases.
func TestWork(t *testing.T) {
	m := meter.New(func() time.Time { return time.UnixMilli(1_700_000_000_500) })
	m.Tried(true)
	m.Tried(false)
	m.Tried(false)
	m.Swept("cards", nil)
	m.Swept("cards", errors.New("no"))
	m.Swept("links", errors.New("no"))
	m.Holds("deliver", true)
	m.Holds("cards", true)
	m.Holds("cards", false)
	got := page(m)
	for _, want := range []string{
		`delivery_attempts_total{outcome="delivered"} 1`, `delivery_attempts_total{outcome="failed"} 2`,
		`sweep_last_success_timestamp_seconds{task="cards"} 1700000000.5`, `sweep_last_success_timestamp_seconds{task="links"} 0`,
		`sweep_failures_total{task="cards"} 1`, `sweep_failures_total{task="links"} 1`, `leases_held{task="deliver"} 1`, `leases_held{task="cards"} 0`,
	} {
		require.Contains(t, got, "posagent_backend_"+want+"\n")
	}
}

// A request is counted whatever becomes of it, also where its reply is cut.
func TestRequests(t *testing.T) {
	m := meter.New(nil)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("GET /named/{id}", func(w http.ResponseWriter, r *http.Request) {
		wire.ServedOf(r.Context()).Names("things.read")
		http.NewResponseController(w).EnableFullDuplex() //nolint:errcheck // asks through Unwrap
		_, _ = w.Write([]byte("four"))
	})
	srv := httptest.NewServer(m.Around(mux, nil))
	defer srv.Close()
	srv.Client().Transport.(*http.Transport).DisableKeepAlives = true // a request on an old connection would be sent twice
	for path, ok := range map[string]bool{"/livez": true, "/cut": false, "/panic": false, "/early": true, "/named/1": true, "/none/1": true, "/none/2": true} {
		resp, err := srv.Client().Get(srv.URL + path)
		require.Equal(t, ok, err == nil, "%s: %v", path, err)
		if ok {
			_ = resp.Body.Close()
		}
	}
	want := `posagent_backend_requests_total{service="backend",operation="GET /cut",status="5xx"} 1
posagent_backend_requests_total{service="backend",operation="GET /early",status="4xx"} 1
posagent_backend_requests_total{service="backend",operation="GET /panic",status="5xx"} 1
posagent_backend_requests_total{service="other",operation="other",status="4xx"} 2
posagent_backend_requests_total{service="probe",operation="GET /livez",status="2xx"} 1
posagent_backend_requests_total{service="things",operation="things.read",status="2xx"} 1
`
	need.Until(t, "the requests to be counted", func() bool {
		return strings.Contains(page(m), want) && strings.Contains(page(m), "requests_in_flight 0\n")
	})
}

// A line of the log says what was asked and what came of it, and nothing of what a caller wrote but the Key.
func TestLog(t *testing.T) {
	const pan = "4111111111111111"
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	h := meter.New(nil).Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire.ServedOf(r.Context()).Names("payments.create")
		wire.ServedOf(r.Context()).Proves("bearer")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte("12345"))
	}), log)
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/pay/"+pan+"?secret=hunter2", strings.NewReader("body-text"))
	r.Method = pan
	r.Header.Set("Authorization", "Bearer hunter2")
	r.Header.Set(wire.KeyHeader, "till-"+pan)
	h.ServeHTTP(httptest.NewRecorder(), r)
	line := out.String()
	require.Equal(t, 1, strings.Count(line, "\n"))
	for _, want := range []string{"msg=request", "service=payments", "operation=payments.create", "method=other", "status=201", "bytes=5", "credential=bearer", "key=till-411111******1111", "durationMs="} {
		require.Contains(t, line, want)
	}
	for _, no := range []string{pan, "hunter2", "body-text", "/pay/"} {
		require.NotContains(t, line, no)
	}
}
