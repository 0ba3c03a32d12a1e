package life

import (
	"context"
	"fmt"
	"io"
	"sync"

	"posagent/ecr"
)

// Life is begun with Begin, once. Its methods are safe for concurrent use.
type Life struct {
	Came chan []byte     // what was received, in its order
	Done context.Context // ends with the line

	line io.Closer
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu    sync.Mutex
	stats ecr.Counters
}

// Begin begins the life of an open line. queue is how many messages wait for Receive.
func (l *Life) Begin(line io.Closer, queue int) {
	l.line, l.Came = line, make(chan []byte, queue)
	l.Done, l.stop = context.WithCancelCause(context.Background())
}

// Go runs what Close waits for.
func (l *Life) Go(work func()) { l.work.Go(work) }

// Receive implements ecr.Transport.
func (l *Life) Receive(ctx context.Context) ([]byte, error) {
	select {
	case data := <-l.Came:
		return data, nil
	default:
	}
	select {
	case data := <-l.Came:
		return data, nil
	case <-l.Done.Done():
		return nil, context.Cause(l.Done)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// While implements ecr.Transport.
func (l *Life) While(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(l.Done, cancel)
	return ctx
}

// Stats implements ecr.Transport.
func (l *Life) Stats() ecr.Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Count changes the counters.
func (l *Life) Count(change func(*ecr.Counters)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.stats)
}

// Close implements ecr.Transport.
func (l *Life) Close() error {
	_ = l.End(nil)
	l.work.Wait()
	return nil
}

// End ends the line for cause, nil = it was closed here, and returns the error of later calls.
func (l *Life) End(cause error) error {
	err := ecr.ErrClosed
	if cause != nil {
		err = fmt.Errorf("%w: %w", ecr.ErrClosed, cause)
	}
	l.stop(err)
	_ = l.line.Close()
	return context.Cause(l.Done)
}
