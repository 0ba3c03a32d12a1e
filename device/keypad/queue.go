package keypad

import (
	"context"
	"sync"

	"posagent/device/keypad/entry"
)

// queueSize bounds the keys that wait for their reader. The last place is for a Gap.
const queueSize = 32

// queue holds keys between the pad and a reader that may be slow.
type queue struct {
	mu   sync.Mutex
	keys []entry.Key
	lost uint64
	wake chan struct{}
}

func newQueue() *queue {
	return &queue{keys: make([]entry.Key, 0, queueSize), wake: make(chan struct{}, 1)}
}

// add appends a key. A queue that is full loses it, and has a Gap at its end.
func (q *queue) add(k entry.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k != entry.Gap && len(q.keys) >= queueSize-1 {
		q.lost++
		k = entry.Gap
	}
	q.push(k)
}

// push needs mu. Two Gaps in a row say no more than one.
func (q *queue) push(k entry.Key) {
	if n := len(q.keys); k == entry.Gap && n > 0 && q.keys[n-1] == entry.Gap {
		return
	}
	q.keys = append(q.keys, k)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// drop forgets what waits, and leaves a Gap in its place.
func (q *queue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, k := range q.keys {
		if k != entry.Gap {
			q.lost++
		}
	}
	clear(q.keys)
	q.keys = q.keys[:0]
	q.push(entry.Gap)
}

// next waits for a key; false once ctx has ended.
func (q *queue) next(ctx context.Context) (entry.Key, bool) {
	for {
		if ctx.Err() != nil {
			return entry.None, false
		}
		if k, ok := q.take(); ok {
			return k, true
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		}
	}
}

func (q *queue) take() (entry.Key, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.keys) == 0 {
		return entry.None, false
	}
	k := q.keys[0]
	n := copy(q.keys, q.keys[1:])
	q.keys[n] = entry.None
	q.keys = q.keys[:n]
	return k, true
}

func (q *queue) losses() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}
