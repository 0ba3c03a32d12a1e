package webhooks_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/webhooks"
	"posagent/store"
	"posagent/store/storetest"
)

// hit is one request that arrived somewhere.
type hit struct {
	at   time.Time
	dial string // the address that was dialled
	host string
	head http.Header
	body string
}

// world is a network: names, addresses, and what answers there.
type world struct {
	mu     sync.Mutex
	hits   []hit
	now    map[string]int // open requests by host
	most   map[string]int
	all    int
	names  map[string][]string
	answer func(host string, n int) reply // n counts the host's earlier requests
}

// reply is what an endpoint says, after a while; status 0 hangs up.
type reply struct {
	status int
	after  time.Duration
	body   string
	head   string
}

func (w *world) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	list := w.names[host]
	if list == nil {
		list = []string{"93.184.216.34"}
	}
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

func (w *world) dial(_ context.Context, _, addr string) (net.Conn, error) {
	here, there := net.Pipe()
	go w.serve(there, addr)
	return here, nil
}

func (w *world) serve(c net.Conn, addr string) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	w.mu.Lock()
	n := 0
	for _, h := range w.hits {
		if h.host == req.Host {
			n++
		}
	}
	w.hits = append(w.hits, hit{time.Now(), addr, req.Host, req.Header, string(body)})
	w.now[req.Host]++
	w.all++
	w.most[req.Host] = max(w.most[req.Host], w.now[req.Host])
	w.most[""] = max(w.most[""], w.all)
	w.mu.Unlock()
	r := reply{status: 200}
	if w.answer != nil {
		r = w.answer(req.Host, n)
	}
	if r.after > 0 {
		gone := make(chan struct{})
		go func() { _, _ = c.Read(make([]byte, 1)); close(gone) }() // ends when the sender hangs up
		select {
		case <-time.After(r.after):
		case <-gone:
			r.status = 0
		}
	}
	w.mu.Lock()
	w.now[req.Host]--
	w.all--
	w.mu.Unlock()
	if r.status != 0 {
		text := "HTTP/1.1 " + strconv.Itoa(r.status) + " X\r\n" + r.head + "Content-Length: " + strconv.Itoa(len(r.body)) + "\r\n\r\n" + r.body
		_, _ = io.WriteString(c, text) // the sender may be gone
	}
}

// of gives a host's hits.
func (w *world) of(host string) (list []hit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.hits {
		if host == "" || h.host == host {
			list = append(list, h)
		}
	}
	return list
}

// peak is how many requests a host had open at once; "" = all hosts.
func (w *world) peak(host string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most[host]
}

// rig is a Deliver over a real store, in a bubble.
type rig struct {
	t    *testing.T
	path string
	*world
	opt  webhooks.Options
	db   store.Store
	d    *webhooks.Deliver
	end  context.CancelFunc
	done chan error
}

func newRig(t *testing.T, opt webhooks.Options) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "deliver.db"), opt: opt,
		world: &world{names: map[string][]string{}, now: map[string]int{}, most: map[string]int{}}}
	r.opt.Resolve, r.opt.Dial = r.resolve, r.dial
	if r.opt.Allow == nil {
		r.opt.Allow = []string{"a.test", "b.test", "c.test", "d.test", "e.test", "f.test"}
	}
	return r
}

func (r *rig) start() {
	r.db = storetest.OpenAt(r.t, r.path, webhooks.Schema()...)
	r.opt.DB = r.db
	r.d = webhooks.New(r.opt)
	var ctx context.Context
	ctx, r.end = context.WithCancel(r.t.Context())
	r.done = make(chan error, 1)
	d := r.d
	go func() { r.done <- d.Run(ctx) }()
}

func (r *rig) stop() {
	r.end()
	require.ErrorIs(r.t, <-r.done, context.Canceled)
	require.NoError(r.t, r.db.Close())
}

func (r *rig) register(subject string, hooks ...webhooks.Hook) {
	r.t.Helper()
	require.NoError(r.t, r.db.Write(r.t.Context(), func(tx store.Tx) error { return r.d.Register(tx, subject, hooks) }))
}

func (r *rig) emit(m webhooks.Message) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.db.Write(r.t.Context(), func(tx store.Tx) (err error) {
		n, err = r.d.Emit(tx, m)
		return err
	}))
	return n
}

func (r *rig) list(f webhooks.Filter) []webhooks.Delivery {
	r.t.Helper()
	list, err := r.d.List(r.t.Context(), f)
	require.NoError(r.t, err)
	return list
}

func message(id string) webhooks.Message {
	return webhooks.Message{ID: id, Event: "e", Subject: "s", Body: []byte(`{"id":"` + id + `"}`)}
}

func hook(url string) webhooks.Hook { return webhooks.Hook{Event: "e", URL: url} }

// sleep lets virtual time pass.
func sleep(d time.Duration) { time.Sleep(d) }

// gaps are the times between hits.
func gaps(hits []hit) (list []time.Duration) {
	for i := 1; i < len(hits); i++ {
		list = append(list, hits[i].at.Sub(hits[i-1].at))
	}
	return list
}

func bodies(hits []hit) []string {
	var list []string
	for _, h := range hits {
		if !slices.Contains(list, h.body) {
			list = append(list, h.body)
		}
	}
	return list
}

var errStop = errors.New("rolled back")

func contains(t *testing.T, r *rig, text string) bool {
	t.Helper()
	found := false
	for _, suffix := range []string{"", "-wal"} {
		data, err := readFile(r.path + suffix)
		require.NoError(t, err)
		found = found || bytes.Contains(data, []byte(text))
	}
	return found
}
