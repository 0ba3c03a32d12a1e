package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posagent/cross/need"
	"posagent/cross/program"
)

// outside is the address that terminals know.
const outside = "http://127.0.0.1:8490"

// seed is the one method of the terminals: its customers pay after a second, and its time-outs are short.
const seed = `[{"priority":1,"paymentProviderId":1,"name":"SWISH_E_COM","label":"Swish","meanDelay":1,"trigger":["QR"],
 "defaultTrigger":"QR","transactionTypes":["PAYMENT","REFUND","REVERSAL"],"staleTimeOut":5,"finalizeTimeOut":5,"delayedAmount":0}]`

const backendConfig = `[backend]
public_url = %q
wallet_delay = "1s"
seed = %q
[methods]
timeout_unit = "s"
`

// process is one backend, which an init system would start again.
type process struct {
	name, dir, address string
	args               []string

	mu  sync.Mutex
	run *program.Process
}

// backends are the processes on one database.
type backends struct {
	bin  string
	list []*process

	killed, ended atomic.Int64
	failed        func(format string, args ...any) // notes what no fault explains
}

// openBackends starts n processes on the database.
func openBackends(ctx context.Context, bin, dir, db string, n int, failed func(string, ...any), more ...string) (*backends, error) {
	b := &backends{bin: bin, failed: failed}
	methods := filepath.Join(dir, "methods.json")
	config := filepath.Join(dir, "backend.toml")
	if err := errors.Join(os.WriteFile(methods, []byte(seed), 0o600), os.WriteFile(config, fmt.Appendf(nil, backendConfig, outside, methods), 0o600)); err != nil {
		return b, err
	}
	for i := range n {
		p := &process{name: fmt.Sprint("b", i+1), address: "127.0.0.1:0"}
		p.dir = filepath.Join(dir, p.name)
		if err := os.Mkdir(p.dir, 0o700); err != nil {
			return b, err
		}
		if i > 0 { // the first one has made the key
			key, err := os.ReadFile(filepath.Join(b.list[0].dir, "backend.key"))
			if err != nil {
				return b, err
			}
			if err := os.WriteFile(filepath.Join(p.dir, "backend.key"), key, 0o600); err != nil {
				return b, err
			}
		}
		p.args = append([]string{"--db", db, "--state", p.dir, "--config", config, "--drain", "1s"}, more...)
		b.list = append(b.list, p)
		if err := b.start(ctx, p); err != nil {
			return b, err
		}
	}
	return b, nil
}

// start starts a process, as often as it takes while the database has no primary, and returns when it is ready.
func (b *backends) start(ctx context.Context, p *process) error {
	err := until(ctx, within(), func() error {
		cmd := exec.Command(b.bin, append(p.args, "--listen", p.address)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return final{err}
		}
		defer log.Close()
		cmd.Stderr = log
		run, line, err := program.Start(cmd, "listening on ")
		if err != nil {
			text, _ := os.ReadFile(log.Name()) // the error is told without it
			return fmt.Errorf("%s: %w\n%s", p.name, err, text[max(0, len(text)-500):])
		}
		p.mu.Lock()
		p.run, p.address = run, strings.TrimPrefix(line, "listening on http://")
		p.mu.Unlock()
		return nil
	})
	if err != nil {
		return err
	}
	return until(ctx, within(), func() error {
		if !p.ready(ctx) {
			return errors.New(p.name + " is not ready")
		}
		return nil
	})
}

// ready asks a process as a balancer does.
func (p *process) ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, need.Limit()/30)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.at()+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusNoContent
}

// at is where a process listens.
func (p *process) at() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// running is a process's life; nil = it never began.
func (p *process) running() *program.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// kill ends a process with -9.
func (b *backends) kill(p *process) {
	b.alive(p)
	p.running().Kill()
	b.killed.Add(1)
}

// stop ends a process in order.
func (b *backends) stop(p *process) {
	b.alive(p)
	if err := p.running().Stop(); err != nil {
		b.failed("%s did not end in order: %v", p.name, err)
	}
	b.ended.Add(1)
}

