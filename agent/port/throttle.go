package port

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// throttle paces requests without a proof, and the connections of such. Their answers come later,
// one after the other, so that a flood of them does not use up the processor.
type throttle struct {
	mu    sync.Mutex
	every time.Duration // between two
	ahead time.Duration // how far some may be ahead of the pace
	most  time.Duration // that one waits at most, 0 = for its turn
	next  time.Time
}

// newThrottle paces to a rate a second, of which some may come at once.
func newThrottle(rate, burst int) *throttle {
	every := time.Second / time.Duration(rate)
	return &throttle{every: every, ahead: every * time.Duration(burst)}
}

// turn is how long one has to wait for its turn.
func (t *throttle) turn() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if first := now.Add(-t.ahead); t.next.Before(first) {
		t.next = first
	}
	t.next = t.next.Add(t.every)
	if last := now.Add(t.most); t.most > 0 && t.next.After(last) {
		t.next = last
	}
	return t.next.Sub(now)
}

// wait waits for a turn, or until ended. A nil throttle has no pace.
func (t *throttle) wait(ended <-chan struct{}) {
	if t == nil {
		return
	}
	wait := t.turn()
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

// throttleKey is where the context of a request carries the throttle that it waits for while it
// proves nothing.
type throttleKey struct{}

func withThrottle(t *throttle) context.Context {
	return context.WithValue(context.Background(), throttleKey{}, t)
}

func throttleOf(r *http.Request) *throttle {
	t, _ := r.Context().Value(throttleKey{}).(*throttle)
	return t
}

// selfProving serves a route that checks the proof itself, as the hooks do: what it refuses is
// answered at the pace of unproven requests.
func selfProving(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&selfProvingWriter{w, r}, r) })
}

// selfProvingWriter sees whether a request was refused.
type selfProvingWriter struct {
	http.ResponseWriter
	r *http.Request
}

// WriteHeader implements http.ResponseWriter.
func (w *selfProvingWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		throttleOf(w.r).wait(w.r.Context().Done())
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *selfProvingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
