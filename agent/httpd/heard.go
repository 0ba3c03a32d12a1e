package httpd

import (
	"context"
	"net"
	"time"

	"posagent/ecr/socket"
)

// connKey is where the context of a request carries its connection.
type connKey struct{}

// WithConn returns a context that carries the connection of its requests, for Open and Heard.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// Open says whether the peer of a request's connection has ended neither its side nor the whole
// connection. It is false where that cannot be known.
func Open(ctx context.Context) bool {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	s, is := socket.Look(conn)
	return is && s.Open
}

// Gone says whether it is known that the peer of a request's connection has ended its side, or all of
// it.
func Gone(ctx context.Context) bool {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	s, is := socket.Look(conn)
	return ctx.Err() != nil || is && !s.Open
}

// Heard waits until the peer of a request's connection has acknowledged every byte that was written
// to it, and says whether it did: within the time, and without having ended the connection before.
// What the caller has written must have left its buffers. It is false where that cannot be known.
func Heard(ctx context.Context, within time.Duration) bool {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if _, is := socket.Look(conn); !is {
		return false
	}
	return socket.Acknowledged(context.WithoutCancel(ctx), conn, within) == nil // the context ends with the peer's side
}
