package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"posagent/agent/control/socket"
)

// Name is the socket's name in the state directory.
const Name = socket.Name

// listen makes the socket. What a crash left of one is removed.
func listen(path string) (*peers, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("control socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("control socket: %s is not a socket, and is left alone: move it away", path)
	default:
		if conn, err := socket.Dial(context.Background(), path); err == nil {
			conn.Close()
			return nil, fmt.Errorf("control socket: somebody answers at %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
	}
	var ln *net.UnixListener
	err = socket.Reach(path, func(short string) (err error) {
		ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err == nil {
		ln.SetUnlinkOnClose(false) // its name for the path may be another
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		if ln != nil {
			ln.Close()
		}
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return &peers{Listener: ln, uid: uidOf, own: uint32(os.Geteuid())}, nil
}

// peers lets only the own user and root in.
type peers struct {
	net.Listener
	uid     func(net.Conn) (uint32, error)
	own     uint32
	refused func(uid uint32) // nil = nothing
}

// peer is a connection of an account.
type peer struct {
	net.Conn
	uid uint32
}

// Accept implements net.Listener.
func (p *peers) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := p.uid(conn)
		if err == nil && (uid == p.own || uid == 0) {
			return peer{conn, uid}, nil
		}
		if err == nil && p.refused != nil {
			p.refused(uid)
		}
		conn.Close()
	}
}

// uidOf asks the kernel who has connected.
func uidOf(conn net.Conn) (uint32, error) {
	cred, err := socket.Peer(conn)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
