package protocol

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"posagent/ecr"
	"posagent/ecr/ecr17"
	"posagent/ecr/life"
)

// Times of a line.
const (
	ackWithin   = 2 * time.Second  // the register acknowledges a message within
	gap         = time.Second      // between two bytes of a frame
	wholeWithin = 15 * time.Second // a frame has come within, at whatever pace
	writeWithin = 5 * time.Second  // on TCP
)

// maxRepeats is how often a message is sent again.
const maxRepeats = 3

// Errors of a line.
var (
	errUnheard = errors.New("ecr17: the register has not acknowledged a message")
	errGone    = errors.New("ecr17: the line is gone")
	errSlow    = errors.New("ecr17: a frame does not end")
)

// wire carries frames.
type wire struct {
	life.Life
	conn  ecr.Conn
	o     Options
	cable bool

	sending sync.Mutex    // one message at a time
	writing chan struct{} // one frame at a time
	answers chan byte     // ACK and NAK for the message that waits
	naks    chan struct{} // a damaged frame has to be answered

	mu      sync.Mutex
	waiting bool // a message has left and waits for its answer
}

var _ ecr.Transport = (*wire)(nil)

func newWire(conn ecr.Conn, o Options, cable bool) *wire {
	w := &wire{conn: conn, o: o, cable: cable, answers: make(chan byte, 1), naks: make(chan struct{}, 1), writing: make(chan struct{}, 1)}
	w.Begin(conn, 16)
	w.Go(w.read)
	w.Go(w.complain)
	return w
}

// Send implements ecr.Transport. A message that may have reached the register fails with an error
// that is not ErrClosed: it is not to be sent again on another line.
func (w *wire) Send(ctx context.Context, data []byte) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	frame := w.o.Scope.Frame(data)
	answered := frame[0] == ecr17.STX
	switch {
	case w.Done.Err() != nil && (!w.cable || answered):
		return context.Cause(w.Done)
	case w.Done.Err() != nil: // on another line it would be out of place
		return errGone
	}
	release := context.AfterFunc(ctx, func() {
		if !w.cable {
			_ = w.End(ctx.Err())
		}
	})
	defer release()
	for tries := 0; ; tries++ {
		w.expect(answered)
		if err := w.write(frame); err != nil {
			return w.failed(err)
		}
		if !answered {
			return nil
		}
		answer, err := w.answer(ctx)
		switch {
		case err == nil && answer == ecr17.ACK:
			w.Count(func(s *ecr.Counters) { s.Sent++ })
			return nil
		case err == nil && tries < maxRepeats:
			w.Count(func(s *ecr.Counters) { s.Repeated++ })
			continue
		case err == nil:
			err = errUnheard
		}
		w.Count(func(s *ecr.Counters) { s.TransmitFailures++ })
		return w.failed(err)
	}
}

// failed ends a connection on which a message was not acknowledged.
func (w *wire) failed(err error) error {
	w.expect(false)
	if w.cable {
		return errors.Join(errUnheard, unclosed(err))
	}
	return w.End(err)
}

// unclosed is the text of an error alone.
func unclosed(err error) error { return errors.New(err.Error()) }

// expect says whether the next ACK or NAK is for us; older ones are not.
func (w *wire) expect(answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = answered
	select {
	case <-w.answers:
	default:
	}
}

// answer waits for the register's ACK or NAK. One that came before the line's end counts.
func (w *wire) answer(ctx context.Context) (byte, error) {
	late := time.NewTimer(ackWithin)
	defer late.Stop()
	select {
	case b := <-w.answers:
		return b, nil
	case <-late.C:
	case <-ctx.Done():
	case <-w.Done.Done():
	}
	select {
	case b := <-w.answers:
		return b, nil
	default:
		return 0, errUnheard
	}
}

func (w *wire) write(frame []byte) error {
	select {
	case w.writing <- struct{}{}:
	case <-w.Done.Done():
		return errGone
	}
	defer func() { <-w.writing }()
	if c, ok := w.conn.(interface{ SetWriteDeadline(time.Time) error }); ok && !w.cable {
		if err := c.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
			return err
		}
	}
	_, err := w.conn.Write(bytes.Clone(frame))
	return err
}

