package change

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// event is one event of a run: its name in the table of acts or of changes, and the numbers that say which.
type event struct {
	name    string
	a, b, c int
}

func (e event) String() string { return fmt.Sprintf("%s(%d,%d,%d)", e.name, e.a, e.b, e.c) }

// step is an act of a till, a client or a customer, and the change of the world before it, or under it.
type step struct {
	act, change event
	under       bool          // the change comes while the act runs
	at          time.Duration // so long after its beginning
}

func (s step) String() string {
	if s.under {
		return fmt.Sprintf("%v, after %v %v", s.act, s.at, s.change)
	}
	return fmt.Sprintf("%v, then %v", s.change, s.act)
}

// plan is a whole run.
type plan struct {
	seed  uint64
	run   int
	link  bool // a payment link is the method that the terminal takes first
	full  bool // the state lies on a file system of its own, where that can be made
	steps []step
}

func (p plan) String() string {
	lines := []string{fmt.Sprintf("SEED=%d RUN=%d, links as a method %v, a disk of its own %v", p.seed, p.run, p.link, p.full)}
	for i, s := range p.steps {
		lines = append(lines, fmt.Sprintf("  step %d: %v", i, s))
	}
	return strings.Join(lines, "\n")
}

// weighed is a row of a table of events.
type weighed struct {
	name   string
	weight int
}

// draw draws one event.
func draw(rng *rand.Rand, table []weighed) event {
	sum := 0
	for _, w := range table {
		sum += w.weight
	}
	n := rng.IntN(sum)
	for _, w := range table {
		if n -= w.weight; n < 0 {
			return event{w.name, rng.IntN(1 << 20), rng.IntN(1 << 20), rng.IntN(1 << 20)}
		}
	}
	panic("unreachable")
}

// drawn draws the run of a seed with this number.
func drawn(seed uint64, run int) plan {
	rng := rand.New(rand.NewPCG(seed, uint64(run)))
	p := plan{seed: seed, run: run, link: rng.IntN(6) == 0, full: rng.IntN(4) == 0}
	for range 4 + rng.IntN(5) {
		s := step{act: draw(rng, acts()), change: draw(rng, changes()), under: rng.IntN(2) == 0}
		if s.at = time.Duration(rng.IntN(700)) * time.Millisecond; rng.IntN(2) == 0 { // early moments as likely as late ones
			s.at = time.Duration(rng.IntN(80)) * time.Millisecond
		}
		p.steps = append(p.steps, s)
	}
	return p
}
