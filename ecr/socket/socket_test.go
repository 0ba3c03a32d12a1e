package socket_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/ecr/socket"
)

// pair is a connection and its peer.
func pair(t *testing.T) (conn, peer *net.TCPConn) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	server, err := ln.Accept()
	require.NoError(t, err)
	conn, peer = server.(*net.TCPConn), client.(*net.TCPConn)
	t.Cleanup(func() { _, _ = conn.Close(), peer.Close() })
	return conn, peer
}

func TestAcknowledged(t *testing.T) {
	conn, peer := pair(t)
	_, err := conn.Write([]byte("paid"))
	require.NoError(t, err)
	require.NoError(t, socket.Acknowledged(t.Context(), conn, time.Minute), "the peer's TCP has it, whether it reads or not")
	require.NoError(t, peer.CloseWrite())
	need.Until(t, "the end of the peer's side", func() bool { s, _ := socket.Look(conn); return s.Ended && !s.Open })
	require.NoError(t, socket.Acknowledged(t.Context(), conn, time.Minute), "it ended its side after the last byte")
	_, err = io.ReadFull(peer, make([]byte, 4))
	require.NoError(t, err)
	require.NoError(t, peer.SetLinger(0))
	require.NoError(t, peer.Close())
	need.Until(t, "the peer's reset", func() bool { s, is := socket.Look(conn); return is && s == socket.State{} })
	require.ErrorIs(t, socket.Acknowledged(t.Context(), conn, time.Minute), socket.ErrEnded)
	require.NoError(t, conn.Close())
	require.ErrorIs(t, socket.Acknowledged(t.Context(), conn, time.Minute), socket.ErrEnded, "our own end is gone")
}

// TestAPeerThatReadsAndCloses: the end of the peer's side comes with the acknowledgement of what it has read. Whenever the look falls, it has
// heard.
func TestAPeerThatReadsAndCloses(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	const rounds, size = 500, 256 << 10
	go func() {
		for range rounds {
			peer, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := io.ReadFull(peer, make([]byte, size)); err != nil {
				t.Error(err)
			}
			_ = peer.Close()
		}
	}()
	for range rounds {
		conn, err := ln.Accept()
		require.NoError(t, err)
		_, err = conn.Write(make([]byte, size))
		require.NoError(t, err)
		s := socket.State{Open: true}
		for s.Open {
			s, _ = socket.Look(conn)
		}
		require.True(t, s.Heard(), "%+v", s)
		require.NoError(t, conn.Close())
	}
}

// A peer whose buffer is full acknowledges nothing.
func TestUnheard(t *testing.T) {
	conn, peer := pair(t)
	raw, err := peer.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 1) }))
	require.NoError(t, err)
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	for err == nil { // until it does not fit any more
		_, err = conn.Write(make([]byte, 1<<20))
	}
	s, is := socket.Look(conn)
	require.True(t, is && s.Open && !s.Heard(), "%+v", s)
	require.ErrorIs(t, socket.Acknowledged(t.Context(), conn, 20*time.Millisecond), socket.ErrUnheard)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, socket.Acknowledged(ctx, conn, time.Minute), context.Canceled)
	require.NoError(t, peer.CloseWrite())
	need.Until(t, "the end of the peer's side", func() bool { s, _ := socket.Look(conn); return s.Ended })
	require.ErrorIs(t, socket.Acknowledged(t.Context(), conn, time.Minute), socket.ErrEnded)
}

// A connection in memory takes a write as its peer reads it.
func TestInMemory(t *testing.T) {
	conn, peer := net.Pipe()
	defer peer.Close()
	_, is := socket.Look(conn)
	require.False(t, is)
	require.NoError(t, socket.Acknowledged(t.Context(), conn, 0))
}
