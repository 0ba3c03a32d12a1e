package display

import (
	"errors"
	"sync"
)

// Lasting is a Screen that changes with time, and goes on showing when the program has ended.
type Lasting interface {
	Screen
	Refresher
	Ender
}

// Watched is a Screen that remembers what kept its last picture from being seen. Make one with Watch.
type Watched struct {
	screen Lasting

	mu    sync.Mutex
	fault error // of the last drawing
	small error // ErrTooSmall, until a code has found its room
}

var _ Lasting = (*Watched)(nil)

// Watch returns a Screen that shows what s shows.
func Watch(s Lasting) *Watched { return &Watched{screen: s} }

// Fault is the error of the last drawing, or else ErrTooSmall where the last code was larger than the screen; nil = a customer sees
// what is shown.
func (w *Watched) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault != nil {
		return w.fault
	}
	return w.small
}

// Show implements Screen.
func (w *Watched) Show(v View) error {
	err := w.screen.Show(v)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(err, ErrTooSmall):
		w.small, w.fault = ErrTooSmall, nil // a device that failed as well says so at the next refresh
		return err
	case err == nil && v.Code != nil:
		w.small = nil
	}
	w.fault = err
	return err
}

// Refresh implements Refresher.
func (w *Watched) Refresh() error { return w.note(w.screen.Refresh()) }

// End implements Ender.
func (w *Watched) End() error { return w.note(w.screen.End()) }

func (w *Watched) note(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = err
	return err
}
