package gateway

import (
	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// Watch is the outbox's: it wakes who waits for an operation, and everybody once it is known that nobody answers.
func (f *Front) Watch(op outbox.Op) {
	b := f.rows[op.Kind]
	down := b != nil && f.box != nil && f.box.Down(b.Service)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !down {
		wake(f.waits[op.Key])
		return
	}
	for _, list := range f.waits {
		wake(list)
	}
}

func wake(list []chan struct{}) {
	for _, ch := range list {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// listen registers a waiter; call the second result when done. It returns whether the operation may have ended meanwhile.
func (f *Front) listen(key wire.Key) (<-chan struct{}, func() bool) {
	ch := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits[key] = append(f.waits[key], ch)
	return ch, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		list := f.waits[key][:0]
		for _, c := range f.waits[key] {
			if c != ch {
				list = append(list, c)
			}
		}
		if f.waits[key] = list; len(list) == 0 {
			delete(f.waits, key)
		}
		return len(ch) > 0
	}
}

func (f *Front) holdBody(key wire.Key, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[key] = body
}

func (f *Front) dropBody(key wire.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, key)
}

func (f *Front) heldBody(key wire.Key) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.live[key]
	return body, ok
}
