package frame

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// ErrIncomplete is the cause of a line closed because an APDU was begun and not finished within T3.
var ErrIncomplete = errors.New("frame: incomplete APDU")

// ErrStrange is the cause of a line closed because a byte came that begins no message: the peer
// speaks another protocol.
var ErrStrange = fmt.Errorf("frame: %w", ecr.ErrStrange)

// TCP is the transport without blocks: APDUs back to back.
type TCP struct {
	life
	conn  net.Conn
	t3    time.Duration
	limit int

	sending sync.Mutex
}

var _ Transport = (*TCP)(nil)

// TCPOption changes a TCP transport.
type TCPOption func(*TCP)

// WithMaxAPDU limits the length of a received APDU; a longer one closes the line. Default: the
// protocol's maximum.
func WithMaxAPDU(n int) TCPOption { return func(t *TCP) { t.limit = n } }

// NewTCP starts the transport on a connection and owns it. t3 (5 s if 0) bounds the time from the
// first byte of an APDU to its last, and every write.
func NewTCP(conn net.Conn, t3 time.Duration, options ...TCPOption) *TCP {
	if t3 <= 0 {
		t3 = 5 * time.Second
	}
	t := &TCP{conn: conn, t3: t3, limit: MaxAPDU}
	t.begin(conn, 16)
	for _, o := range options {
		o(t)
	}
	t.wg.Go(t.read)
	return t
}

// Send implements Transport.
func (t *TCP) Send(ctx context.Context, data []byte) error {
	t.sending.Lock()
	defer t.sending.Unlock()
	if t.done.Err() != nil {
		return t.err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.conn.SetWriteDeadline(time.Now().Add(t.t3)); err != nil {
		t.fail(err)
		return t.err()
	}
	// A half-written APDU cannot be taken back, so a cancelled context ends the line.
	release := context.AfterFunc(ctx, func() { t.fail(ctx.Err()) })
	defer release()
	if _, err := t.conn.Write(data); err != nil {
		t.fail(err)
		return t.err()
	}
	return nil
}

// Stats implements Transport.
func (t *TCP) Stats() ecr.Counters { return ecr.Counters{} }

func (t *TCP) read() {
	defer close(t.recv)
	var pending []byte
	var began time.Time // when pending's first byte came
	buf := make([]byte, 4096)
	for {
		var deadline time.Time
		if len(pending) > 0 {
			deadline = began.Add(t.t3)
		}
		if err := t.conn.SetReadDeadline(deadline); err != nil {
			t.fail(err)
			return
		}
		n, err := t.conn.Read(buf)
		if n > 0 {
			if len(pending) == 0 {
				began = time.Now()
			}
			pending = append(pending, buf[:n]...)
			var ok bool
			if pending, began, ok = t.deliver(pending, began); !ok {
				return
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
			if len(pending) > 0 && time.Since(began) >= t.t3 {
				err = ErrIncomplete
			}
		}
		if err != nil {
			t.fail(err)
			return
		}
	}
}

// deliver cuts whole APDUs off pending and queues them; the peer waits (TCP flow control) while the
// queue is full. It ends the line at the first byte that begins no message, without waiting for the
// bytes after it.
func (t *TCP) deliver(pending []byte, began time.Time) ([]byte, time.Time, bool) {
	for {
		if !apdu.Begins(pending[0]) {
			t.fail(ErrStrange)
			return nil, began, false
		}
		one, rest, missing := apdu.Next(pending)
		if missing > 0 {
			if len(pending)+missing > t.limit {
				t.fail(ErrTooLong)
				return nil, began, false
			}
			return append([]byte(nil), pending...), began, true
		}
		if len(one) > t.limit {
			t.fail(ErrTooLong)
			return nil, began, false
		}
		select {
		case t.recv <- append([]byte(nil), one...):
		case <-t.done.Done():
			return nil, began, false
		}
		pending, began = rest, time.Now()
		if len(pending) == 0 {
			return nil, began, true
		}
	}
}
