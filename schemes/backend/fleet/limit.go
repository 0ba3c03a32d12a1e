package fleet

import (
	"context"
	"sync"
	"time"
)

// Limits of wrong codes. Fifty bits against a hundred tries a minute last longer than any code.
const (
	perAddress   = 10
	addressLock  = 15 * time.Minute
	altogether   = 100
	overallLock  = time.Minute
	maxAddresses = 10_000
	otherAddress = "many" // of those that come when maxAddresses are known
)

// limiter counts the wrong codes of each address, and of all. It is safe for concurrent use.
type limiter struct {
	now   func() time.Time
	mu    sync.Mutex
	ended *sync.Cond // a try was judged
	by    map[string]*count
	all   count
}

// count is the wrong codes since a moment, and the tries that are not judged yet.
type count struct {
	wrong, pending int
	until          time.Time
}

func newLimiter(now func() time.Time) *limiter {
	l := &limiter{now: now, by: map[string]*count{}}
	l.ended = sync.NewCond(&l.mu)
	return l
}

// take begins a try, whose caller must call judged. No more tries are under way at once than may be wrong, so tries at once
// gain nothing; a try waits for those before it, or ends with ctx. wait > 0 = the address, or all, must wait so long, and the try is
// not made.
func (l *limiter) take(ctx context.Context, address string) (judged func(wrong bool), wait time.Duration, err error) {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		now := l.now()
		one := l.of(address, now)
		if wait = max(one.locked(now, perAddress), l.all.locked(now, altogether)); wait > 0 {
			return nil, wait, nil
		}
		if one.wrong+one.pending < perAddress && l.all.wrong+l.all.pending < altogether {
			one.pending++
			l.all.pending++
			return func(wrong bool) { l.judged(one, wrong) }, 0, nil
		}
		l.ended.Wait()
	}
}

func (l *limiter) judged(one *count, wrong bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.pending--
	l.all.pending--
	if wrong {
		now := l.now()
		one.add(now, perAddress, addressLock)
		l.all.add(now, altogether, overallLock)
	}
	l.ended.Broadcast()
}

// of returns the count of an address.
func (l *limiter) of(address string, now time.Time) *count {
	if c := l.by[address]; c != nil {
		return c
	}
	if len(l.by) >= maxAddresses {
		for a, c := range l.by {
			if !now.Before(c.until) && c.pending == 0 {
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

// locked returns how long no try is made.
func (c *count) locked(now time.Time, limit int) time.Duration {
	if !now.Before(c.until) {
		c.wrong = 0
	}
	if c.wrong < limit {
		return 0
	}
	return c.until.Sub(now)
}

// add counts a try. The time runs from the first one, and anew from the one that locks.
func (c *count) add(now time.Time, limit int, lock time.Duration) {
	if c.wrong++; c.wrong == 1 || c.wrong == limit {
		c.until = now.Add(lock)
	}
}
