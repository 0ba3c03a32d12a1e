package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"posagent/ecr"
)

// Opener waits for a serial line and opens it.
type Opener interface {
	Open(ctx context.Context) (ecr.Conn, error)
}

// Direction is the way a message went.
type Direction uint8

// The directions.
const (
	FromRegister Direction = iota
	ToRegister
)

func (d Direction) String() string {
	if d == FromRegister {
		return "register"
	}
	return "terminal"
}

// Options is what a session works with.
type Options struct {
	Line   string // "serial", "tcp": ecr.Request.Line
	Desk   ecr.Desk
	Till   ecr.Till
	Memory ecr.Memory // nil: a registration does not survive a restart
	Panel  ecr.Panel  // nil: the terminal has neither a screen nor a printer for registers
	// Protocol is what the line speaks.
	Protocol ecr.Protocol
	Log      *slog.Logger
	// Tap sees every message as it passes. It must not block and must not keep the slice.
	Tap func(dir Direction, message []byte)
	// Patience, Grace, Keep and RefundLast are the line's, for requests whose dialogue sets none
	// (ecr.Request).
	Patience, Grace  time.Duration
	Keep, RefundLast bool
	// Allow is where TCP connections may come from, nil = from anywhere.
	Allow []netip.Prefix
	// Refused is called with the address of each wrong password, or with the line's name; it must
	// not block. nil = nothing.
	Refused func(from string)
	// MaxConns bounds the TCP connections, 0 = 8.
	MaxConns int
}

const (
	reopenWithin = 10 * time.Second // what a serial message waits for the device
	maxOut       = 64               // messages waiting to be sent on one connection
)

// Carrier says whether the other end of a serial cable shows that it is there.
type Carrier string

// The carriers. A cable of three wires shows nothing; a line that never showed a carrier is not
// missed one.
const (
	NoCarrierWire Carrier = ""
	CarrierUp     Carrier = "up"
	CarrierLost   Carrier = "lost"
)

// carrying is a line that knows its modem lines.
type carrying interface {
	// Carrier reports whether DCD, DSR or CTS is raised; ok is false where the device cannot tell.
	Carrier() (up, ok bool)
}

// lookEvery is how often a serial line is looked at.
const lookEvery = time.Second

// Stats says what a line is doing.
type Stats struct {
	Connections int
	Received    uint64 // messages
	Sent        uint64
	Unsent      uint64 // not acknowledged by the link, or without a line
	OpenErrors  uint64

	Open        bool         // registers can be heard
	LastContact time.Time    // when a register's message came last
	Link        ecr.Counters // of a serial line, over all its openings
	Carrier     Carrier      // of a serial line

	Turned  uint64 // connections from addresses that are not allowed
	Strange uint64 // connections that began a message with a byte of another protocol

	WrongPasswords uint64
	WrongFrom      string // where the last wrong password came from: an address, or the line's name
	WrongAt        time.Time
}

// Session serves one register line.
type Session struct {
	o   Options
	log *slog.Logger

	mu      sync.Mutex
	memory  memory
	dialogs map[*dialog]bool
	opened  int     // dialogs so far
	owner   *dialog // runs the line's dialogue
	sale    string  // runs on the line
	stats   Stats
	link    ecr.Transport // open, of a serial line

	saving  sync.Mutex // one registration is stored at a time
	takings ecr.Takings

	guard guard
	quiet quiet
	next  time.Time // when the next message of a stranger is taken
}

// New makes a session; it starts nothing.
func New(o Options) *Session {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tap == nil {
		o.Tap = func(Direction, []byte) {}
	}
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	if o.MaxConns <= 0 {
		o.MaxConns = 8
	}
	s := &Session{o: o, log: o.Log.With("sys", "ecr", "line", o.Line), dialogs: map[*dialog]bool{}}
	if u, ok := o.Desk.(ecr.Undoer); ok {
		u.OnUndo(o.Line, s.undoing)
	}
	return s
}

// undoing tells every connection of the line, without keeping the desk waiting.
func (s *Session) undoing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for d := range s.dialogs {
		go d.post(ecr.Undoing{})
	}
}

// Line is the line's name.
func (s *Session) Line() string { return s.o.Line }

// Stats returns the counters.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Connections = len(s.dialogs)
	if s.link != nil {
		st.Link = st.Link.Plus(s.link.Stats())
	}
	return st
}

// plugged makes a link the line's, and adds what the last one counted to the sum.
func (s *Session) plugged(link ecr.Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		s.stats.Link = s.stats.Link.Plus(s.link.Stats())
	}
	s.link, s.stats.Open = link, link != nil
	if link == nil && s.stats.Carrier == CarrierUp {
		s.stats.Carrier = CarrierLost
	}
}

