package demo

import (
	"io"
	"net"
	"sync"
)

// network is the way from the terminal to the backend: a relay that can be cut. A connection over a cut network is refused, and
// those that were open end.
type network struct {
	at, to string
	mu     sync.Mutex
	ln     net.Listener // nil = cut
	conns  map[net.Conn]struct{}
}

// newNetwork listens on this machine and relays to an address.
func newNetwork(to string) (*network, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &network{at: ln.Addr().String(), to: to, ln: ln, conns: map[net.Conn]struct{}{}}
	go n.serve(ln)
	return n, nil
}

func (n *network) url() string { return "http://" + n.at }

func (n *network) serve(ln net.Listener) {
	for {
		conn, err := ln.Accept()
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
	if n.ln == nil {
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
	if n.ln != nil {
		n.ln.Close()
	}
	n.ln = nil
	for c := range n.conns {
		c.Close()
	}
}

func (n *network) mend() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	ln, err := net.Listen("tcp", n.at)
	if err != nil {
		return err
	}
	n.ln = ln
	go n.serve(ln)
	return nil
}
