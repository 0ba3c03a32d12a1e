package torture

import (
	"net"
	"sync"
	"time"
)

// wire is the register's end of a connection. It counts, and does harm as it is told to.
type wire struct {
	net.Conn

	mu       sync.Mutex
	armed    bool
	heard    int // bytes that arrived since arm
	cutIn    int // closed after so many bytes arrived; -1 = never
	first    int // bytes of the first message sent since arm
	cutOut   int // closed after so many bytes of the first message were sent; -1 = never
	double   bool
	slow     time.Duration // before each message but the first
	messages int           // sent since arm
}

func newWire(c net.Conn) *wire { return &wire{Conn: c, cutIn: -1, cutOut: -1} }

// harm is what is done to a conversation.
type harm struct {
	cutIn  int // the connection ends after so many bytes of the terminal, if it is not negative
	cutOut int // and after so many of the request, likewise
	double bool
	slow   time.Duration
}

func none() harm { return harm{cutIn: -1, cutOut: -1} }

// arm begins a conversation.
func (w *wire) arm(h harm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed, w.heard, w.first, w.messages = true, 0, 0, 0
	w.cutIn, w.cutOut, w.double, w.slow = h.cutIn, h.cutOut, h.double, h.slow
}

// said is how many bytes arrived since arm, and how many the request had.
func (w *wire) said() (heard, first int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard, w.first
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) {
	w.mu.Lock()
	if w.armed && w.cutIn >= 0 {
		left := w.cutIn - w.heard
		if left <= 0 {
			w.mu.Unlock()
			_ = w.Conn.Close()
			return 0, net.ErrClosed
		}
		p = p[:min(len(p), left)]
	}
	w.mu.Unlock()
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	w.heard += n
	w.mu.Unlock()
	return n, err
}

// Write implements net.Conn. Each call is taken for a message.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	first := w.armed && w.messages == 0
	w.messages++
	if first {
		w.first = len(p)
	}
	cut, double, slow := w.cutOut, w.double, w.slow
	w.mu.Unlock()
	switch {
	case first && cut >= 0 && cut < len(p):
		_, _ = w.Conn.Write(p[:cut])
		_ = w.Conn.Close()
		return 0, net.ErrClosed
	case first && double:
		if n, err := w.Conn.Write(p); err != nil {
			return n, err
		}
	case !first && slow > 0:
		<-time.After(slow)
	}
	return w.Conn.Write(p)
}
