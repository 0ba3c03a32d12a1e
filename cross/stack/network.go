package stack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/cross/referee"
	"posagent/schemes/backend"
	"posagent/schemes/wire"
)

// Reach is how far the network goes.
type Reach int

// The reaches.
const (
	Up        Reach = iota
	Refusing        // nothing listens: an error at once
	Blackhole       // nothing comes back, not even an error
	Resetting       // every connection breaks as soon as something was sent
)

// Act is what the network does to one request. The zero value passes it on.
type Act struct {
	Hold      time.Duration // before it reaches the backend; it gets there even if the caller waits no more
	Never     bool          // the connection breaks before it reaches the backend
	Twice     bool          // it reaches the backend twice, the second time after Hold again
	Status    int           // answered so, without reaching the backend
	Retry     string        // Retry-After of Status
	Late      time.Duration // the reply comes so much later
	Lost      bool          // the connection breaks instead of a reply
	Truncated bool          // half of the reply, then the connection breaks
	Instead   int           // this status instead of the backend's reply, with Retry
}

// Asked is one request as the network saw it.
type Asked struct {
	At  time.Time
	Op  string // its Key, or the path of a read
	Act Act
}

// Network is the way from the agent to a backend.
type Network struct {
	backend http.Handler
	referee *referee.Referee
	server  *http.Server
	conns   chan net.Conn
	over    chan struct{}
	serving sync.WaitGroup
	loose   sync.WaitGroup // requests under way without a caller

	mu    sync.Mutex
	reach Reach
	fate  func(r *http.Request) Act
	log   []Asked
	live  map[net.Conn]bool
	turn  chan struct{} // closed when reach changes
}

func newNetwork(h http.Handler, ref *referee.Referee) *Network {
	n := &Network{backend: ref.Backend(h), referee: ref, conns: make(chan net.Conn), over: make(chan struct{}), live: map[net.Conn]bool{}, turn: make(chan struct{})}
	n.server = backend.Server(ref.Terminal(http.HandlerFunc(n.serve)))
	n.server.WriteTimeout = 0 // the network's delays are not the backend's
	n.serving.Go(func() { _ = n.server.Serve(listener{n}) })
	return n
}

// Set changes the reach. Open connections of a network that goes down break, those of a black hole stay silent.
func (n *Network) Set(r Reach) {
	n.referee.Held()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reach = r
	close(n.turn)
	n.turn = make(chan struct{})
	if r == Refusing || r == Resetting {
		for c := range n.live {
			_ = c.Close()
		}
		clear(n.live)
	}
}

// Decide sets who decides the fate of requests; nil = all of them pass.
func (n *Network) Decide(f func(r *http.Request) Act) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fate = f
}

// Log is what was asked so far.
func (n *Network) Log() []Asked {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]Asked(nil), n.log...)
}

var errRefused = errors.New("stack: connection refused")

// Dial is the agent's dialler.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	reach := n.reach
	if reach == Refusing || reach == Blackhole {
		n.log = append(n.log, Asked{At: time.Now(), Op: "dial", Act: Act{Never: true}})
	}
	n.mu.Unlock()
	switch reach {
	case Refusing:
		n.referee.Held()
		return nil, errRefused
	case Blackhole:
		defer n.referee.Held()
		ctx, cancel := context.WithTimeout(ctx, 8*time.Second) // as the real dialler
		defer cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	near, far := net.Pipe()
	select {
	case n.conns <- far:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.over:
		return nil, errRefused
	}
	n.mu.Lock()
	n.live[near] = true
	n.mu.Unlock()
	return near, nil
}

// listener is the backend's end of the network.
type listener struct{ n *Network }

func (l listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.n.conns:
		return c, nil
	case <-l.n.over:
		return nil, net.ErrClosed
	}
}

func (l listener) Close() error   { return nil }
func (l listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// op names what a request is about.
func op(r *http.Request) string {
	if key := r.Header.Get(wire.KeyHeader); key != "" {
		return key
	}
	return r.Method + " " + r.URL.RequestURI()
}

func (n *Network) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	n.mu.Lock()
	reach, turn := n.reach, n.turn
	var act Act
	if n.fate != nil {
		act = n.fate(r)
	}
	if reach != Up {
		act.Never = true
	}
	n.log = append(n.log, Asked{At: time.Now(), Op: op(r), Act: act})
	n.mu.Unlock()
	switch reach {
	case Blackhole: // sent into it, and never heard of again
		select {
		case <-r.Context().Done():
		case <-turn:
		}
		panic(http.ErrAbortHandler)
	case Refusing, Resetting:
		panic(http.ErrAbortHandler)
	}
	if act.Never {
		panic(http.ErrAbortHandler)
	}
	if act.Status != 0 {
		spoilt(w, act.Status, act.Retry)
		return
	}
	reply := n.reached(r, body, act)
	var rec *httptest.ResponseRecorder
	select {
	case rec = <-reply:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	if act.Late > 0 && !wait(r.Context(), act.Late) || act.Lost || rec == nil {
		panic(http.ErrAbortHandler)
	}
	if act.Instead != 0 {
		spoilt(w, act.Instead, act.Retry)
		return
	}
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	data := rec.Body.Bytes()
	if act.Truncated {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(data[:len(data)/2])
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(data) // a lost caller has no reader
}

// reached brings a request to the backend, even if its caller waits no more.
func (n *Network) reached(r *http.Request, body []byte, act Act) <-chan *httptest.ResponseRecorder {
	out := make(chan *httptest.ResponseRecorder, 1)
	ctx := context.WithoutCancel(r.Context())
	n.loose.Go(func() {
		defer close(out)
		for i := range 2 {
			if i == 1 && !act.Twice {
				return
			}
			if act.Hold > 0 && !n.linger(act.Hold) {
				return
			}
			rec := n.deliver(r.Clone(ctx), body)
			if i == 0 {
				out <- rec
			}
		}
	})
	return out
}

// deliver lets the backend answer; nil where it cuts the connection.
func (n *Network) deliver(r *http.Request, body []byte) (rec *httptest.ResponseRecorder) {
	defer func() {
		if p := recover(); p != nil {
			rec = nil
		}
	}()
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec = httptest.NewRecorder()
	n.backend.ServeHTTP(rec, r)
	return rec
}

func (n *Network) linger(d time.Duration) bool { return passes(d, n.over) }

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func spoilt(w http.ResponseWriter, status int, retry string) {
	if retry != "" {
		w.Header().Set("Retry-After", retry)
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html>"+strings.Repeat("no ", 20)+"</html>") // a lost caller has no reader
}

// close ends the network; what is under way to the backend arrives before, or never.
func (n *Network) close() {
	close(n.over)
	_ = n.server.Close()
	n.mu.Lock()
	for c := range n.live {
		_ = c.Close()
	}
	n.mu.Unlock()
	n.serving.Wait()
	n.loose.Wait()
}
