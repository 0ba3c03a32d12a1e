package ecrtest

import (
	"io"
	"net"
	"sync"
)

// wire is a line between a register and the terminal, in memory. It can be cut after any byte: a
// serial cable then loses what is sent, a connection ends.
type wire struct {
	kind Kind
	ends [2]net.Conn // the register's, the terminal's

	mu     sync.Mutex
	passed int // bytes, both ways
	limit  int // it is cut after so many; -1 = never
}

func newWire(kind Kind) *wire {
	w := &wire{kind: kind, limit: -1}
	w.ends[0], w.ends[1] = net.Pipe()
	return w
}

// end is one end of a wire.
type end struct {
	net.Conn
	w *wire
}

func (w *wire) end(i int) end { return end{w.ends[i], w} }

// RemoteAddr is that of a register, by which strangers are told apart.
func (end) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 4000} }

// cutAfter lets n more bytes pass.
func (w *wire) cutAfter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed, w.limit = 0, n
}

// mend joins a cut cable, and returns how many bytes have passed since cutAfter.
func (w *wire) mend() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = -1
	return w.passed
}

// take lets as many of n bytes pass as may.
func (w *wire) take(n int) (pass int, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit >= 0 {
		n = min(n, w.limit-w.passed)
	}
	w.passed += n
	return n, w.passed == w.limit
}

func (e end) Write(p []byte) (int, error) {
	n, cut := e.w.take(len(p))
	if n > 0 {
		if n, err := e.Conn.Write(p[:n]); err != nil {
			return n, err
		}
	}
	if !cut || e.w.kind == Serial {
		return len(p), nil
	}
	for _, c := range e.w.ends {
		_ = c.Close()
	}
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}
