package toy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"posagent/ecr"
)

const (
	longest = 64              // bytes of a line
	within  = 5 * time.Second // from its first byte to its end
)

// lines carries one message a line. A line ends with a full stop, because half an amount is an
// amount too, and begins with an empty one, which ends what was lost of another. On a cable what is
// no line is passed over; a connection ends with it.
type lines struct {
	conn  ecr.Conn
	cable bool
	recv  chan []byte
	done  context.Context
	stop  context.CancelCauseFunc
	wg    sync.WaitGroup
	send  sync.Mutex
}

func frame(conn ecr.Conn, cable bool) *lines {
	l := &lines{conn: conn, cable: cable, recv: make(chan []byte)}
	l.done, l.stop = context.WithCancelCause(context.Background())
	l.wg.Go(l.read)
	return l
}

// Send implements ecr.Transport.
func (l *lines) Send(ctx context.Context, data []byte) error {
	l.send.Lock()
	defer l.send.Unlock()
	release := context.AfterFunc(ctx, func() { l.end(ctx.Err()) })
	defer release()
	if _, err := fmt.Fprintf(l.conn, "\n%s.\n", data); err != nil {
		return l.end(err)
	}
	return nil
}

// Receive implements ecr.Transport.
func (l *lines) Receive(ctx context.Context) ([]byte, error) {
	select {
	case data := <-l.recv:
		return data, nil
	case <-l.done.Done():
		return nil, context.Cause(l.done)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// While implements ecr.Transport.
func (l *lines) While(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(l.done, cancel)
	return ctx
}

// Stats implements ecr.Transport.
func (l *lines) Stats() ecr.Counters { return ecr.Counters{} }

// Close implements ecr.Transport.
func (l *lines) Close() error {
	_ = l.end(nil)
	l.wg.Wait()
	return nil
}

// end ends the line for cause, and returns the error for later calls.
func (l *lines) end(cause error) error {
	err := ecr.ErrClosed
	if cause != nil {
		err = fmt.Errorf("%w: %w", ecr.ErrClosed, cause)
	}
	l.stop(err)
	_ = l.conn.Close()
	return context.Cause(l.done)
}

func (l *lines) read() {
	var pending []byte
	buf := make([]byte, 512)
	for {
		var until time.Time
		if len(pending) > 0 {
			until = time.Now().Add(within)
		}
		if err := l.conn.SetReadDeadline(until); err != nil {
			_ = l.end(err)
			return
		}
		n, err := l.conn.Read(buf)
		pending = append(pending, buf[:n]...)
		for len(pending) > 0 && l.done.Err() == nil {
			line, rest, whole := bytes.Cut(pending, []byte("\n"))
			if len(line) > longest || bytes.ContainsFunc(line, strange) {
				if !l.cable {
					_ = l.end(ecr.ErrStrange)
					return
				}
				line = nil
				if !whole {
					pending = nil
				}
			}
			if !whole {
				break
			}
			pending = rest
			if line, whole = bytes.CutSuffix(line, []byte(".")); whole {
				select {
				case l.recv <- bytes.Clone(line):
				case <-l.done.Done():
				}
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && l.cable:
			pending = nil
		case err != nil:
			_ = l.end(err)
			return
		}
	}
}

// strange is what stands in no line.
func strange(r rune) bool { return r < ' ' || r > 'z' }
