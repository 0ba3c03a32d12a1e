package tills

import (
	"errors"
	"net"
)

// Breaking is a connection that breaks once so many bytes have come.
func Breaking(conn net.Conn, bytes int) net.Conn { return &breaking{conn, bytes} }

type breaking struct {
	net.Conn
	left int
}

// Read implements net.Conn.
func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.Join(net.ErrClosed, b.Close())
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
