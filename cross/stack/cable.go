package stack

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Direction is a way along the cable.
type Direction int

// The directions.
const (
	ToTerminal Direction = iota
	ToRegister
)

// byteTime is 9600 baud, 8N1.
const byteTime = 1042 * time.Microsecond

// Damage is what the cable does to the bytes of one direction. All but Late and ByByte are probabilities.
type Damage struct {
	Flip    float64 // per bit
	Drop    float64 // per byte
	Double  float64 // per byte
	Swap    float64 // per byte, with the next one
	Insert  float64 // per byte
	Noise   float64 // per write: garbage before it
	Storm   float64 // per write: naughty answers after it
	LoseAck float64 // per one-byte answer
	LateAck float64 // per one-byte answer: it comes after Late
	Late    time.Duration
	ByByte  bool // every byte arrives alone, at its own time
}

// Cable joins a terminal's serial device with a register's. Bytes for an end that is not open are lost.
type Cable struct {
	mu      sync.Mutex
	rng     [2]*rand.Rand
	damage  [2]Damage
	ends    [2]*End // by the direction that arrives there
	missing bool    // pulled: no device can be opened and no byte passes
	back    chan struct{}
	passed  [2]int         // bytes sent
	tap     func(n [2]int) // before each byte
	slow    time.Duration
	counts  Counts
}

// NewCable makes a whole cable. slow is the time of one byte; 0 = that of 9600 baud.
func NewCable(seed uint64, slow time.Duration) *Cable {
	if slow <= 0 {
		slow = byteTime
	}
	return &Cable{rng: [2]*rand.Rand{rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))}, back: make(chan struct{}), slow: slow}
}

// Spoil sets the damage of both directions from now on.
func (c *Cable) Spoil(toTerminal, toRegister Damage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.damage = [2]Damage{toTerminal, toRegister}
}

// Tap is told before every byte how many have passed in each direction. It may call Pull.
func (c *Cable) Tap(f func(passed [2]int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed, c.tap = [2]int{}, f
}

// Counts are of both directions, since the cable was made.
type Counts struct {
	Blocks  int // writes of more than one byte
	Harmed  int // of these, did not arrive as they were
	Answers int // writes of one byte
	Spoilt  int // of these, lost, late or changed
}

// Counts tells how much went over the cable.
func (c *Cable) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// ErrPulled is what an end reads and writes after the cable was pulled.
var ErrPulled = errors.New("stack: the device is gone")

// Pull takes both devices away until Plug.
func (c *Cable) Pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing = true
	for i, e := range c.ends {
		if e != nil {
			e.shut(ErrPulled)
			c.ends[i] = nil
		}
	}
}

// Plug puts the cable back.
func (c *Cable) Plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing = false
	close(c.back)
	c.back = make(chan struct{})
}

// Opener opens one end again and again; it waits for a cable that was pulled.
type Opener struct {
	c  *Cable
	at Direction
}

// Conn is an open end; it fits ecr/session and ecr/zvt/frame.
type Conn = interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
}

// Terminal is the terminal's device.
func (c *Cable) Terminal() Opener { return Opener{c, ToTerminal} }

// Register is the register's device.
func (c *Cable) Register() Opener { return Opener{c, ToRegister} }

