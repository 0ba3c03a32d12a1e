package backend

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend/meter"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// figuresWithin bounds what a page of figures reads from the books.
const figuresWithin = 2 * time.Second

// scrapes is how many pages are written at a time.
const scrapes = 2

// Monitor serves what an operator's programs ask: /metrics, /readyz and /livez. It asks for no credential, so it belongs on a listener
// that terminals and merchants do not reach. It answers to addresses, localhost and these names: a web page whose name was made to mean
// this machine (DNS rebinding) shows its own name, and gets 403.
func (b *Backend) Monitor(names ...string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", b.ready)
	mux.HandleFunc("GET /livez", live)
	turns := make(chan struct{}, scrapes)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		default:
			http.Error(w, "others read the figures just now: ask again", http.StatusServiceUnavailable)
			return
		}
		_ = wire.WriteBody(w, http.StatusOK, meter.ContentType, []byte(b.Figures(r.Context()))) // a lost connection has no reader
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		named := slices.ContainsFunc(append(names, "localhost"), func(s string) bool { return s != "" && strings.EqualFold(s, host) })
		if !named && net.ParseIP(host) == nil {
			http.Error(w, "the figures are given to addresses and to the name of --monitor only", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// MonitorServer gives h a server with limits for a monitor: it asks little, and reads at once.
func MonitorServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: 60 * time.Second,
		MaxHeaderBytes: 16 << 10,
	}
}

// Figures returns what this process has counted, and how its books and itself are, in the text format of Prometheus. Where the books
// cannot be read, what stands in them is left out.
func (b *Backend) Figures(ctx context.Context) string {
	var p meter.Page
	p.Head("build_info", meter.Gauge, "1, with the version of the program and of Go.")
	p.Value("build_info", 1, "version", b.version, "go", runtime.Version())
	p.One("ready", meter.Gauge, "1 = /readyz says that requests may be sent here.", meter.Bit(b.notReady(ctx) == nil))
	b.meter.Write(&p)
	b.storeFigures(ctx, &p)
	b.deliveryFigures(ctx, &p)
	processFigures(&p, b.began)
	return p.String()
}

func (b *Backend) storeFigures(ctx context.Context, p *meter.Page) {
	h := b.db.Health(ctx)
	p.Head("store_state", meter.Gauge, "1 = the state of the books. They take writes in state ready alone.")
	for _, s := range []store.State{store.Ready, store.Full, store.Broken, store.Busy, store.Closed} {
		p.Value("store_state", meter.Bit(h.State == s), "state", string(s))
	}
	p.One("store_last_failure_timestamp_seconds", meter.Gauge, "When the books last refused a write for a reason of their own; 0 = never.", meter.Seconds(h.LastErrAt))
	p.One("store_schema_steps", meter.Gauge, "Steps that were applied to the tables.", float64(h.Schema))
	if h.MostConns > 0 {
		p.One("store_connections_used", meter.Gauge, "Connections to the database that are in use.", float64(h.Conns))
		p.One("store_connections_limit", meter.Gauge, "Connections that this process may use.", float64(h.MostConns))
	}
	if h.FileBytes > 0 {
		p.One("store_file_bytes", meter.Gauge, "Size of the file of the books.", float64(h.FileBytes))
		p.One("store_wal_bytes", meter.Gauge, "Size of its log.", float64(h.WALBytes))
		p.One("store_free_bytes", meter.Gauge, "Free space beside it.", float64(h.FreeBytes))
	}
}

func (b *Backend) deliveryFigures(ctx context.Context, p *meter.Page) {
	ctx, cancel := context.WithTimeout(ctx, figuresWithin)
	defer cancel()
	var q webhooks.Backlog
	err := b.db.Read(ctx, func(r store.Reader) (err error) {
		q, err = webhooks.Waiting(r, b.now())
		return err
	})
	p.One("store_readable", meter.Gauge, "1 = the books could be read for these figures.", meter.Bit(err == nil))
	if err != nil {
		return
	}
	p.One("deliveries_waiting", meter.Gauge, "Webhooks that are not delivered yet and not given up, of all processes.", float64(q.Waiting))
	p.One("delivery_overdue_seconds", meter.Gauge, "How long the oldest of them is overdue.", q.Overdue.Seconds())
	p.One("delivery_endpoints_paused", meter.Gauge, "Endpoints that get nothing for an hour, since they took nothing.", float64(q.Paused))
}

func processFigures(p *meter.Page, began time.Time) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.One("process_start_time_seconds", meter.Gauge, "When the process began to serve.", meter.Seconds(began))
	if n := resident(); n > 0 {
		p.One("process_resident_memory_bytes", meter.Gauge, "Memory of the process.", float64(n))
	}
	p.One("go_heap_bytes", meter.Gauge, "Memory of what the program holds.", float64(m.HeapAlloc))
	p.One("go_memory_bytes", meter.Gauge, "Memory that the program has from the system.", float64(m.Sys))
	p.One("go_gc_pause_seconds_total", meter.Counter, "Time in which the collection of memory held everything up.", time.Duration(m.PauseTotalNs).Seconds())
	p.One("go_goroutines", meter.Gauge, "Goroutines.", float64(runtime.NumGoroutine()))
}

// resident is how much memory of the machine the process has, in bytes; 0 where the system does not say.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
