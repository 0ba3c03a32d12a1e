package main

import (
	"context"
	"sync/atomic"
	"time"

	"posagent/agent/upstream"
)

// lookout notices that the backend is away while the terminal asks it for nothing: the next customer must not be the one to find out. It
// connects from time to time, and hears what the operator's service meets. Either only raises a doubt: the backend is then asked, and
// its answer alone says what is wrong.
type lookout struct {
	poll  poll
	pulse pulse
	met   atomic.Pointer[time.Time] // when something was not reached last; nil = never
}

const (
	touchEvery  = time.Minute     // between two looks, while something happens
	touchIdle   = 5 * time.Minute // and else: some hundred bytes each, a tenth of a megabyte a day
	touchWithin = 10 * time.Second
)

func newLookout() *lookout { return &lookout{poll: poll{every: touchEvery}} }

// missed notes an error of something that is asked over the same network.
func (o *lookout) missed(err error) {
	if kind, _ := upstream.FaultOf(err); kind.Away() || kind == upstream.ProxyDown {
		now := time.Now()
		o.met.Store(&now)
	}
}

// since returns whether something was missed after a moment.
func (o *lookout) since(answered time.Time) bool {
	if o == nil {
		return false
	}
	met := o.met.Load()
	return met != nil && met.After(answered)
}

// due returns whether it is time for a look; heard is when the last call ended, which shows as much as a look does.
func (o *lookout) due(now, heard time.Time, commits int64) bool {
	every := touchIdle
	if o.pulse.beats(now, commits, "", false) {
		every = touchEvery
	}
	o.poll.pace(now, every)
	if !o.poll.due(now) {
		return false
	}
	o.poll.asked(now, nil)
	return now.Sub(heard) >= every/2
}

// lookOut looks for the backend until ctx ends.
func (f facts) lookOut(ctx context.Context, commits func() int64) error {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if st := f.schemes.Stats(); f.look.due(time.Now(), later(st.LastOK, st.LastFailure), commits()) {
			within, cancel := context.WithTimeout(ctx, touchWithin)
			if err := f.schemes.Touch(within); err != nil && ctx.Err() == nil {
				f.look.missed(err)
			}
			cancel()
		}
	}
}

// later is the later one of two moments.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
