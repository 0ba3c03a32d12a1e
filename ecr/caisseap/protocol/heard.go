package protocol

import (
	"net"

	"posagent/ecr/socket"
)

// there says whether the peer has neither closed nor reset a connection.
func there(conn net.Conn) bool {
	s, is := socket.Look(conn)
	return !is || s.Open
}

// heard says whether a peer that has closed had all bytes before it did.
func heard(conn net.Conn) bool {
	s, is := socket.Look(conn)
	return !is || s.Ended && s.Heard()
}
