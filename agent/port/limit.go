package port

import (
	"net"
	"net/http"
	"sync"
)

// limiter is a listener with a limit of connections. The one that has been without a request for longest, idle or with no whole
// header yet, makes room for one that waits; one with a request in flight never does.
type limiter struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}

	mu     sync.Mutex
	once   sync.Once
	quiet  []net.Conn // without a request, the oldest first
	wanted bool       // a connection waits
}

func newLimiter(ln net.Listener, n int) *limiter {
	return &limiter{Listener: ln, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *limiter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
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

// want ends a quiet connection when one waits for a slot and there is none, now or as soon as one is quiet.
func (l *limiter) want(wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted = wanted && l.full(); !l.wanted {
		return
	}
	if len(l.quiet) > 0 {
		conn := l.quiet[0]
		l.forget(conn)
		conn.Close()
		l.wanted = false
	}
}

// Close implements net.Listener.
func (l *limiter) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// full says that every connection is taken.
func (l *limiter) full() bool { return len(l.slots) == cap(l.slots) }

// state is the server's ConnState. A connection is new, or idle, until a header was read to its end.
func (l *limiter) state(conn net.Conn, s http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(conn)
	switch {
	case s != http.StateIdle && s != http.StateNew:
	case l.wanted:
		conn.Close()
		l.wanted = false
	default:
		l.quiet = append(l.quiet, conn)
	}
}

// forget takes a connection out of the quiet ones.
func (l *limiter) forget(conn net.Conn) {
	for i, c := range l.quiet {
		if c == conn {
			l.quiet = append(l.quiet[:i], l.quiet[i+1:]...)
			return
		}
	}
}

// slot is a connection that counts.
type slot struct {
	net.Conn
	free func()
}

// Close implements net.Conn.
func (s *slot) Close() error {
	defer s.free()
	return s.Conn.Close()
}
