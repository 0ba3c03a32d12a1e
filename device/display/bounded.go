package display

import (
	"errors"
	"sync"
	"time"
)

// ErrStuck is returned when a screen does not take a picture in time. It is drawn as soon as the screen takes pictures again,
// unless a newer one has come.
var ErrStuck = errors.New("screen does not take pictures")

// endWithin is how long the end of the program waits for the last picture: one that says that a terminal is ready which has ended is
// worse.
const endWithin = 10 * time.Second

// Bounded returns a Screen that never keeps its caller waiting longer than limit: a console without a reader, or one stopped
// by Ctrl-S, must not hold up a sale. One goroutine, begun with the first view, draws the newest view and lives as long as
// the program.
func Bounded(s Screen, limit time.Duration) Screen {
	return &bounded{screen: s, limit: limit}
}

type bounded struct {
	screen Screen
	limit  time.Duration

	mu    sync.Mutex
	draws bool // run is at it
	next  *job // the newest, not begun yet
	stuck bool // a job took longer than limit and is still at it
}

// job is one drawing; done is closed when err is set.
type job struct {
	draw func() error
	done chan struct{}
	err  error
}

var (
	_ Screen    = (*bounded)(nil)
	_ Refresher = (*bounded)(nil)
	_ Ender     = (*bounded)(nil)
)

// Show implements Screen. ErrStuck, and the screen's own errors.
func (b *bounded) Show(v View) error {
	return b.do(func() error { return b.screen.Show(v) }, true, b.limit)
}

// Refresh implements Refresher; a view that waits is not replaced by it.
func (b *bounded) Refresh() error {
	r, ok := b.screen.(Refresher)
	if !ok {
		return nil
	}
	return b.do(r.Refresh, false, b.limit)
}

// End implements Ender. A screen that is stuck is waited for, at most endWithin, and ended as soon as it takes pictures again.
func (b *bounded) End() error {
	e, ok := b.screen.(Ender)
	if !ok {
		return nil
	}
	return b.do(e.End, true, max(b.limit, endWithin))
}

// do waits for a drawing, but not again for a screen that is stuck, unless the caller waits longer than the others.
func (b *bounded) do(draw func() error, replace bool, within time.Duration) error {
	j := &job{draw: draw, done: make(chan struct{})}
	b.mu.Lock()
	if b.next == nil || replace {
		if b.next != nil {
			close(b.next.done) // overtaken
		}
		b.next = j
	} else {
		j = b.next
	}
	if !b.draws {
		b.draws = true
		go b.run()
	}
	stuck := b.stuck && within <= b.limit
	b.mu.Unlock()
	if stuck { // waited for once already
		return ErrStuck
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-j.done:
		return j.err
	case <-timer.C:
		b.mu.Lock()
		b.stuck = true
		b.mu.Unlock()
		return ErrStuck
	}
}

// run draws until nothing waits.
func (b *bounded) run() {
	for {
		b.mu.Lock()
		j := b.next
		b.next, b.draws = nil, j != nil
		b.mu.Unlock()
		if j == nil {
			return
		}
		j.err = j.draw()
		close(j.done)
		b.mu.Lock()
		b.stuck = false
		b.mu.Unlock()
	}
}
