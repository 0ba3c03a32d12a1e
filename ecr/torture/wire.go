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
	mark     int // of them, those that had arrived when the sale was last said to run; -1 = it has to be said first
	cutIn    int // closed after so many bytes arrived behind mark; -1 = never
	first    int // bytes of the first message sent since arm
	cutOut   int // closed after so many bytes of the first message were sent; -1 = never
	double   bool
	slow     time.Duration // before each message but the first
	messages int           // sent since arm
}

func newWire(c net.Conn) *wire { return &wire{Conn: c, cutIn: -1, cutOut: -1} }

// harm is what is done to a conversation.
type harm struct {
	cutIn  int  // the connection ends after so many bytes of the terminal, if it is not negative
	behind bool // those that come after it has said that the sale runs
	cutOut int  // and after so many of the request, likewise
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
	if w.mark = 0; h.behind {
		w.mark = -1
	}
}

// runs says that the terminal has said just now that the sale runs.
func (w *wire) runs() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed && (w.heard > 0 || w.mark < 0) {
		w.mark = w.heard
	}
}

// said is how many bytes arrived since arm, how many of them before the sale was last said to run, and how many the request had.
func (w *wire) said() (heard, run, first int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard, w.mark, w.first
}

// Read implements net.Conn. What lies behind a cut is not read where the place is known before.
func (w *wire) Read(p []byte) (int, error) {
	if left, cut := w.left(); cut {
		if left <= 0 {
			_ = w.Conn.Close()
			return 0, net.ErrClosed
		}
		p = p[:min(len(p), left)]
	}
	n, err := w.Conn.Read(p)
	if left, cut := w.left(); cut {
		n = min(n, max(left, 0))
	}
	w.mu.Lock()
	w.heard += n
	w.mu.Unlock()
	if n == 0 && err == nil {
		_ = w.Conn.Close()
		err = net.ErrClosed
	}
	return n, err
}

// left is how many bytes may still come before the cut; cut is false where there is none.
func (w *wire) left() (n int, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mark + w.cutIn - w.heard, w.armed && w.cutIn >= 0 && w.mark >= 0
}

// Close implements net.Conn. It is late, too: in some protocols it is the acknowledgement.
func (w *wire) Close() error {
	w.mu.Lock()
	slow := w.slow
	w.slow = 0
	w.mu.Unlock()
	if slow > 0 {
		<-time.After(slow)
	}
	return w.Conn.Close()
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
