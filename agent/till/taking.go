package till

import (
	"context"
	"time"

	"posagent/schemes/wire"
)

// takenWithin bounds how long who asks for a sale by its key waits for requests with that key that are
// being taken.
const takenWithin = 10 * time.Second

// queue is one key whose requests are being taken: they have begun no sale yet, and may.
type queue struct {
	requests int
	over     chan struct{} // closed when the last of them has begun its sale or was refused
}

// take says that a request with a key is being taken. taken ends that.
func (t *Till) take(ctx context.Context, key string) (taken func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := line(ctx) + " " + key
	now := t.takes[at]
	if now == nil {
		now = &queue{over: make(chan struct{})}
		t.takes[at] = now
	}
	now.requests++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if now.requests--; now.requests == 0 {
			delete(t.takes, at)
			close(now.over)
		}
	}
}

// allTaken waits until each request with a key that is here has begun its sale or was refused: before
// that nobody knows that it begins none. wire.Unavailable.
func (t *Till) allTaken(ctx context.Context, key string) error {
	t.mu.Lock()
	now := t.takes[line(ctx)+" "+key]
	t.mu.Unlock()
	if now == nil {
		return nil
	}
	timer := time.NewTimer(takenWithin)
	defer timer.Stop()
	select {
	case <-now.over:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	case <-t.done:
	}
	return &wire.Error{Code: wire.Unavailable, Msg: "a request with this key is being taken just now: ask again", RetryAfter: retryAfter}
}
