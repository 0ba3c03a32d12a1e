package frame

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"posagent/ecr"
)

// Transport carries whole APDUs; two Sends at once follow each other. Send returns nil when the
// peer's link has the APDU (serial), or when it was written (TCP), and ErrTransmit after all
// repetitions.
type Transport interface {
	ecr.Transport
	// Recv is the queue of received APDUs; closed when the line is gone. Use it or Receive, not
	// both.
	Recv() <-chan []byte
}

// Errors of a Transport.
var (
	ErrTransmit = errors.New("frame: peer did not acknowledge")
	ErrClosed   = fmt.Errorf("frame: %w", ecr.ErrClosed)
)

// Conn is a serial line.
type Conn = ecr.Conn

// NoRepeat is the Config.Repeats of a peer that sends every block once.
const NoRepeat = -1

// Config is how a serial link behaves; the zero value is the protocol's.
type Config struct {
	T1      time.Duration // longest pause inside a block; 200 ms if 0
	T2      time.Duration // wait for ACK or NAK; 5 s if 0
	Repeats int           // repetitions of an unacknowledged block; 2 if 0, none if NoRepeat
	MaxAPDU int           // longest APDU accepted, in bytes; the protocol's maximum if 0
	Queue   int           // received APDUs not yet taken; 16 if 0
	NoNak   bool          // stay silent instead of answering NAK to a damaged block (some registers do)
}

func (c Config) filled() Config {
	if c.T1 <= 0 {
		c.T1 = 200 * time.Millisecond
	}
	if c.T2 <= 0 {
		c.T2 = 5 * time.Second
	}
	switch {
	case c.Repeats == 0:
		c.Repeats = 2
	case c.Repeats < 0:
		c.Repeats = 0
	}
	if c.MaxAPDU <= 0 {
		c.MaxAPDU = MaxAPDU
	}
	if c.Queue <= 0 {
		c.Queue = 16
	}
	return c
}

// Link is the serial transport.
type Link struct {
	life
	conn Conn
	cfg  Config

	turn    chan struct{} // holds one token while no block is being sent
	writes  chan write    // to the writer, which never keeps the reader from reading
	answers chan byte     // ACK and NAK, from the reader to Send

	mu     sync.Mutex
	stats  ecr.Counters
	filter filter
}

var _ Transport = (*Link)(nil)

// write is one piece for the wire; done, if any, is closed once it is out.
type write struct {
	data []byte
	done chan<- struct{}
}

// New starts a link on an open line. The link owns conn and closes it.
func New(conn Conn, cfg Config) *Link {
	cfg = cfg.filled()
	l := &Link{
		conn: conn, cfg: cfg,
		turn:    make(chan struct{}, 1),
		writes:  make(chan write, 8),
		answers: make(chan byte, 8),
		filter:  filter{gap: 5 * cfg.T2 / 2, total: 9 * cfg.T2 / 2},
	}
	l.begin(conn, cfg.Queue)
	l.turn <- struct{}{}
	l.wg.Go(l.read)
	l.wg.Go(l.write)
	return l
}

// Stats implements Transport.
func (l *Link) Stats() ecr.Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

func (l *Link) count(f func(*ecr.Counters)) {
	l.mu.Lock()
	f(&l.stats)
	l.mu.Unlock()
}

// write is the one goroutine that writes to the line.
func (l *Link) write() {
	for {
		select {
		case w := <-l.writes:
			if _, err := l.conn.Write(w.data); err != nil {
				l.fail(err)
				return
			}
			if w.done != nil {
				close(w.done)
			}
		case <-l.done.Done():
			return
		}
	}
}

// put hands a piece to the writer without ever waiting; false: too much is waiting already.
func (l *Link) put(data ...byte) bool {
	select {
	case l.writes <- write{data: data}:
		return true
	default:
		return false
	}
}

