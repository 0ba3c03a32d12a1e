package port

import (
	"context"
	"net/http"
	"sync"
	"time"

	"posagent/schemes/wire"
)

// crowd paces what nobody has to be served: requests that prove nothing, and strangers' connections. Their answers come later,
// one after the other, and cost the terminal no more of its processor however many ask.
type crowd struct {
	mu    sync.Mutex
	every time.Duration // between two
	ahead time.Duration // how far some may be ahead of the pace
	next  time.Time
}

// newCrowd paces to a rate a second, of which some may come at once.
func newCrowd(rate, burst int) *crowd {
	every := time.Second / time.Duration(rate)
	return &crowd{every: every, ahead: every * time.Duration(burst)}
}

// turn is how long one has to wait for its turn.
func (c *crowd) turn() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if first := now.Add(-c.ahead); c.next.Before(first) {
		c.next = first
	}
	c.next = c.next.Add(c.every)
	return c.next.Sub(now)
}

// wait waits for a turn, or until ended. A nil crowd has no pace.
func (c *crowd) wait(ended <-chan struct{}) {
	if c == nil {
		return
	}
	wait := c.turn()
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	}
}

// crowdKey is where the context of a request carries the crowd that it is of while it proves nothing.
type crowdKey struct{}

func withCrowd(c *crowd) context.Context {
	return context.WithValue(context.Background(), crowdKey{}, c)
}

func crowdOf(r *http.Request) *crowd {
	c, _ := r.Context().Value(crowdKey{}).(*crowd)
	return c
}

// anybody serves what needs no token: clients at once, others at the pace of strangers.
func (a *api) anybody(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if a.shown(r) == nil {
			crowdOf(r).wait(r.Context().Done())
		}
		h(w, r)
	}
}

// proving serves what proves by itself who asks, as the hooks do: what it refuses is answered at the pace of strangers.
func proving(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&judged{w, r}, r) })
}

// judged sees whether a request was refused.
type judged struct {
	http.ResponseWriter
	r *http.Request
}

// WriteHeader implements http.ResponseWriter.
func (j *judged) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		crowdOf(j.r).wait(j.r.Context().Done())
	}
	j.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (j *judged) Unwrap() http.ResponseWriter { return j.ResponseWriter }

// What a client's reads of the terminal itself may take: one at a time, and a tenth of a processor.
const (
	restFor    = 9                // times as long as the read took
	restAtMost = time.Second      // whatever it took
	turnWithin = 10 * time.Second // that a read waits for its turn
)

// leisurely serves a read of the terminal itself when the client's earlier ones are over, and lets the next one wait: however many
// a client asks for, a register's sale has the processor.
func (c *account) leisurely(fail shape, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(turnWithin)
		defer timer.Stop()
		select {
		case c.reads <- struct{}{}:
		case <-r.Context().Done():
			return
		case <-timer.C:
			fail(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many reads at a time", RetryAfter: time.Second})
			return
		}
		began := time.Now()
		defer func() {
			time.AfterFunc(min(restFor*time.Since(began), restAtMost), func() { <-c.reads })
		}()
		h.ServeHTTP(w, r)
	})
}
