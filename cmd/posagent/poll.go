package main

import (
	"math/rand/v2"
	"time"
)

// poll is a question that is asked from time to time. The terminals of a fleet start together when the power comes back: the first
// question has its moment anywhere in the interval. Each pause is up to a fifth longer or shorter. Terminals lose their fleet together and
// find it together, too: after a failure the pause is up to half longer or shorter.
type poll struct {
	every time.Duration
	next  time.Time // zero = not known yet
}

// due returns whether it is time to ask. Who asks says so by asked.
func (p *poll) due(now time.Time) bool {
	if p.next.IsZero() {
		p.next = now.Add(rand.N(p.every))
		return false
	}
	return !now.Before(p.next)
}

// asked draws the next moment; now is when the answer came, or the failure.
func (p *poll) asked(now time.Time, failed error) {
	if failed != nil {
		p.next = now.Add(p.every/2 + rand.N(p.every))
		return
	}
	p.next = now.Add(spread(p.every))
}

// spread is a pause, up to a fifth longer or shorter.
func spread(d time.Duration) time.Duration { return d - d/5 + rand.N(2*(d/5)+1) }
