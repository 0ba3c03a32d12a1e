package fleet

import (
	"sync"
	"time"
)

// Limits of wrong codes. They bound what a stranger makes the log and the operator's eyes do; what keeps a code from being guessed
// are its fifty bits.
const (
	perAddress   = 10
	addressLock  = 15 * time.Minute
	altogether   = 100
	overallLock  = time.Minute
	maxAddresses = 10_000
	otherAddress = "many" // of those that come when maxAddresses are known
	perCode      = 10     // other boxes' serial numbers under one code that is bound to a box
	codeLock     = 10 * time.Second
)

// limiter counts the wrong codes of each address and of all, and the wrong boxes of each code. Its lock is for wrong codes alone: a
// good one is never counted and never kept waiting by those of others. It is safe for concurrent use.
type limiter struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[string]*count
	all count
	of  map[string]*count // by enrolment, so that only existing codes have an entry
}

// count is the wrong ones since a moment.
type count struct {
	wrong int
	until time.Time
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, by: map[string]*count{}, of: map[string]*count{}}
}

// wrong counts a wrong code of an address. wait > 0 = there were too many from there, or altogether, and this one is not counted.
func (l *limiter) wrong(address string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	one := l.address(address, now)
	if wait = max(one.locked(now, perAddress), l.all.locked(now, altogether)); wait > 0 {
		return wait
	}
	one.add(now, perAddress, addressLock)
	l.all.add(now, altogether, overallLock)
	return 0
}

// box counts a box that shows a good code bound to one box. Serial numbers are printed on boxes and can be guessed, so with too many
// wrong ones the code takes one a wait: who does not know the code cannot bring that about. wait > 0 = not now.
func (l *limiter) box(id string, right bool) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.of[id]
	if c == nil && right {
		return 0
	}
	if c == nil {
		c = &count{}
		l.of[id] = c
	}
	now := l.now()
	if c.wrong >= perCode && now.Before(c.until) {
		return c.until.Sub(now)
	}
	if right {
		delete(l.of, id)
		return 0
	}
	c.wrong++
	c.until = now.Add(codeLock)
	return 0
}

// address returns the count of an address.
func (l *limiter) address(address string, now time.Time) *count {
	if c := l.by[address]; c != nil {
		return c
	}
	if len(l.by) >= maxAddresses {
		for a, c := range l.by {
			if !now.Before(c.until) {
				delete(l.by, a)
			}
		}
		if len(l.by) >= maxAddresses {
			address = otherAddress
		}
	}
	if l.by[address] == nil {
		l.by[address] = &count{}
	}
	return l.by[address]
}

// locked returns how long no wrong one is counted.
func (c *count) locked(now time.Time, limit int) time.Duration {
	if !now.Before(c.until) {
		c.wrong = 0
	}
	if c.wrong < limit {
		return 0
	}
	return c.until.Sub(now)
}

// add counts a wrong one. The time runs from the first one, and anew from the one that locks.
func (c *count) add(now time.Time, limit int, lock time.Duration) {
	if c.wrong++; c.wrong == 1 || c.wrong == limit {
		c.until = now.Add(lock)
	}
}
