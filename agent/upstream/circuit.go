package upstream

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	openAfter  = 5 // failed calls in a row
	firstPause = time.Second
	longest    = 20 * time.Second
)

// Stats counts calls, not tries.
type Stats struct {
	Calls, Failures int64
	Row             int       // failures since the last success
	Open            bool      // nothing is sent now
	Since           time.Time // when the circuit opened; zero when closed
	LastOK          time.Time
	LastFailure     time.Time
	Reason          string // of the last failure; no secrets
}

// circuit keeps calls away from a backend that does not answer.
type circuit struct {
	now func() time.Time

	mu      sync.Mutex
	st      Stats
	pauses  int
	until   time.Time
	probing bool
}

// enter says whether a call may be made, and if not, for how long.
func (c *circuit) enter() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.st.Open {
		if left := c.until.Sub(c.now()); left > longest { // the clock went back
			c.until = c.now()
		} else if left > 0 {
			return left, false
		}
		if c.probing {
			return firstPause, false
		}
		c.probing = true
	}
	c.st.Calls++
	return 0, true
}

// leave ends a call that proved nothing.
func (c *circuit) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing = false
}

func (c *circuit) ok() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing, c.pauses = false, 0
	c.st.Row, c.st.Open, c.st.Since, c.st.LastOK = 0, false, time.Time{}, c.now()
}

func (c *circuit) failed(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	probe := c.probing
	c.probing = false
	c.st.Row++
	c.st.Failures++
	c.st.LastFailure, c.st.Reason = now, reason
	if c.st.Row < openAfter || c.st.Open && !probe {
		return
	}
	if !c.st.Open {
		c.st.Open, c.st.Since = true, now
	}
	pause := longest
	if c.pauses < 5 {
		pause = min(firstPause<<c.pauses, longest)
	}
	c.pauses++
	c.until = now.Add(pause/2 + rand.N(pause/2+1))
}

// answered says that a call was, once.
func (c *circuit) answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.st.LastOK.IsZero()
}

func (c *circuit) healthy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.st.Row == 0
}

func (c *circuit) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.st
}
