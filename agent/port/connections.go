package port

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"posagent/agent/httpd"
)

// limiter is a listener with a limit of connections. When one waits, another is closed for it: the
// weakest of those that may be closed, and of them the one that has been so for longest. A proven
// one with a request in flight is never closed.
type limiter struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}

	mu       sync.Mutex
	once     sync.Once
	closable []*slot   // what may be closed, the oldest first
	wanted   bool      // a connection waits
	churn    *throttle // bounds how often unproven connections make room for each other
}

// Why a connection may be closed, the weakest first.
const (
	silent   = iota // an unproven one's, with no request or no whole header for longer than headerGrace
	unproven        // a request without a proof: whatever it waits for, its client is not known
	fresh           // one that has just come, and has not had the time to show its proof
	display         // the stream of a customer's screen, of which there are few, or a probe, which is answered soon
	idle            // a proven one's, between two requests
)

// A connection that has just come is not yet taken for a silent one, because a client's header is
// under way; of many at once the youngest are not.
const (
	headerGrace    = time.Second
	proofGrace     = 50 * time.Millisecond // from the header to its proof
	headersAwaited = 48
)

// readTime is for the body of a client's request.
const readTime = 15 * time.Second

const (
	churnRate  = 300 // connections a second that end for another where all are taken
	churnBurst = 32
)

// slotKey is where the context of a request carries its *slot.
type slotKey struct{}

func newLimiter(ln net.Listener, n int) *limiter {
	return &limiter{Listener: ln, slots: make(chan struct{}, n), closed: make(chan struct{}), churn: newThrottle(churnRate, churnBurst)}
}

// Accept implements net.Listener.
func (l *limiter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if len(l.slots) == cap(l.slots) { // what comes back as fast as it is closed must not cost the terminal its processor
		l.churn.wait(l.closed)
	}
	l.want(true)
	defer l.want(false)
	select {
	case l.slots <- struct{}{}:
		return &slot{Conn: conn, free: sync.OnceFunc(func() { <-l.slots })}, nil
	case <-l.closed:
		conn.Close()
		return nil, net.ErrClosed
	}
}

// want closes a connection when one waits for a slot and there is none, now or as soon as one may
// be closed.
func (l *limiter) want(wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted = wanted && len(l.slots) == cap(l.slots); l.wanted {
		l.closeOne()
	}
}

// closeOne closes the weakest connection that may be closed.
func (l *limiter) closeOne() {
	var weakest *slot
	now, few := time.Now(), 0
	for _, c := range slices.Backward(l.closable) { // the youngest first: the oldest of a kind stays
		kind := c.kind
		switch age := now.Sub(c.since); {
		case kind == unproven && age < proofGrace:
			kind = fresh
		case kind == silent && age < headerGrace && few < headersAwaited:
			few++
			kind = fresh
		}
		if weakest == nil || kind <= weakest.rank {
			c.rank, weakest = kind, c
		}
	}
	if weakest != nil {
		l.forget(weakest)
		weakest.gone = true
		weakest.Close()
		l.wanted = false
	}
}

// Close implements net.Listener.
func (l *limiter) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// state is the server's ConnState. A connection is new, or idle, until a header was read to its
// end.
func (l *limiter) state(conn net.Conn, s http.ConnState) {
	c := conn.(*slot)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(c)
	switch c.kind = silent; {
	case c.gone:
		return
	case s == http.StateActive && !c.proven:
		c.kind = unproven
	case s == http.StateIdle && c.proven:
		c.kind = idle
	case s != http.StateNew && s != http.StateIdle:
		return
	}
	c.since = time.Now()
	l.closable = append(l.closable, c)
	if l.wanted {
		l.closeOne()
	}
}

// follows keeps the stream of a customer's screen, and a probe that is being answered, longer than other unproven requests.
func (l *limiter) follows(r *http.Request) {
	c := r.Context().Value(slotKey{}).(*slot)
	l.mu.Lock()
	if c.kind == unproven {
		c.kind = display
	}
	l.mu.Unlock()
}

// proven keeps a request's connection, since its client is known, and gives its body the time it
// needs.
func (l *limiter) proven(r *http.Request) {
	c := r.Context().Value(slotKey{}).(*slot)
	l.mu.Lock()
	c.proven = true
	l.forget(c)
	l.mu.Unlock()
	if r.ContentLength != 0 {
		_ = c.SetReadDeadline(time.Now().Add(readTime)) // of a closed one the next read tells
	}
}

// known says whether a client has shown its proof over a request's connection.
func (l *limiter) known(r *http.Request) bool {
	c := r.Context().Value(slotKey{}).(*slot)
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.proven
}

// forget takes a connection out of those that may be closed.
func (l *limiter) forget(conn *slot) {
	for i, c := range l.closable {
		if c == conn {
			l.closable = append(l.closable[:i], l.closable[i+1:]...)
			return
		}
	}
}

// slot is a connection that counts.
type slot struct {
	net.Conn
	free   func()
	kind   int
	rank   int       // its kind when it was last looked at, with what time adds to it
	since  time.Time // of its kind
	gone   bool      // it made room: what the server still says of it does not count
	proven bool      // a client has shown its proof over it
}

// Close implements net.Conn.
func (s *slot) Close() error {
	defer s.free()
	return s.Conn.Close()
}

func withSlot(ctx context.Context, conn net.Conn) context.Context {
	return httpd.WithConn(context.WithValue(ctx, slotKey{}, conn), conn.(*slot).Conn)
}
