package meter

import (
	"bufio"
	"cmp"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// route is what the requests of one operation are counted under.
type route struct{ service, operation string }

// served is what became of its requests.
type served struct {
	took    histogram
	classes map[string]uint64 // by the class of the status: "2xx"
}

// other counts what no route takes. Its number is one, whatever is asked for.
const other = "other"

// probe is the service of what balancers and monitors ask. Alerts leave it out.
const probe = "probe"

// Around counts the requests that next serves, and logs each once it has ended. log may be nil.
func (m *Meter) Around(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		said := &wire.Served{}
		r = r.WithContext(wire.WithTrace(wire.WithServed(r.Context(), said), traceOf(r)))
		out := &reply{ResponseWriter: w}
		whole := false
		m.began()
		defer func() {
			if !whole && out.status == 0 { // next panicked, on purpose too: the client got no reply
				out.status = http.StatusInternalServerError
			}
			took := time.Since(began)
			at := routeOf(r, said.Op)
			status := cmp.Or(out.status, http.StatusOK)
			m.ended(at, status, took)
			if log != nil {
				tell(log, r, at, said, status, out.bytes, took)
			}
		}()
		next.ServeHTTP(out, r)
		whole = true
	})
}

// traceOf returns the trace of a request: its own, or that of its Key.
func traceOf(r *http.Request) wire.Trace {
	if t := wire.TraceFrom(r.Header); t != "" {
		return t
	}
	key, err := wire.KeyFrom(r.Header)
	if err != nil {
		return ""
	}
	return wire.TraceOfKey(key)
}

// routeOf names a request's route: by the operation that an endpoint gave, or by the pattern that a mux has found.
func routeOf(r *http.Request, op string) route {
	if service, _, ok := strings.Cut(op, "."); ok {
		return route{service, op}
	}
	switch r.Pattern {
	case "GET /readyz", "GET /livez":
		return route{probe, r.Pattern}
	case "", "/":
		return route{other, other}
	}
	return route{"backend", r.Pattern}
}

func (m *Meter) began() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flying++
}

func (m *Meter) ended(at route, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flying--
	s := m.requests[at]
	if s == nil {
		s = &served{classes: map[string]uint64{}}
		m.requests[at] = s
	}
	s.took.add(took)
	s.classes[strconv.Itoa(status/100)+"xx"]++
}

// writeRequests writes what was counted of requests. The caller holds m.mu.
func (m *Meter) writeRequests(p *Page) {
	list := make([]route, 0, len(m.requests))
	for at := range m.requests {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.operation, b.operation))
	})
	p.One("requests_in_flight", Gauge, "Requests that have not ended.", float64(m.flying))
	p.Head("requests_total", Counter, "Requests that have ended, by the class of their status. What no route takes, or shows no credential, is operation "+other+".")
	for _, at := range list {
		for _, class := range sorted(m.requests[at].classes) {
			p.Value("requests_total", float64(m.requests[at].classes[class]), "service", at.service, "operation", at.operation, "status", class)
		}
	}
	p.Head("request_duration_seconds", "histogram", "How long requests took.")
	for _, at := range list {
		m.requests[at].took.write(p, "request_duration_seconds", "service", at.service, "operation", at.operation)
	}
}

// tell writes a request's line. A Key is no secret, but a caller's own may be any text.
func tell(log *slog.Logger, r *http.Request, at route, said *wire.Served, status int, bytes int64, took time.Duration) {
	method := r.Method
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}, method) {
		method = other
	}
	line := []any{
		"service", at.service, "operation", at.operation, "method", method, "status", status,
		"durationMs", float64(took.Microseconds()) / 1000, "bytes", bytes,
	}
	if said.By != "" {
		line = append(line, "credential", said.By)
	}
	if key, err := wire.KeyFrom(r.Header); err == nil && key != "" {
		line = append(line, "key", wire.MaskPANs(string(key)))
	}
	if trace := wire.TraceOf(r.Context()); trace != "" {
		line = append(line, "traceId", string(trace))
	}
	log.Info("request", line...)
}

// reply remembers what was answered.
type reply struct {
	http.ResponseWriter
	status int // 0 = nothing yet
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *reply) Write(data []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Unwrap is what http.ResponseController looks for.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker, for replies that are cut on purpose.
func (w *reply) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.status = cmp.Or(w.status, http.StatusInternalServerError) // the client gets no whole reply
	}
	return conn, rw, err
}
