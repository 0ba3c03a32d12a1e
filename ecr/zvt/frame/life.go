package frame

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// life is what both transports have: the queue of what was received, and an end with one cause.
type life struct {
	recv chan []byte
	done context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup // the goroutines of the transport

	line  io.Closer
	ends  sync.Mutex
	cause error
}

// begin makes the life of a transport on an open line.
func (l *life) begin(line io.Closer, queue int) {
	l.line, l.recv = line, make(chan []byte, queue)
	l.done, l.stop = context.WithCancel(context.Background())
}

// Recv implements Transport.
func (l *life) Recv() <-chan []byte { return l.recv }

// Receive implements Transport.
func (l *life) Receive(ctx context.Context) ([]byte, error) {
	select {
	case data, ok := <-l.recv:
		if !ok {
			return nil, l.err()
		}
		return data, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// While implements Transport.
func (l *life) While(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(l.done, cancel)
	return ctx
}

// Close implements Transport.
func (l *life) Close() error {
	l.fail(nil)
	l.wg.Wait()
	return nil
}

// fail ends the line for cause; the first cause stays.
func (l *life) fail(cause error) {
	l.ends.Lock()
	first := l.done.Err() == nil
	if first {
		l.cause = cause
	}
	l.stop()
	l.ends.Unlock()
	if first {
		l.line.Close()
	}
}

// err is what a call on a line that has ended returns.
func (l *life) err() error {
	l.ends.Lock()
	defer l.ends.Unlock()
	if l.cause == nil {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, l.cause)
}
