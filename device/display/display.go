package display

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/device/qr"
)

// View is all that stands on a screen. The zero value is an empty screen.
type View struct {
	Title      string    // the method's label
	Amount     string    // as people read it, e.g. "12.50 EUR"
	Text       string    // what is going on, or how the sale ended
	PushText   string    // the method's own line to the customer (S1 2.5)
	Code       *qr.Code  // nil = no code on the screen
	Until      time.Time // the code is taken off at this time; zero = no limit
	Background string    // #rgb or #rrggbb; anything else is ignored
	Sandbox    bool      // no real money: says so
	Language   string    // of our own words: "de", anything else is English
}

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

// ErrTooSmall is returned when a code is larger than the screen; everything but the code was drawn.
var ErrTooSmall = errors.New("code larger than the screen")

// Run refreshes a screen every second until ctx ends, and returns nil then. A screen that does not change with time
// is left alone. Errors of a refresh are given to failed, which may be nil.
func Run(ctx context.Context, s Screen, failed func(error)) error {
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
			if err := r.Refresh(); err != nil && failed != nil {
				failed(err)
			}
		}
	}
}

// Fan returns a Screen that shows every view on all of the screens, and joins their errors. No screen is fine.
func Fan(screens ...Screen) Screen { return fan(screens) }

type fan []Screen

var (
	_ Screen    = fan(nil)
	_ Refresher = fan(nil)
)

func (f fan) Show(v View) error {
	errs := make([]error, 0, len(f))
	for _, s := range f {
		errs = append(errs, s.Show(v))
	}
	return errors.Join(errs...)
}

func (f fan) Refresh() error {
	var errs []error
	for _, s := range f {
		if r, ok := s.(Refresher); ok {
			errs = append(errs, r.Refresh())
		}
	}
	return errors.Join(errs...)
}

// at returns the view as it stands at now: without its code when that is no longer valid.
func (v View) at(now time.Time) View {
	if v.Code != nil && !v.Until.IsZero() && !now.Before(v.Until) {
		v.Code = nil
		if v.Text == "" {
			v.Text = wordsFor(v.Language).expired
		}
	}
	return v
}

// clockSet is the first year in which a clock is believed.
const clockSet = 2024

// validUntil returns how long the code is valid: "valid until 12:03:40 / 27 s". Without seconds it does not change as time passes.
func (v View) validUntil(now time.Time, seconds bool) string {
	if v.Code == nil || v.Until.IsZero() {
		return ""
	}
	own, clock := wordsFor(v.Language), ""
	if v.Until.Year() >= clockSet {
		clock = " " + own.until + " " + v.Until.Format(time.TimeOnly)
	}
	left := fmt.Sprintf("%d s", (v.Until.Sub(now)+time.Second-1)/time.Second)
	switch {
	case !seconds:
		return own.valid + clock
	case clock == "":
		return own.valid + " " + own.validFor + " " + left
	}
	return own.valid + clock + " / " + left
}
