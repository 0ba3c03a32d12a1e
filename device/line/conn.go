package line

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"
)

const (
	readSlice  = 200 * time.Millisecond // a blocked read looks up this often whether the line was closed
	readBuffer = 512
)

// conn is one opening of a port. Every call of the library happens under mu for reading and with closed unset, so
// that the descriptor is closed (mu for writing) only when no call is inside.
type conn struct {
	port *Port
	lock lock

	mu     sync.RWMutex
	raw    serial.Port
	closed atomic.Bool

	rmu      sync.Mutex // one reader
	buf      [readBuffer]byte
	from, to int
	settings settings

	wmu sync.Mutex // one writer

	dmu      sync.Mutex
	deadline time.Time
}

// SetReadDeadline bounds Read; the zero time means none. It reaches a blocked Read within 200 ms.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.dmu.Lock()
	defer c.dmu.Unlock()
	c.deadline = t
	return nil
}

// Read returns at least one byte, os.ErrDeadlineExceeded, os.ErrClosed, or, once, the reason why the line was lost.
func (c *conn) Read(p []byte) (int, error) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for c.from == c.to {
		n, err := c.fill()
		if err != nil {
			return 0, err
		}
		c.from, c.to = 0, n
	}
	n := copy(p, c.buf[c.from:c.to])
	c.from += n
	return n, nil
}

// fill reads for at most one slice; (0, nil) means look again.
func (c *conn) fill() (int, error) {
	if c.closed.Load() {
		return 0, os.ErrClosed
	}
	c.dmu.Lock()
	deadline := c.deadline
	c.dmu.Unlock()
	wait := readSlice
	if !deadline.IsZero() {
		left := time.Until(deadline)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		wait = min(wait, left)
	}
	n, err := c.readOnce(wait)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return 0, nil
	case err == nil:
		c.port.count(func(s *Stats) { s.ReadBytes += uint64(n) })
		return n, nil
	}
	return 0, c.fail("read", err)
}

func (c *conn) readOnce(wait time.Duration) (int, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed.Load() {
		return 0, os.ErrClosed
	}
	if c.settings.restore(c.lock.device) {
		c.port.count(func(s *Stats) { s.Altered, s.AlteredAt = s.Altered+1, time.Now() })
	}
	if err := c.raw.SetReadTimeout(wait); err != nil {
		return 0, translate(err)
	}
	n, err := c.raw.Read(c.buf[:])
	if err != nil {
		return 0, translate(err)
	}
	return n, nil
}

// pendingWrite is one call of the library that may never come back.
type pendingWrite struct {
	state atomic.Int32 // 0 not begun, 1 inside the library, 2 abandoned before it began
	done  chan struct{}
	n     int
	err   error
}

// Write hands all of p to the driver or fails: os.ErrClosed, os.ErrDeadlineExceeded (then the line is closed), or the
// reason why the line was lost.
func (c *conn) Write(p []byte) (int, error) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	onWire := time.Duration(len(p)) * 11 * time.Second / time.Duration(c.port.cfg.Baud)
	timer := time.NewTimer(c.port.cfg.WriteTimeout + onWire)
	defer timer.Stop()
	data := append([]byte(nil), p...) // an abandoned write must not read the caller's buffer
	total := 0
	for total < len(data) {
		n, err := c.writeOnce(data[total:], timer.C)
		total += n
		c.port.count(func(s *Stats) { s.WrittenBytes += uint64(n) })
		switch {
		case err == nil && n > 0, errors.Is(err, unix.EINTR):
		case errors.Is(err, errTimeout):
			c.port.count(func(s *Stats) { s.WriteTimeouts++ })
			_ = c.fail("write", err)
			return total, os.ErrDeadlineExceeded
		case errors.Is(err, os.ErrClosed):
			return total, err
		case err == nil:
			return total, c.fail("write", errHangup)
		default:
			return total, c.fail("write", err)
		}
	}
	return total, nil
}

func (c *conn) writeOnce(p []byte, expired <-chan time.Time) (int, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed.Load() {
		return 0, os.ErrClosed
	}
	w := &pendingWrite{done: make(chan struct{})}
	raw := c.raw
	go func() {
		defer close(w.done)
		if !w.state.CompareAndSwap(0, 1) {
			return
		}
		w.n, w.err = raw.Write(p)
	}()
	select {
	case <-w.done:
		return w.n, w.err
	case <-expired:
	}
	if w.state.CompareAndSwap(0, 2) {
		return 0, errTimeout
	}
	// The write hangs in the driver because the peer does not read. Discarding the output lets it return.
	for range 20 {
		_ = raw.ResetOutputBuffer()
		select {
		case <-w.done:
			return w.n, errTimeout
		case <-time.After(10 * time.Millisecond):
		}
	}
	c.port.count(func(s *Stats) { s.AbandonedNow++ })
	go func() {
		<-w.done
		c.port.count(func(s *Stats) { s.AbandonedNow-- })
	}()
	return 0, errTimeout
}

// Carrier reports whether the other end raises DCD, DSR or CTS; ok is false where the device cannot tell.
func (c *conn) Carrier() (up, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed.Load() {
		return false, false
	}
	bits, err := c.raw.GetModemStatusBits()
	if err != nil {
		return false, false
	}
	return bits.DCD || bits.DSR || bits.CTS, true
}

// fail closes the line after an error and says why it was closed; only the first caller hears the reason.
func (c *conn) fail(op string, cause error) error {
	if errors.Is(cause, os.ErrClosed) || !c.close() {
		return os.ErrClosed
	}
	err := fmt.Errorf("%s %s: %w", op, c.port.cfg.Path, cause)
	c.port.count(func(s *Stats) {
		s.Errors++
		s.LastError, s.Reason = err.Error(), err
	})
	return err
}

// Close ends every blocked call and frees the device. Closing again is no error.
func (c *conn) Close() error {
	c.close()
	return nil
}

func (c *conn) close() bool {
	if !c.closed.CompareAndSwap(false, true) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.raw.Close()
	_ = c.lock.Close()
	c.port.count(func(s *Stats) { s.Open = false })
	return true
}

var _ Conn = (*conn)(nil)
