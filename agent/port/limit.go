package port

import (
	"net"
	"net/http"
	"sync"
)

// limiter is a listener with a limit of connections. One that is idle makes room for one that waits.
type limiter struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}

	mu     sync.Mutex
	once   sync.Once
	idle   map[net.Conn]bool
	wanted bool // a connection waits
}

func newLimiter(ln net.Listener, n int) *limiter {
	return &limiter{Listener: ln, slots: make(chan struct{}, n), closed: make(chan struct{}), idle: map[net.Conn]bool{}}
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

// want ends an idle connection when one waits for a slot and there is none, now or as soon as one is idle.
func (l *limiter) want(wanted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted = wanted && l.full(); !l.wanted {
		return
	}
	for conn := range l.idle {
		delete(l.idle, conn)
		conn.Close()
		l.wanted = false
		return
	}
}

// Close implements net.Listener.
func (l *limiter) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// full says that every connection is taken.
func (l *limiter) full() bool { return len(l.slots) == cap(l.slots) }

// state is the server's ConnState.
func (l *limiter) state(conn net.Conn, s http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case s != http.StateIdle:
		delete(l.idle, conn)
	case l.wanted:
		conn.Close()
		l.wanted = false
	default:
		l.idle[conn] = true
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
