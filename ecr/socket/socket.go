package socket

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// States of a TCP connection (Linux, net/tcp_states.h).
const (
	established = 1
	closeWait   = 8
)

// The pause between two looks at a connection grows from the first to the second.
const (
	firstPause = time.Millisecond
	laterPause = 20 * time.Millisecond
)

// What Acknowledged fails with.
var (
	ErrUnheard = errors.New("the peer has not acknowledged what was written in time")
	ErrEnded   = errors.New("the peer ended the connection before it had what was written")
)

// State is a look at a connection. The zero State is that of one that is gone.
type State struct {
	Open    bool // the peer has ended neither its side nor the whole connection
	Ended   bool // the peer has ended its side, and no more
	Unheard int  // bytes that were written and the peer's TCP has not acknowledged
}

// Heard says that the peer's TCP has acknowledged everything that was written. A peer may end its side
// with the acknowledgement of the last byte.
func (s State) Heard() bool { return (s.Open || s.Ended) && s.Unheard == 0 }

// Look reads the state of a connection. is is false where it is no connection of TCP: of one in memory
// the peer has read what was written.
func Look(conn net.Conn) (s State, is bool) {
	c, is := conn.(syscall.Conn)
	if !is {
		return State{}, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return State{}, true
	}
	fault := raw.Control(func(fd uintptr) {
		// The count and the state are two looks. A peer that closes acknowledges what it has with the same message: a count from before
		// it and a state from after it would say that it ended without hearing. So the state has to be the same on both sides of the count.
		for before := uint8(0); ; {
			n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
			if err != nil {
				return
			}
			info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
			if err != nil {
				return
			}
			if info.State == before {
				s = State{Open: info.State == established, Ended: info.State == closeWait, Unheard: n}
				return
			}
			before = info.State
		}
	})
	if fault != nil {
		return State{}, true
	}
	return s, true
}

// Acknowledged waits until the peer's TCP has acknowledged everything that was written. ErrUnheard,
// ErrEnded, or the context's error. What the caller has written must have left its buffers.
func Acknowledged(ctx context.Context, conn net.Conn, within time.Duration) error {
	late := time.Now().Add(within)
	for pause := firstPause; ; pause = min(2*pause, laterPause) {
		s, is := Look(conn)
		switch {
		case !is || s.Heard():
			return nil
		case !s.Open:
			return ErrEnded
		case !time.Now().Before(late):
			return ErrUnheard
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
