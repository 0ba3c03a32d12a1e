package display

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"posagent/device/display/framebuffer"
	"posagent/device/display/layout"
	"posagent/device/display/scene"
)

// Framebuffer shows views on the panel of a Linux framebuffer, or in a file that looks like one.
type Framebuffer struct {
	Now func() time.Time // set before the first Show; NewFramebuffer sets time.Now

	rotate int
	dev    *framebuffer.Device
	canvas *canvas

	mu        sync.Mutex
	view      View
	shown     bool // a view was
	ended     bool
	refreshes int
}

var (
	_ Screen    = (*Framebuffer)(nil)
	_ Refresher = (*Framebuffer)(nil)
	_ Ender     = (*Framebuffer)(nil)
)

// NewFramebuffer returns a screen on a framebuffer. It opens nothing before the first Show.
func NewFramebuffer(cfg framebuffer.Config) *Framebuffer {
	return &Framebuffer{Now: time.Now, rotate: cfg.Rotate, dev: framebuffer.New(cfg), canvas: newCanvas()}
}

// wholeEvery is after how many refreshes all of the picture is written: something else may draw on the panel, or it was pulled
// and is back.
const wholeEvery = 10

// Show draws all of a view. ErrTooSmall, with ErrUnseen where that is a code, and errors of the device; the next Show or Refresh opens it again.
func (f *Framebuffer) Show(v View) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil
	}
	f.view, f.shown, f.refreshes = v, true, 0
	small, err := f.draw(true)
	if small != nil && v.Code != nil {
		w, h, _ := f.dev.Size() // it was drawn
		small = fmt.Errorf("%w: %d modules a side, at %d dots each or more, beside the amount on a panel of %d x %d dots: %w", ErrUnseen, v.Code.Size(), layout.MinModule, w, h, small)
	}
	return errors.Join(small, err)
}

// Refresh draws what has changed: the countdown, and a code that is no longer valid.
func (f *Framebuffer) Refresh() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shown || f.ended {
		return nil
	}
	f.refreshes++
	_, err := f.draw(f.refreshes%wholeEvery == 0) // Show has said what is too small
	return err
}

// End implements Ender.
func (f *Framebuffer) End() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shown || f.ended {
		return nil
	}
	f.view, f.ended = last(f.view), true
	_, err := f.draw(true)
	return errors.Join(err, f.dev.Close())
}

// draw returns ErrTooSmall, and what kept the picture from the panel.
func (f *Framebuffer) draw(whole bool) (small, err error) {
	w, h, err := f.dev.Size()
	if err != nil {
		return nil, err
	}
	pic, small := f.canvas.dots(f.view, f.Now(), layout.Geometry{W: w, H: h, Rotate: f.rotate}, false)
	if pic == nil {
		return nil, small
	}
	if err := f.dev.Write(pic, whole); err != nil {
		return small, err
	}
	if k := f.view.Kind; whole && k != scene.Idle && k != scene.NotReady && k != scene.Starting { // somebody stands before it
		f.dev.Light()
	}
	return small, nil
}
