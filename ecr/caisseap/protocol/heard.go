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
