package session

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"posagent/ecr"
)

// ServeTCP serves register connections until ctx ends, then closes the listener and them. It
// returns ctx.Err(), the error of loading the registration, or that of a listener closed by
// somebody else.
func (s *Session) ServeTCP(ctx context.Context, listener net.Listener) error {
	defer func() { _ = listener.Close() }()
	if s.o.Protocol.TCP == nil {
		return errNoTCP
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	s.count(func(st *Stats) { st.Open = true })
	defer s.count(func(st *Stats) { st.Open = false })
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
			s.warn("connection not accepted", "err", err)
			pause(ctx, 200*time.Millisecond)
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			keepAlive(tcp)
		}
		from := address(conn)
		if !s.allowed(from) {
			s.count(func(st *Stats) { st.Turned++ })
			_ = conn.Close()
			s.warn("connection from an address that is not allowed", "from", from.String())
			continue
		}
		if !s.makeRoom() {
			_ = conn.Close()
			s.warn("too many connections")
			continue
		}
		link := s.o.Protocol.TCP(conn)
		d := s.dialog(false, link.Send)
		d.from = from
		d.closeLine = func() { _ = link.Close() }
		// The dialogue outlives its connection until the desk knows what became of its sale.
		peer := ecr.WithPeer(ctx, ecr.Peer{Line: s.o.Line, Address: conn.RemoteAddr().String()})
		wg.Go(func() { d.run(peer) })
		wg.Go(func() {
			err := d.read(ctx, link)
			_ = link.Close()
			if errors.Is(err, ecr.ErrStrange) {
				s.count(func(st *Stats) { st.Strange++ })
			}
			s.log.Debug("connection ended", "err", err)
			d.gone()
		})
	}
}

// goneWithin is how long a register that is switched off, or whose cable is out, keeps its
// dialogue.
const goneWithin = 10 * time.Second

// keepAlive lets the kernel find out within goneWithin that the peer is gone: by keep-alive where
// nothing is on its way (after 4 s, then every 3 s), by the limit of TCP on unacknowledged data
// where something is.
func keepAlive(conn *net.TCPConn) {
	_ = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 3 * time.Second, Count: 2})
	const tcpUserTimeout = 18 // TCP_USER_TIMEOUT, which package syscall does not have
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(goneWithin.Milliseconds()))
		})
	}
}

// rank is what a connection has shown itself to be. The lower it is, the sooner it is closed for
// another.
type rank uint8

const (
	silent     rank = iota // it has said nothing
	speaking               // it has sent a command
	registered             // it has registered
)

// rankOf is what a message says of its connection. Where a password is set, a command without it
// shows nothing.
func (d *dialog) rankOf(claim ecr.Claim) rank {
	switch {
	case !d.shown:
		return silent
	case claim.Register:
		return registered
	}
	return speaking
}

// makeRoom closes a connection without a dialogue when there are too many: of those that have shown
// least, one of the address that has most, and there the oldest. A register that is connected keeps
// its place beside any crowd of others.
func (s *Session) makeRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := 0
	from := map[netip.Addr]int{}
	for d := range s.dialogs {
		if !d.lost {
			open++
			from[d.from]++
		}
	}
	if open < s.o.MaxConns {
		return true
	}
	var out *dialog
	for d := range s.dialogs {
		if d.lost || d == s.owner {
			continue
		}
		if out == nil || cmp.Or(cmp.Compare(d.rank, out.rank), cmp.Compare(from[out.from], from[d.from]), cmp.Compare(d.number, out.number)) < 0 {
			out = d
		}
	}
	if out == nil {
		return false
	}
	go out.closeLine()
	out.lost = true
	return true
}
