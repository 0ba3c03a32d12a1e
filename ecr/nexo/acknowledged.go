package nexo

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var (
	errUnheard = errors.New("the answer was not acknowledged")
	errHungUp  = errors.New("the till hung up before the answer's end")
)

// States of a TCP connection, as the kernel numbers them.
const (
	tcpEstablished = 1
	tcpCloseWait   = 8 // the peer has ended its side
)

// look reads the state of a TCP connection and how many bytes the peer has not acknowledged; ok is
// false where the connection is no TCP one.
func look(conn net.Conn) (state uint8, unheard int, ok bool) {
	c, is := conn.(syscall.Conn)
	if !is {
		return 0, 0, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, true
	}
	unheard = -1
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			unheard = n
		}
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			state = info.State
		}
	})
	return state, unheard, true
}

// gone says that the peer has ended its side of a connection, or all of it.
func gone(conn net.Conn) bool {
	state, _, ok := look(conn)
	return ok && state != tcpEstablished
}

// acknowledged waits until TCP has acknowledged everything that was written. It fails where the
// peer ended the connection before, and where it takes too long. A connection that is no TCP one has
// been read from when a write returns.
func acknowledged(ctx context.Context, conn net.Conn, within time.Duration) error {
	late := time.Now().Add(within)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		state, unheard, ok := look(conn)
		switch {
		case !ok:
			return nil
		case unheard == 0 && (state == tcpEstablished || state == tcpCloseWait):
			return nil // a peer that has the last byte may end its side with the same segment
		case state != tcpEstablished:
			return errHungUp
		case time.Now().After(late):
			return errUnheard
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
