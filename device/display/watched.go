package display

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStuck is returned when a screen does not take a picture in time. It is drawn as soon as the screen takes pictures again,
// unless a newer one has come.
var ErrStuck = errors.New("screen does not take pictures")

// endWithin is how long the end of the program waits for the last picture: one that says that a terminal is ready which has ended is
// worse.
const endWithin = 10 * time.Second

// Lasting is a Screen that changes with time, and goes on showing when the program has ended.
type Lasting interface {
	Screen
	Refresher
	Ender
}

// Watched is a Screen that never keeps its caller waiting for long: a console without a reader, one that Ctrl-S has stopped, or a
// panel whose driver hangs must hold up neither a sale nor the other screens. One goroutine draws the newest view, as long as there
// is one. It remembers what kept its last picture from being seen. Make one with Watch.
type Watched struct {
	screen Lasting
	where  string
	limit  time.Duration

	mu    sync.Mutex
	draws bool  // run is at it
	next  *job  // the newest, not begun yet
	stuck bool  // a job took longer than limit and is still at it
	fault error // of the last drawing
	small bool  // a code was larger than the screen, until one has found its room
}

// job is one drawing; done is closed when err is set.
type job struct {
	draw func() error
	code bool // of a view with a code
	done chan struct{}
	err  error
}

var _ Lasting = (*Watched)(nil)

// Watch returns a Screen that shows what s shows, and waits for it at most limit. Where is what people call it.
func Watch(s Lasting, where string, limit time.Duration) *Watched {
	return &Watched{screen: s, where: where, limit: limit}
}

// Fault is ErrStuck, or the error of the last drawing, or else ErrTooSmall where the last code was larger than the screen; nil = a
// customer sees what is shown.
func (w *Watched) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stuck:
		return w.isStuck()
	case w.fault == nil && w.small:
		return ErrTooSmall
	}
	return w.fault
}

func (w *Watched) isStuck() error { return fmt.Errorf("%s: %w", w.where, ErrStuck) }

// Show implements Screen. ErrStuck, and the screen's own errors.
func (w *Watched) Show(v View) error {
	return w.do(&job{draw: func() error { return w.screen.Show(v) }, code: v.Code != nil}, true, w.limit)
}

// Refresh implements Refresher; a view that waits is not replaced by it.
func (w *Watched) Refresh() error { return w.do(&job{draw: w.screen.Refresh}, false, w.limit) }

// End implements Ender. A screen that is stuck is waited for, at most endWithin, and ended as soon as it takes pictures again.
func (w *Watched) End() error {
	return w.do(&job{draw: w.screen.End}, true, max(w.limit, endWithin))
}

// do waits for a drawing, but not again for a screen that is stuck, unless the caller waits longer than the others.
func (w *Watched) do(j *job, replace bool, within time.Duration) error {
	j.done = make(chan struct{})
	w.mu.Lock()
	if w.next == nil || replace {
		if w.next != nil {
			close(w.next.done) // overtaken
		}
		w.next = j
	} else {
		j = w.next
	}
	if !w.draws {
		w.draws = true
		go w.run()
	}
	stuck := w.stuck && within <= w.limit
	w.mu.Unlock()
	if stuck { // waited for once already
		return w.isStuck()
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-j.done:
		return j.err
	case <-timer.C:
		w.mu.Lock()
		w.stuck = true
		w.mu.Unlock()
		return w.isStuck()
	}
}

// run draws until nothing waits.
func (w *Watched) run() {
	for {
		w.mu.Lock()
		j := w.next
		w.next, w.draws = nil, j != nil
		w.mu.Unlock()
		if j == nil {
			return
		}
		j.err = j.draw()
		w.mu.Lock()
		w.stuck = false
		switch {
		case errors.Is(j.err, ErrTooSmall):
			w.small, w.fault = true, nil // a device that failed as well says so at the next refresh
		default:
			w.small = w.small && (j.err != nil || !j.code)
			w.fault = j.err
		}
		w.mu.Unlock()
		close(j.done)
	}
}