// read takes bytes off the line until it is gone.
func (w *wire) read() {
	var pending []byte  // of a frame that has begun
	var began time.Time // when its first byte came
	buf := make([]byte, 4096)
	for {
		var until time.Time
		if len(pending) > 0 {
			until = time.Now().Add(gap)
		}
		if err := w.conn.SetReadDeadline(until); err != nil {
			_ = w.End(err)
			return
		}
		n, err := w.conn.Read(buf)
		if n > 0 {
			if len(pending) == 0 {
				began = time.Now()
			}
			rest, fault := w.cut(append(pending, buf[:n]...))
			if fault != nil {
				_ = w.End(fault)
				return
			}
			if len(rest) < len(pending)+n {
				began = time.Now() // of the frame that this piece has begun
			}
			pending = rest
		}
		late := err == nil || errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case !late:
			_ = w.End(err)
			return
		case len(pending) > 0 && time.Since(began) >= wholeWithin && !w.cable:
			_ = w.End(errSlow)
			return
		case n == 0 && len(pending) > 0 && !time.Now().Before(until), len(pending) > 0 && time.Since(began) >= wholeWithin:
			if pending[0] == ecr17.STX {
				w.damaged()
			} else {
				w.Count(func(s *ecr.Counters) { s.Noise += len(pending) })
			}
			pending = nil
		}
	}
}

// cut takes whole frames off what has come, and returns the rest. It fails where no frame begins so.
func (w *wire) cut(pending []byte) (rest []byte, err error) {
	for len(pending) > 0 {
		switch pending[0] {
		case ecr17.ACK, ecr17.NAK: // its check byte is not looked at: registers make it in their own ways
			if len(pending) < 3 && (len(pending) < 2 || pending[1] == ecr17.ETX) {
				return bytes.Clone(pending), nil
			}
			if pending[1] != ecr17.ETX {
				if err := w.strange(1); err != nil {
					return nil, err
				}
				pending = pending[1:]
				continue
			}
			w.answered(pending[0])
			pending = pending[3:]
		case ecr17.STX:
			end := bytes.IndexByte(pending, ecr17.ETX)
			if end > ecr17.MaxPayload+1 || end < 0 && len(pending) > ecr17.MaxPayload+1 {
				if err := w.strange(len(pending)); err != nil {
					return nil, err
				}
				w.damaged()
				return nil, nil
			}
			if end < 0 || end+1 == len(pending) {
				return bytes.Clone(pending), nil
			}
			w.take(pending[1:end], pending[end+1])
			pending = pending[end+2:]
		default:
			if err := w.strange(1); err != nil {
				return nil, err
			}
			pending = pending[1:]
		}
	}
	return nil, nil
}

// strange counts bytes that begin no frame: noise on a cable, another protocol on TCP.
func (w *wire) strange(n int) error {
	w.Count(func(s *ecr.Counters) { s.Noise += n })
	if w.cable {
		return nil
	}
	return ecr.ErrStrange
}

// answered takes an ACK or NAK.
func (w *wire) answered(b byte) {
	if b == ecr17.NAK {
		w.Count(func(s *ecr.Counters) { s.Naks++ })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting {
		w.waiting = false
		w.answers <- b
	}
}

// take delivers a message, or answers that it is damaged.
func (w *wire) take(payload []byte, lrc byte) {
	if w.o.Scope.LRC(payload) != lrc {
		if fit := ecr17.Scopes(payload, lrc); fit != "" && w.o.Foreign != nil {
			w.o.Foreign(fit)
		}
		w.damaged()
		return
	}
	w.Count(func(s *ecr.Counters) { s.Received++ })
	select {
	case w.Came <- bytes.Clone(payload):
	case <-w.Done.Done():
	}
}

// damaged answers NAK to what was to be a message.
func (w *wire) damaged() {
	w.Count(func(s *ecr.Counters) { s.Bad++ })
	select {
	case w.naks <- struct{}{}:
	default:
	}
}

// complain sends the NAKs, so that a register that reads nothing does not keep the terminal from
// reading.
func (w *wire) complain() {
	for {
		select {
		case <-w.naks:
			_ = w.write(w.o.Scope.Frame([]byte{ecr17.NAK}))
		case <-w.Done.Done():
			return
		}
	}
}
