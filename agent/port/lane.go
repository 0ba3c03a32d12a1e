package port

import (
	"fmt"
	"net/http"
	"time"
)

// A probe's lane: an answer is good for a moment, and a request waits little longer than another one of its kind.
const (
	laneRate = 100 // answers a second, of which as many may come at once
	laneMost = 40 * time.Millisecond
	laneGood = 10 * time.Millisecond
)

// lane answers a probe of a supervisor, who shows no token, beside any flood of requests: at a pace of its own, so that other strangers
// take nothing from it, and with an answer that those who ask at once share, so that a flood of probes costs little and none waits long.
type lane struct {
	*auth
	check func() error
	pace  *throttle

	turn  chan struct{} // has one place, for who looks
	err   error
	until time.Time // of err
}

func newLane(a *auth, check func() error) *lane {
	pace := newThrottle(laneRate, laneRate)
	pace.most = laneMost
	return &lane{auth: a, check: check, pace: pace, turn: make(chan struct{}, 1)}
}

// serve answers whether the check passes.
func (l *lane) serve(w http.ResponseWriter, r *http.Request) {
	l.conns.follows(r)
	if l.clientOf(r) == nil {
		l.pace.wait(r.Context().Done())
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := l.look(); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ok:", err)
		return
	}
	fmt.Fprintln(w, "ok")
}

// look makes the check, or says what it has said just now.
func (l *lane) look() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if time.Now().After(l.until) {
		l.err = l.check()
		l.until = time.Now().Add(laneGood)
	}
	return l.err
}
