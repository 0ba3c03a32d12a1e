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

// pace draws the moments in another interval from now on. A shorter one asks at once what would only have been asked later.
func (p *poll) pace(now time.Time, every time.Duration) {
	if every < p.every && p.next.After(now.Add(every)) {
		p.next = now
	}
	p.every = every
}

// rounds are the two questions of an enrolled terminal to its fleet: for a newer configuration, which also says whether it is still the
// terminal, and what is to be told. They go out together, over one connection: each minute while something happens, a sale, an end of
// day, a change of the enrolment; else ever so often, because a line may be paid by its bytes. The first write after a rest asks at once.
type rounds struct {
	refresh, report poll
	pulse           pulse
}

// pulse is when something happened last.
type pulse struct {
	commits int64
	stamp   string
	at      time.Time // zero = the run has just begun
}

// beats returns whether something happened lately: a write into the journal, a change of the enrolment. busy = something is awaited.
func (p *pulse) beats(now time.Time, commits int64, stamp string, busy bool) bool {
	if busy || p.at.IsZero() || commits != p.commits || stamp != p.stamp {
		p.at, p.commits, p.stamp = now, commits, stamp
	}
	return now.Sub(p.at) < idleAfter
}

const (
	refreshEvery = time.Minute      // between two rounds, while something happens
	idleEvery    = 15 * time.Minute // and else
	idleAfter    = 10 * time.Minute // without a write
)

func newRounds() rounds {
	return rounds{refresh: poll{every: refreshEvery}, report: poll{every: 2 * refreshEvery}}
}

// look takes note of what happened, as pulse.beats.
func (o *rounds) look(now time.Time, commits int64, stamp string, busy bool) {
	every := idleEvery
	if o.pulse.beats(now, commits, stamp, busy) {
		every = refreshEvery
	}
	o.refresh.pace(now, every)
	o.report.every = 2 * every // it goes with the other, the first one too, unless that fails
	if o.report.next.IsZero() {
		o.report.next = now.Add(o.report.every)
	}
}

// refreshed notes the end of the first question: the other goes over its connection.
func (o *rounds) refreshed(now time.Time, failed error) {
	o.refresh.asked(now, failed)
	if failed == nil {
		o.report.next = now
	}
}

// spread is a pause, up to a fifth longer or shorter.
func spread(d time.Duration) time.Duration { return d - d/5 + rand.N(2*(d/5)+1) }
