package session

import (
	"context"
	"sync"
)

// late keeps what the dialogue took back from leaving, or from being repeated.
type late struct {
	repeats bool // the line repeats what is not acknowledged: only there something on its way can be taken back
	mu      sync.Mutex
	through int                // the last number taken back
	seq     int                // on its way
	cancel  context.CancelFunc // ends that, nil = nothing is on its way
}

// leave begins the way of a message; ok is false when it was taken back.
func (l *late) leave(ctx context.Context, seq int) (_ context.Context, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.through {
		return nil, false
	}
	if l.repeats {
		ctx, l.cancel = context.WithCancel(ctx)
		l.seq = seq
	}
	return ctx, true
}

// left ends it.
func (l *late) left() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

func (l *late) takeBack(through int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.through = max(l.through, through)
	if l.cancel != nil && l.seq <= through {
		l.cancel()
	}
}
