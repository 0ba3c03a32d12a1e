package display

import (
	"context"
	"errors"
	"sync"
	"time"

	"posagent/device/display/layout"
	"posagent/device/display/scene"
)

// View is all that stands on a screen. The zero value is an empty screen.
type View = scene.Scene

// Screen shows views. Every method is safe for concurrent use.
type Screen interface {
	// Show replaces what is on the screen. An error means that the customer may see nothing, or the old view.
	Show(v View) error
}

// Refresher is a Screen that changes with time.
type Refresher interface {
	// Refresh draws the current view again: a new countdown, and no code that is no longer valid.
	Refresh() error
}

// Ender is a Screen that goes on showing its last view when the program has ended.
type Ender interface {
	// End takes what is for a customer off the screen for good: nothing is shown after it.
	End() error
}

// ErrTooSmall is returned when a code, an amount or a choice is larger than the screen; everything else was drawn.
var ErrTooSmall = layout.ErrTooSmall

// ErrUnseen is returned, with ErrTooSmall, by the panel before which the customer stands, when it has no room for a code: nobody can
// scan it. A console, a picture file or a page is one of several ways to a code, and may be too small for it.
var ErrUnseen = errors.New("nobody can scan the code")

// Run refreshes a screen every second until ctx ends; then it ends the screen and returns nil. A screen that does not change with
// time is left alone until then. An error is given to failed, which may be nil, once, until there is another or none.
func Run(ctx context.Context, s Screen, failed func(error)) error {
	last := ""
	note := func(err error) {
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != last && err != nil && failed != nil {
			failed(err)
		}
		last = text
	}
	if e, ok := s.(Ender); ok {
		defer func() { note(e.End()) }()
	}
	r, ok := s.(Refresher)
	if !ok {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			note(r.Refresh())
		}
	}
}

// Fan returns a Screen that shows every view on all of the screens, and joins their errors. No screen is fine.
func Fan(screens ...Screen) Screen { return fan(screens) }

type fan []Screen

var (
	_ Screen    = fan(nil)
	_ Refresher = fan(nil)
	_ Ender     = fan(nil)
)

func (f fan) Show(v View) error { return f.each(func(s Screen) error { return s.Show(v) }) }

func (f fan) Refresh() error {
	return f.each(func(s Screen) error {
		if r, ok := s.(Refresher); ok {
			return r.Refresh()
		}
		return nil
	})
}

func (f fan) End() error {
	return f.each(func(s Screen) error {
		if e, ok := s.(Ender); ok {
			return e.End()
		}
		return nil
	})
}

// each does the same to all screens at once: none waits for another.
func (f fan) each(do func(Screen) error) error {
	errs := make([]error, len(f))
	var all sync.WaitGroup
	for i, s := range f {
		all.Go(func() { errs[i] = do(s) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// last is what a screen shows once the program has ended: that the terminal is not ready, and nothing of a sale.
func last(v View) View {
	return View{Kind: scene.NotReady, Title: "", Sandbox: v.Sandbox, Language: v.Language}
}
