package port

import (
	"sync"
	"time"
)

// The limits of one client where Options say nothing.
const (
	defaultRate     = 1000 // requests per second; as many may come at once
	defaultParallel = 48   // requests in flight
)

// pace is what one client has left.
type pace struct {
	mu     sync.Mutex
	rate   float64 // requests per second
	most   int     // in flight
	left   float64
	last   time.Time
	flying int
}

func newPace(rate, parallel int) *pace {
	if rate <= 0 {
		rate = defaultRate
	}
	if parallel <= 0 {
		parallel = defaultParallel
	}
	return &pace{rate: float64(rate), most: parallel, left: float64(rate)}
}

// begin lets a request in, or says when to come back. It is monotonic time that counts.
func (p *pace) begin() (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.last.IsZero() {
		p.left = min(p.left+now.Sub(p.last).Seconds()*p.rate, p.rate)
	}
	p.last = now
	switch {
	case p.left < 1:
		return max(time.Duration((1-p.left)/p.rate*float64(time.Second)), time.Millisecond), false
	case p.flying >= p.most:
		return time.Second, false
	}
	p.left--
	p.flying++
	return 0, true
}

func (p *pace) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying--
}
