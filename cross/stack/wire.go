package stack

import (
	"context"
	"net"
	"sync"
)

// Wire is the network between registers and a terminal's listener, in memory. A byte arrives as it
// is read; a write to a connection that breaks fails.
type Wire struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func newWire() *Wire { return &Wire{conns: make(chan net.Conn), over: make(chan struct{})} }

// Dial connects a register.
func (w *Wire) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case w.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.over:
		return nil, errRefused
	}
}

// Accept implements net.Listener.
func (w *Wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.over:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (w *Wire) Close() error { w.once.Do(func() { close(w.over) }); return nil }

// Addr implements net.Listener.
func (w *Wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

// Snip is a connection of a register that breaks at a byte.
type Snip struct {
	net.Conn
	Way  Direction
	Left int     // bytes that pass that way before it breaks; < 0 = it does not
	Seen *[2]int // counts the bytes, by direction

	mu sync.Mutex
}

// passed takes note of what has passed one way.
func (s *Snip) passed(way Direction, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Seen[way] += n
	if s.Left >= 0 && way == s.Way {
		s.Left -= n
	}
}

// room is how much of n bytes may pass one way.
func (s *Snip) room(way Direction, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Left < 0 || way != s.Way {
		return n
	}
	return min(n, s.Left)
}

// Write implements net.Conn.
func (s *Snip) Write(p []byte) (int, error) {
	may := s.room(ToTerminal, len(p))
	n := 0
	if may > 0 {
		var err error
		if n, err = s.Conn.Write(p[:may]); err != nil {
			return n, err
		}
		s.passed(ToTerminal, n)
	}
	if may < len(p) {
		_ = s.Close()
		return n, ErrPulled
	}
	return n, nil
}

// Read implements net.Conn.
func (s *Snip) Read(p []byte) (int, error) {
	may := s.room(ToRegister, len(p))
	if may == 0 {
		_ = s.Close()
		return 0, ErrPulled
	}
	n, err := s.Conn.Read(p[:may])
	s.passed(ToRegister, n)
	return n, err
}
