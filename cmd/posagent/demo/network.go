package demo

import (
	"io"
	"net"
	"sync"
)

// network is the way from the terminal to the backend: a relay that can be cut. A connection over a cut network is refused, and
// those that were open end.
type network struct {
	ln    net.Listener
	to    string
	mu    sync.Mutex
	gone  bool
	conns map[net.Conn]struct{}
}

// newNetwork listens on this machine and relays to an address.
func newNetwork(to string) (*network, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &network{ln: ln, to: to, conns: map[net.Conn]struct{}{}}
	go n.serve()
	return n, nil
}

func (n *network) url() string { return "http://" + n.ln.Addr().String() }

func (n *network) serve() {
	for {
		conn, err := n.ln.Accept()
		if err != nil {
			return
		}
		go n.relay(conn)
	}
}

func (n *network) relay(conn net.Conn) {
	defer conn.Close()
	if !n.keep(conn) {
		return
	}
	defer n.drop(conn)
	far, err := net.Dial("tcp", n.to)
	if err != nil {
		return
	}
	defer far.Close()
	if !n.keep(far) {
		return
	}
	defer n.drop(far)
	go func() {
		_, _ = io.Copy(far, conn) // ends with either side
		far.Close()
	}()
	_, _ = io.Copy(conn, far)
}

// keep remembers a connection; false: the network is cut.
func (n *network) keep(conn net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gone {
		return false
	}
	n.conns[conn] = struct{}{}
	return true
}

func (n *network) drop(conn net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, conn)
}

func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = true
	for c := range n.conns {
		c.Close()
	}
}

func (n *network) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = false
}

func (n *network) close() {
	n.ln.Close()
	n.cut()
}