// read is the one goroutine that reads from the line.
func (l *Link) read() {
	defer close(l.recv)
	scan := NewScanner(l.cfg.T1, l.cfg.MaxAPDU)
	buf := make([]byte, 512)
	quiet := 0 // reads in a row that found nothing although T1 had passed
	for {
		var deadline time.Time
		if scan.Busy() {
			deadline = latest(scan.Deadline(), time.Now().Add(minRead))
		}
		if err := l.conn.SetReadDeadline(deadline); err != nil {
			l.fail(err)
			return
		}
		n, err := l.conn.Read(buf)
		now := time.Now()
		for _, b := range buf[:n] {
			l.handle(scan.Feed(b, now), now)
		}
		// A pause is judged only after a second look: this goroutine may have been held up before
		// the first one.
		if n == 0 && now.Sub(scan.Deadline()) >= 0 {
			quiet++
		} else {
			quiet = 0
		}
		if quiet >= 2 {
			l.handle(scan.Idle(now), now)
		}
		l.count(func(s *ecr.Counters) { s.Noise = scan.Noise })
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			l.fail(err)
			return
		}
		if l.done.Err() != nil {
			return
		}
	}
}

// minRead is the least time a read is given.
const minRead = 10 * time.Millisecond

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (l *Link) handle(ev Event, now time.Time) {
	switch ev.Kind {
	case GotAck, GotNak:
		answer := ACK
		if ev.Kind == GotNak {
			answer = NAK
			l.count(func(s *ecr.Counters) { s.Naks++ })
		}
		select {
		case l.answers <- answer:
		default: // a storm: the sender has enough answers already
		}
	case GotBad:
		l.count(func(s *ecr.Counters) { s.Bad++ })
		if !l.cfg.NoNak {
			l.put(NAK)
		}
	case GotBlock:
		l.block(ev.Data, now)
	}
}

// block acknowledges a good block and delivers it unless it is a repetition.
func (l *Link) block(data []byte, now time.Time) {
	l.mu.Lock()
	repeat, again := l.filter.repetition(data, now)
	if !repeat && len(l.recv) == cap(l.recv) {
		l.stats.Overflow++
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	if !l.put(ACK) {
		return // the peer repeats it when the line drains
	}
	if !repeat {
		l.mu.Lock()
		l.filter.received(data, now)
		l.stats.Received++
		l.mu.Unlock()
		l.recv <- data // only this goroutine fills the queue, and it had room
		return
	}
	l.mu.Lock()
	l.filter.refresh(now)
	l.stats.Duplicates++
	l.mu.Unlock()
	if again != nil && l.put(again...) {
		l.count(func(s *ecr.Counters) { s.Repeated++ })
	}
}

// Send implements Transport.
func (l *Link) Send(ctx context.Context, data []byte) error {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done.Done():
		return l.err()
	}
	if l.done.Err() != nil {
		return l.err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	block := EncodeBlock(data)
	l.mu.Lock()
	l.filter.sending(data, block)
	l.mu.Unlock()
	err := l.transmit(ctx, block)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filter.sent(err == nil)
	switch {
	case err == nil:
		l.stats.Sent++
	case errors.Is(err, ErrTransmit):
		l.stats.TransmitFailures++
	}
	return err
}

// transmit sends a block until it is acknowledged.
func (l *Link) transmit(ctx context.Context, block []byte) error {
	timer := time.NewTimer(l.cfg.T2)
	defer timer.Stop()
	for try := 0; ; try++ {
		for len(l.answers) > 0 { // late and double answers to earlier sendings
			<-l.answers
		}
		out := make(chan struct{})
		select {
		case l.writes <- write{data: block, done: out}:
		case <-ctx.Done():
			return ctx.Err()
		case <-l.done.Done():
			return l.err()
		}
		timer.Reset(l.cfg.T2)
		acked, err := l.answer(ctx, timer.C, out)
		if err != nil || acked {
			return err
		}
		if try == l.cfg.Repeats {
			return ErrTransmit
		}
		l.count(func(s *ecr.Counters) { s.Repeated++ })
	}
}

// answer waits for what the peer says to one sending of a block.
func (l *Link) answer(ctx context.Context, timeout <-chan time.Time, out <-chan struct{}) (acked bool, err error) {
	select {
	case <-out:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-l.done.Done():
		return false, l.err()
	case <-timeout: // the line does not take our bytes
		return false, nil
	}
	select {
	case a := <-l.answers:
		return a == ACK, nil
	case <-timeout:
		select {
		case a := <-l.answers: // both were ready: we were late, not the peer
			return a == ACK, nil
		default:
			return false, nil
		}
	case <-ctx.Done():
		return false, ctx.Err()
	case <-l.done.Done():
		return false, l.err()
	}
}
