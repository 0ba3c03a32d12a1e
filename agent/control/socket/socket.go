package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Name is the socket's name in the state directory.
const Name = "posagent.sock"

// longest is the longest path a socket may have.
const longest = 107

// Reach calls fn with a path of path's file that is short enough for a socket.
func Reach(path string, fn func(path string) error) error {
	if len(path) <= longest {
		return fn(path)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return fn(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}

// Dial connects to the socket at path within 2 s.
func Dial(ctx context.Context, path string) (conn net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = Reach(path, func(short string) error {
		var d net.Dialer
		conn, err = d.DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// Peer asks the kernel which process and account is at the other end.
func Peer(conn net.Conn) (*syscall.Ucred, error) {
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *syscall.Ucred
	var bad error
	err = raw.Control(func(fd uintptr) {
		cred, bad = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	return cred, nil
}
