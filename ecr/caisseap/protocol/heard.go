package protocol

import (
	"net"

	"golang.org/x/sys/unix"
)

// States of a TCP connection, as the kernel numbers them.
const (
	established = 1
	closeWait   = 8 // the peer has closed
)

// state is what the kernel knows of a connection: its state, and how many bytes the peer has not
// acknowledged. ok is false for a connection that is no TCP connection, or that is closed.
func state(conn net.Conn) (tcp uint8, unacknowledged int, ok bool) {
	raw, ok := conn.(*net.TCPConn)
	if !ok {
		return 0, 0, false
	}
	fd, err := raw.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	ok = false
	_ = fd.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		if err != nil {
			return
		}
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		tcp, unacknowledged, ok = info.State, left, true
	})
	return tcp, unacknowledged, ok
}

// there says whether the peer has neither closed nor reset a connection.
func there(conn net.Conn) bool {
	tcp, _, ok := state(conn)
	return !ok && !isTCP(conn) || ok && tcp == established
}

// heard says whether a peer that has closed had all bytes before it did. A connection in memory
// takes a write only as the peer reads it.
func heard(conn net.Conn) bool {
	tcp, left, ok := state(conn)
	return !ok && !isTCP(conn) || ok && tcp == closeWait && left == 0
}

func isTCP(conn net.Conn) bool {
	_, ok := conn.(*net.TCPConn)
	return ok
}
