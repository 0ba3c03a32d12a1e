package lines

import (
	"context"
	"net"
	"sync"

	"posagent/ecr"
)

// Pipes is a listener, and an opener of a serial line, whose connections live in memory. Time can be
// made up where it is used.
type Pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var _ net.Listener = (*Pipes)(nil)

// NewPipes returns a listener without connections.
func NewPipes() *Pipes { return &Pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Connect gives the terminal its end of a connection, and returns once it was taken.
func (p *Pipes) Connect(terminal net.Conn) { p.conns <- terminal }

// Dial connects a register and returns its end.
func (p *Pipes) Dial() net.Conn {
	register, terminal := net.Pipe()
	p.Connect(terminal)
	return register
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Open returns the next connection as a serial line. It fails when ctx ends.
func (p *Pipes) Open(ctx context.Context) (ecr.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{} }
