package webhooks

import "time"

// How many senders run at once: in all, of these for endpoints that have answered since the start, and for one such endpoint. Any other
// endpoint has one.
const (
	senders   = 8
	answering = 2
	perOrigin = 2
)

// An attempt that has waited for so long gives its sender back and waits in the lane, which holds so many. An endpoint whose last
// attempt ended there without a reply begins in the lane: it never has a sender again before it answers.
const (
	patience = 250 * time.Millisecond
	lane     = 64
)

// choice is among how many deliveries of one endpoint a look chooses. Those of a subject go one by one, in their order.
const choice = 32

// due is one delivery to be tried.
type due struct {
	id              int64
	origin, subject string
}

// ended is an attempt that has ended.
type ended struct {
	id      int64
	replied bool
}

// flight is an attempt that is under way.
type flight struct {
	due
	since time.Time
	slow  bool // it waits in the lane
}

// health is how an endpoint's last attempt went.
type health int

const (
	unknown health = iota // there was none since the start
	prompt                // it answered, or was refused at once
	silent                // no reply, and it took its time
)

// traffic is what is under way, and how the endpoints answered last. It belongs to Run.
type traffic struct {
	flights map[int64]*flight
	busy    map[string]int         // attempts of an endpoint
	busyFor map[[2]string]struct{} // endpoint and subject
	last    map[string]health
	wanted  bool // an endpoint that waits found no sender
}

func newTraffic() *traffic {
	return &traffic{flights: map[int64]*flight{}, busy: map[string]int{}, busyFor: map[[2]string]struct{}{}, last: map[string]health{}}
}

// count returns how many attempts hold a sender, and how many wait in the lane.
func (t *traffic) count(now time.Time) (active, slow int) {
	for _, f := range t.flights {
		if f.slow {
			slow++
		}
	}
	for _, f := range t.flights {
		if !f.slow && slow < lane && now.Sub(f.since) >= patience {
			f.slow = true
			slow++
		}
	}
	return len(t.flights) - slow, slow
}

// takes says whether an endpoint may have one more attempt now.
func (t *traffic) takes(origin string, now time.Time) bool {
	active, slow := t.count(now)
	most, free := 1, active < senders-answering
	switch t.last[origin] {
	case prompt:
		most, free = perOrigin, active < senders
	case silent:
		free = slow < lane
	}
	if t.busy[origin] >= most {
		return false
	}
	t.wanted = t.wanted || !free
	return free
}

// begin notes an attempt, false = it is under way, or one before it of the same subject is.
func (t *traffic) begin(j due, now time.Time) bool {
	key := [2]string{j.origin, j.subject}
	if _, is := t.busyFor[key]; is || t.flights[j.id] != nil {
		return false
	}
	t.busyFor[key] = struct{}{}
	t.busy[j.origin]++
	t.flights[j.id] = &flight{due: j, since: now, slow: t.last[j.origin] == silent}
	return true
}

// drop forgets an attempt that was not made, or has ended.
func (t *traffic) drop(id int64) {
	f := t.flights[id]
	if f == nil {
		return
	}
	delete(t.flights, id)
	delete(t.busyFor, [2]string{f.origin, f.subject})
	if t.busy[f.origin]--; t.busy[f.origin] == 0 {
		delete(t.busy, f.origin)
	}
}

// end notes how an attempt went.
func (t *traffic) end(e ended, now time.Time) {
	f := t.flights[e.id]
	t.last[f.origin] = prompt
	if !e.replied && now.Sub(f.since) >= patience {
		t.last[f.origin] = silent
	}
	t.drop(e.id)
}

// slowAt is when the next attempt gives its sender back, false = nothing waits for one. It is asked after each look.
func (t *traffic) slowAt() (at time.Time, ok bool) {
	wanted := t.wanted
	t.wanted = false
	for _, f := range t.flights {
		if next := f.since.Add(patience); wanted && !f.slow && (!ok || next.Before(at)) {
			at, ok = next, true
		}
	}
	return at, ok
}

// forget lets endpoints go that nothing is under way for, so that the list does not grow for ever.
func (t *traffic) forget() {
	for origin := range t.last {
		if t.busy[origin] == 0 {
			delete(t.last, origin)
		}
	}
}
