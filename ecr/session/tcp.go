package session

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/frame"
)

// maxAPDU bounds what a register may send at once on TCP: no command we know comes near.
const maxAPDU = 16 << 10

// ServeTCP serves register connections until ctx ends, then closes the listener and them. It returns ctx.Err(), the
// error of loading the registration, or that of a listener closed by somebody else.
func (s *Session) ServeTCP(ctx context.Context, listener net.Listener) error {
	defer func() { _ = listener.Close() }()
	if err := s.load(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return ctx.Err()
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			s.count(func(st *Stats) { st.OpenErrors++ })
			s.log.Warn("connection not accepted", "err", err)
			pause(ctx, 200*time.Millisecond)
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			keepAlive(tcp)
		}
		from := address(conn)
		if !s.allowed(from) {
			_ = conn.Close()
			s.count(func(st *Stats) { st.Turned++ })
			s.turned.warn(s.log, "connection from an address that is not allowed", "from", from.String())
			continue
		}
		if !s.makeRoom() {
			_ = conn.Close()
			s.log.Warn("too many connections")
			continue
		}
		link := frame.NewTCP(conn, s.o.T3, frame.WithMaxAPDU(maxAPDU))
		d := s.dialog(link.Send)
		d.from = from
		d.closeLine = func() { _ = link.Close() }
		// The machine outlives its connection until the desk knows what became of its sale.
		peer := ecr.WithPeer(ctx, ecr.Peer{Line: s.o.Line, Address: conn.RemoteAddr().String()})
		wg.Go(func() { d.run(peer) })
		wg.Go(func() {
			err := d.read(ctx, link)
			_ = link.Close()
			if errors.Is(err, frame.ErrStrange) {
				s.count(func(st *Stats) { st.Strange++ })
			}
			s.log.Debug("connection ended", "err", err)
			d.gone()
		})
	}
}

// goneWithin is how long a register that is switched off, or whose cable is out, keeps its dialogue.
const goneWithin = 10 * time.Second

// keepAlive lets the kernel find out within goneWithin that the peer is gone: by keep-alive where nothing is on its way
// (after 4 s, then every 3 s), by the limit of TCP on unacknowledged data where something is.
func keepAlive(conn *net.TCPConn) {
	_ = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 3 * time.Second, Count: 2})
	const tcpUserTimeout = 18 // TCP_USER_TIMEOUT, which package syscall does not have
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(goneWithin.Milliseconds()))
		})
	}
}

// makeRoom closes the oldest connection without a dialogue when there are too many.
func (s *Session) makeRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := 0
	var oldest *dialog
	for d := range s.dialogs {
		if d.lost {
			continue
		}
		open++
		if d != s.owner && (oldest == nil || d.number < oldest.number) {
			oldest = d
		}
	}
	if open < s.o.MaxConns {
		return true
	}
	if oldest == nil {
		return false
	}
	go oldest.closeLine()
	oldest.lost = true
	return true
}
