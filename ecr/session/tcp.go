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
// returns ctx.Err(), the error of loading the registration, or that of a listener that
// another caller closed.
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
		if !s.makeRoom(ctx) {
			_ = conn.Close()
			s.warn("too many connections")
			continue
		}
		link := s.o.Protocol.TCP(conn)
		d := s.dialog(false, link.Send)
		s.log.Debug("connection begun", "from", from.String())
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

// A connection that has just come is not taken for a stranger's yet: newcomerGrace is for its first command. Where nothing but newcomers
// may be closed, each that comes waits newcomerEvery for its place, so that those before it are heard.
const (
	newcomerGrace = time.Second
	newcomerEvery = 10 * time.Millisecond
)

// makeRoom closes a connection without a dialogue when there are too many: of those that have shown
// least, one of the address that has most, and there the oldest. A register that is connected keeps
// its place beside any crowd of others, and one that comes has the time to say what it is.
func (s *Session) makeRoom(ctx context.Context) bool {
	s.mu.Lock()
	full, _, fresh := s.weakest()
	s.mu.Unlock()
	if full && fresh {
		pause(ctx, newcomerEvery)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	full, out, _ := s.weakest()
	if !full {
		return true
	}
	if out == nil {
		return false
	}
	go out.closeLine()
	out.lost = true
	return true
}

// weakest is the connection that is closed for another, nil = none may be; full says that one must be, and fresh that it is a newcomer.
// The caller holds the mutex.
func (s *Session) weakest() (full bool, out *dialog, fresh bool) {
	open := 0
	from := map[netip.Addr]int{}
	for d := range s.dialogs {
		if !d.lost {
			open++
			from[d.from]++
		}
	}
	shown := func(d *dialog) rank {
		if !d.heard && time.Since(d.since) < newcomerGrace {
			return newcomer
		}
		return d.rank
	}
	for d := range s.dialogs {
		if d.lost || d == s.owner {
			continue
		}
		if out == nil || cmp.Or(cmp.Compare(shown(d), shown(out)), cmp.Compare(from[out.from], from[d.from]), cmp.Compare(d.number, out.number)) < 0 {
			out = d
		}
	}
	return open >= s.o.MaxConns, out, out != nil && shown(out) == newcomer
}

// The pace at which a line takes messages of connections that are in no dialogue, and the longest
// that one waits.
const (
	strangerEvery = 2 * time.Millisecond
	strangerMost  = 50 * time.Millisecond
)

var errEvicted = errors.New("closed for another connection")

// turn holds a message of a stranger back for its turn, so that a flood of them takes nothing from
// a sale. The connection that runs the line's dialogue is never held back. It fails where the
// connection was closed for another meanwhile.
func (d *dialog) turn(ctx context.Context) error {
	s := d.s
	s.mu.Lock()
	if s.owner == d || !d.from.IsValid() {
		s.mu.Unlock()
		return nil
	}
	now := time.Now()
	if s.next.Before(now) {
		s.next = now
	}
	wait := s.next.Sub(now)
	if wait < strangerMost {
		s.next = s.next.Add(strangerEvery)
	}
	s.mu.Unlock()
	if wait > 0 {
		pause(ctx, wait)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.lost {
		return errEvicted
	}
	return nil
}

// address is where a connection comes from, the zero Addr where that is no IP address.
func address(conn net.Conn) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	at, _ := netip.AddrFromSlice(tcp.IP)
	return at.Unmap()
}

// allowed reports whether a connection may come from an address; no list allows all.
func (s *Session) allowed(from netip.Addr) bool {
	for _, p := range s.o.Allow {
		if p.Contains(from) {
			return true
		}
	}
	return len(s.o.Allow) == 0
}