// alive notes a process that has ended by itself.
func (b *backends) alive(p *process) {
	if run := p.running(); run != nil && !run.Alive() {
		text, _ := os.ReadFile(filepath.Join(p.dir, "log")) // the violation is told without it
		b.failed("%s has ended by itself: %s: %s", p.name, run.Cmd.ProcessState, text[max(0, len(text)-500):])
	}
}

// logs shows the end of what each process has said.
func (b *backends) logs(t *testing.T) {
	for _, p := range b.list {
		text, err := os.ReadFile(filepath.Join(p.dir, "log"))
		t.Logf("%s said (%v): %s", p.name, err, text[max(0, len(text)-4000):])
	}
}

// close ends what runs.
func (b *backends) close() {
	if b == nil {
		return
	}
	for _, p := range b.list {
		if run := p.running(); run != nil {
			run.Kill()
		}
	}
}

// balancer takes the terminals' requests in memory and passes each on to one process that is ready. It never sends one twice.
type balancer struct {
	b      *backends
	server *http.Server
	conns  chan net.Conn
	over   chan struct{}
	lost   int // of a hundred answers to writes, which are cut off after their effect

	up   []atomic.Bool
	next atomic.Uint64

	answered, unavailable, broken, cut, refused atomic.Int64

	mu      sync.Mutex
	last    time.Time // that a write was answered well
	silence time.Duration
	shown   time.Duration
}

func newBalancer(b *backends, lost int) *balancer {
	x := &balancer{b: b, conns: make(chan net.Conn), over: make(chan struct{}), lost: lost, up: make([]atomic.Bool, len(b.list)), last: time.Now()}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DialContext: (&net.Dialer{Timeout: need.Limit() / 12}).DialContext}
	proxy := &httputil.ReverseProxy{
		Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(r.In.Context().Value(target{}).(*url.URL))
			r.Out.Host = r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, errCut) {
				panic(http.ErrAbortHandler) // the connection is gone
			}
			x.broken.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		},
		ModifyResponse: func(r *http.Response) error {
			write := r.Request.Method != http.MethodGet
			if r.StatusCode >= 500 {
				x.refused.Add(1)
				return nil
			}
			if !write {
				return nil
			}
			x.heard()
			if rand.IntN(100) < x.lost {
				x.cut.Add(1)
				return errCut
			}
			return nil
		},
	}
	x.server = &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := x.pick()
		if to == nil {
			x.unavailable.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		x.answered.Add(1)
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), target{}, to)))
	})}
	return x
}

var errCut = errors.New("the answer is cut off")

// target is the key of the process in a request's context.
type target struct{}

// begin makes this the moment from which writes are awaited.
func (x *balancer) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silence, x.last = 0, time.Now()
}

// told says it where no write was answered for longer than ever before.
func (x *balancer) told(t *testing.T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.silence > x.shown && x.silence > 5*time.Second {
		x.shown = x.silence
		t.Logf("no write was answered for %v, until %v ago", x.silence.Round(10*time.Millisecond), time.Since(x.last).Round(10*time.Millisecond))
	}
}

// heard takes note of a write that was answered.
func (x *balancer) heard() {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	x.silence, x.last = max(x.silence, now.Sub(x.last)), now
}

// pick is the next process that is ready, nil = none is.
func (x *balancer) pick() *url.URL {
	first := x.next.Add(1)
	for i := range x.b.list {
		n := int((first + uint64(i)) % uint64(len(x.b.list)))
		if x.up[n].Load() {
			return &url.URL{Scheme: "http", Host: x.b.list[n].at()}
		}
	}
	return nil
}

// Run serves, and asks the processes whether they are ready, until ctx ends.
func (x *balancer) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for i, p := range x.b.list {
		x.up[i].Store(p.ready(ctx))
		wg.Go(func() {
			for pause(ctx, 250*time.Millisecond) {
				x.up[i].Store(p.ready(ctx))
			}
		})
	}
	wg.Go(func() { _ = x.server.Serve(x) }) // it ends with ctx
	<-ctx.Done()
	close(x.over)
	_ = x.server.Close()
	wg.Wait()
}

// Dial is the terminals' network.
func (x *balancer) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case x.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-x.over:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (x *balancer) Accept() (net.Conn, error) {
	select {
	case c := <-x.conns:
		return c, nil
	case <-x.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (x *balancer) Close() error { return nil }

// Addr implements net.Listener.
func (x *balancer) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8490} }
