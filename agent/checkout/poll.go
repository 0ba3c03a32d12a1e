package checkout

import (
	"time"

	"posagent/schemes/methods"
)

// Poll is the pace of status reads. The zero value reads every 2 s.
type Poll struct {
	Floor time.Duration // never faster than this; 0 = 2 s (S1 2.4 services ask for it)
	Mean  time.Duration // the method's usual time until a customer has paid; 0 = 10 s
}

const (
	defaultFloor = 2 * time.Second
	slowest      = 10 * time.Second // while a customer waits
	watchPause   = 30 * time.Second // while no customer waits
	longestAfter = 5 * time.Minute  // the most a Retry-After is worth
)

// PollOf is the pace of a method.
func PollOf(d methods.Definition, floor time.Duration) Poll {
	return Poll{Floor: floor, Mean: methods.MeanDelay(d)}
}

func (p Poll) floor() time.Duration {
	if p.Floor <= 0 {
		return defaultFloor
	}
	return p.Floor
}

// After is the pause before the next read of a sale that is elapsed old: the floor at first, so that the code comes soon, and
// from half to twice the mean delay; in between twice the floor; later a growing pause up to 10 s. retryAfter is honoured where
// it is longer, up to 5 minutes.
func (p Poll) After(elapsed time.Duration, haveCode bool, retryAfter time.Duration) time.Duration {
	floor, mean := p.floor(), p.Mean
	if mean <= 0 {
		mean = 10 * time.Second
	}
	pause := floor
	switch {
	case !haveCode, elapsed < floor:
	case elapsed < mean/2:
		pause = min(2*floor, max(floor, mean/2-elapsed))
	case elapsed <= 2*mean:
	default:
		pause = min(max(slowest, floor), 2*floor+(elapsed-2*mean)/8)
	}
	return max(pause, min(retryAfter, longestAfter))
}

// watch is the pause while no customer waits for the answer: 30 s, or what is left of the window, not below the floor.
func (p Poll) watch(left, retryAfter time.Duration) time.Duration {
	pause := watchPause
	if left > 0 {
		pause = min(watchPause, left)
	}
	return max(pause, p.floor(), min(retryAfter, longestAfter))
}

// unanswered is the pause after the question of a watch that got no answer, for the silence-th time in a row: from 2 s doubling
// to most. There may be many such sales, and what they wait for is an answer.
func (p Poll) unanswered(silence int, most, retryAfter time.Duration) time.Duration {
	pause := most
	if n := max(silence, 1) - 1; n < 10 {
		pause = min(defaultFloor<<n, most)
	}
	return max(pause, p.floor(), min(retryAfter, longestAfter))
}