// look watches an open serial line until ctx ends: its carrier, and what shows a bad cable or wrong
// settings.
func (s *Session) look(ctx context.Context, conn ecr.Conn, before ecr.Counters) {
	for pause(ctx, lookEvery); ctx.Err() == nil; pause(ctx, lookEvery) {
		if c, ok := conn.(carrying); ok {
			if up, ok := c.Carrier(); ok {
				s.carrier(up)
			}
		}
		now := s.Stats().Link
		if bad := now.Bad - before.Bad + now.Naks - before.Naks + now.TransmitFailures - before.TransmitFailures; bad > 0 || now.Noise > before.Noise {
			s.warn("bad data on the line: check the cable, baud and stop_bits", "frames", now.Received, "bad", now.Bad, "naks", now.Naks,
				"noise_bytes", now.Noise, "unacknowledged", now.TransmitFailures)
		}
		before = now
	}
}

func (s *Session) carrier(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case up:
		s.stats.Carrier = CarrierUp
	case s.stats.Carrier == CarrierUp:
		s.stats.Carrier = CarrierLost
		s.quiet.warn(s.log, "the register's end of the cable is gone: switched off, or unplugged")
	}
}

func (s *Session) count(f func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// passes shows a message to the tap, and names it in the log.
func (s *Session) passes(dir Direction, data []byte) {
	s.o.Tap(dir, data)
	if !s.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	what := ""
	if outline := s.o.Protocol.Outline; outline != nil {
		what = outline(data)
	}
	s.log.Debug("message", "from", dir.String(), "bytes", len(data), "what", what)
}

// warn logs a fixed phrase at most once a minute: strangers can cause it as often as they like.
func (s *Session) warn(text string, args ...any) { s.quiet.warn(s.log, text, args...) }

// load reads the stored registration once.
func (s *Session) load(ctx context.Context) error {
	s.mu.Lock()
	done := s.memory.loaded || s.o.Memory == nil
	s.mu.Unlock()
	if done {
		return nil
	}
	data, err := s.o.Memory.Load(ctx, s.o.Line)
	if err != nil {
		return fmt.Errorf("load registration of %s: %w", s.o.Line, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.memory.loaded {
		s.memory = memory{loaded: true, profile: data, stored: data != nil}
	}
	return nil
}

// ServeSerial serves a serial line until ctx ends: it opens the line, and opens it again whenever
// it is lost. It returns ctx.Err(), or the error of loading the registration.
func (s *Session) ServeSerial(ctx context.Context, opener Opener) error {
	if s.o.Protocol.Serial == nil {
		return errNoSerial
	}
	if err := s.load(ctx); err != nil {
		return err
	}
	cable := newCable()
	d := s.dialog(true, cable.send)
	ctx, cancel := context.WithCancel(ecr.WithPeer(ctx, ecr.Peer{Line: s.o.Line}))
	var wg sync.WaitGroup
	wg.Go(func() { d.run(ctx) })
	defer wg.Wait()
	defer cancel()
	for wait := time.Second; ctx.Err() == nil; {
		conn, err := opener.Open(ctx)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			s.count(func(st *Stats) { st.OpenErrors++ })
			s.log.Warn("line not opened", "err", err)
			pause(ctx, wait)
			wait = min(2*wait, 10*time.Second)
			continue
		}
		wait = time.Second
		link := s.o.Protocol.Serial(conn)
		cable.plug(link)
		s.plugged(link)
		s.log.Info("line open")
		opened, ended := context.WithCancel(ctx)
		wg.Go(func() { s.look(opened, conn, s.Stats().Link) })
		err = d.read(ctx, link)
		ended()
		cable.plug(nil)
		s.plugged(nil)
		_ = link.Close()
		if ctx.Err() == nil {
			s.log.Warn("line lost", "err", err)
			pause(ctx, 100*time.Millisecond)
		}
	}
	return ctx.Err()
}

var (
	errNoLine   = errors.New("line is not open")
	errNoSerial = errors.New("the register's protocol does not run on a serial line: set [ecr] tcp")
	errNoTCP    = errors.New("the register's protocol does not run on TCP: set [ecr] serial")
)

// cable is a transport that may be replaced.
type cable struct {
	mu      sync.Mutex
	link    ecr.Transport
	changed chan struct{}
}

func newCable() *cable { return &cable{changed: make(chan struct{})} }

func (c *cable) plug(link ecr.Transport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = link
	close(c.changed)
	c.changed = make(chan struct{})
}

// send waits for a line. A line lost under a message is waited for as well, and the message sent
// again: everything a terminal says may be said twice.
func (c *cable) send(ctx context.Context, data []byte) error {
	late := time.NewTimer(reopenWithin)
	defer late.Stop()
	var tried ecr.Transport
	for {
		c.mu.Lock()
		link, changed := c.link, c.changed
		c.mu.Unlock()
		if link != nil && link != tried {
			err := link.Send(ctx, data)
			if !errors.Is(err, ecr.ErrClosed) {
				return err
			}
			tried = link
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return errNoLine
		case <-changed:
		}
	}
}