// Open waits for the device. An end that is still open is closed: a device has one owner.
func (o Opener) Open(ctx context.Context) (Conn, error) {
	for {
		o.c.mu.Lock()
		if !o.c.missing {
			break
		}
		back := o.c.back
		o.c.mu.Unlock()
		select {
		case <-back:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer o.c.mu.Unlock()
	e := &End{c: o.c, at: o.at, more: make(chan struct{}, 1), over: make(chan struct{})}
	if old := o.c.ends[o.at]; old != nil {
		old.shut(os.ErrClosed)
	}
	o.c.ends[o.at] = e
	return e, nil
}

// Shout puts bytes on the line as a fault would, at once and undamaged.
func (c *Cable) Shout(d Direction, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrive(d, data)
}

// arrive is called with mu held.
func (c *Cable) arrive(d Direction, data []byte) {
	e := c.ends[d]
	if e == nil || len(data) == 0 {
		return
	}
	e.mu.Lock()
	e.queue = append(e.queue, data...)
	e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
}

// End is one open end of a cable.
type End struct {
	c    *Cable
	at   Direction
	more chan struct{}
	over chan struct{}

	mu       sync.Mutex
	queue    []byte
	deadline time.Time
	cause    error
}

var _ Conn = (*End)(nil)

func (e *End) shut(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cause == nil {
		e.cause = cause
		close(e.over)
	}
}

// Close implements io.Closer.
func (e *End) Close() error {
	e.shut(os.ErrClosed)
	e.c.mu.Lock()
	defer e.c.mu.Unlock()
	if e.c.ends[e.at] == e {
		e.c.ends[e.at] = nil
	}
	return nil
}

// SetReadDeadline bounds the reads that begin after it.
func (e *End) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deadline = t
	return nil
}

// Read gives what has arrived.
func (e *End) Read(p []byte) (int, error) {
	e.mu.Lock()
	deadline := e.deadline
	e.mu.Unlock()
	var late <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		late = t.C
	}
	for {
		e.mu.Lock()
		if e.cause != nil {
			defer e.mu.Unlock()
			return 0, e.cause
		}
		if n := copy(p, e.queue); n > 0 {
			e.queue = e.queue[n:]
			e.mu.Unlock()
			return n, nil
		}
		e.mu.Unlock()
		select {
		case <-e.more:
		case <-e.over:
		case <-late:
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// Write sends p along the cable at the line's speed.
func (e *End) Write(p []byte) (int, error) {
	way := ToRegister
	if e.at == ToRegister {
		way = ToTerminal
	}
	c := e.c
	c.mu.Lock()
	pieces, after := c.spoil(way, p)
	tap, slow, byByte := c.tap, c.slow, c.damage[way].ByByte || c.tap != nil
	c.mu.Unlock()
	if !byByte && len(pieces) > 0 {
		pieces = [][]byte{concat(pieces)}
	}
	for _, piece := range pieces {
		if tap != nil {
			c.mu.Lock()
			now := c.passed
			c.passed[way]++
			c.mu.Unlock()
			tap(now)
		}
		if !e.wait(time.Duration(len(piece)) * slow) {
			e.mu.Lock()
			defer e.mu.Unlock()
			return 0, e.cause
		}
		c.mu.Lock()
		c.arrive(way, piece)
		c.mu.Unlock()
	}
	if len(pieces) == 0 && !e.wait(time.Duration(len(p))*slow) {
		return 0, os.ErrClosed
	}
	if after != nil {
		after()
	}
	return len(p), nil
}

func (e *End) wait(d time.Duration) bool { return passes(d, e.over) }

// passes waits, and reports whether the time has passed before over was closed.
func passes(d time.Duration, over <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-over:
		return false
	}
}

func concat(pieces [][]byte) (out []byte) {
	for _, p := range pieces {
		out = append(out, p...)
	}
	return out
}

// spoil draws what becomes of one write: the pieces that arrive one after the other, and what happens after them. It
// is called with mu held.
func (c *Cable) spoil(way Direction, p []byte) (pieces [][]byte, after func()) {
	d, rng := c.damage[way], c.rng[way]
	all, bad := &c.counts.Blocks, &c.counts.Harmed
	if len(p) == 1 {
		all, bad = &c.counts.Answers, &c.counts.Spoilt
	}
	*all++
	hit := func(chance float64) bool { return chance > 0 && rng.Float64() < chance }
	if len(p) == 1 { // an acknowledgement
		switch {
		case hit(d.LoseAck):
			*bad++
			return nil, nil
		case hit(d.LateAck):
			*bad++
			data := append([]byte(nil), p...)
			return nil, func() { time.AfterFunc(d.Late, func() { c.Shout(way, data) }) }
		}
	}
	out := append([]byte(nil), p...)
	changed := false
	if d.Swap > 0 {
		for i := 0; i+1 < len(out); i++ {
			if hit(d.Swap) {
				changed = changed || out[i] != out[i+1]
				out[i], out[i+1] = out[i+1], out[i]
			}
		}
	}
	if hit(d.Noise) {
		for range 1 + rng.IntN(40) {
			pieces = append(pieces, []byte{Garbage(rng)})
		}
		changed = true
	}
	for _, b := range out {
		if d.Flip > 0 {
			for bit := range 8 {
				if hit(d.Flip) {
					b ^= 1 << bit
					changed = true
				}
			}
		}
		if hit(d.Insert) {
			pieces = append(pieces, []byte{Garbage(rng)})
			changed = true
		}
		if hit(d.Drop) {
			changed = true
			continue
		}
		pieces = append(pieces, []byte{b})
		if hit(d.Double) {
			pieces = append(pieces, []byte{b})
			changed = true
		}
	}
	if hit(d.Storm) {
		n := 1 + rng.IntN(20)
		for range n {
			pieces = append(pieces, []byte{0x15})
		}
	}
	if changed {
		*bad++
	}
	return pieces, nil
}

// Garbage is a byte of noise: often one that means something to a receiver.
func Garbage(rng *rand.Rand) byte {
	special := [...]byte{0x10, 0x02, 0x03, 0x06, 0x15, 0x00, 0xFF, 0x11, 0x13}
	if rng.IntN(2) == 0 {
		return special[rng.IntN(len(special))]
	}
	return byte(rng.IntN(256))
}
