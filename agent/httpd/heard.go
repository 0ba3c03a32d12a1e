package httpd

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// connKey is where the context of a request carries its connection.
type connKey struct{}

// WithConn returns a context that carries the connection of its requests, for Heard.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// The pause between two looks at a connection grows from the first to the second.
const (
	firstLook = time.Millisecond
	laterLook = 20 * time.Millisecond
)

// States of a TCP connection (Linux, net/tcp_states.h).
const (
	established = 1
	closeWait   = 8 // the peer has ended its side
)

// Open says whether the peer of a request's connection has ended neither its side nor the whole
// connection. It is false where that cannot be known.
func Open(ctx context.Context) bool {
	_, state, ok := look(ctx)
	return ok && state == established
}

// Heard waits until the peer of a request's connection has acknowledged every byte that was written
// to it, and says whether it did: within the time, and without having ended the connection before.
// What the caller has written must have left its buffers. It is false where that cannot be known.
func Heard(ctx context.Context, within time.Duration) bool {
	end := time.Now().Add(within)
	for pause := firstLook; ; pause = min(2*pause, laterLook) {
		unheard, state, ok := look(ctx)
		switch {
		case !ok || state != established && state != closeWait:
			return false
		case unheard == 0: // a closed socket acknowledges nothing: who ended its side with the last byte has read it
			return true
		case state == closeWait, !time.Now().Before(end):
			return false
		}
		timer := time.NewTimer(pause)
		<-timer.C
	}
}

// look returns how many bytes the peer has not acknowledged, and the state of the connection.
func look(ctx context.Context) (unheard int, state uint8, ok bool) {
	conn, there := ctx.Value(connKey{}).(syscall.Conn)
	if !there {
		return 0, 0, false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = raw.Control(func(fd uintptr) {
		n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		if err != nil {
			return
		}
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) // after the count: what ended before it is seen
		if err == nil {
			unheard, state, ok = n, info.State, true
		}
	})
	return unheard, state, ok && err == nil
}
