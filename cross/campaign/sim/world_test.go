package sim

import (
	"container/heap"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"posagent/cross/referee"
)

// event is something that will happen.
type event struct {
	at   time.Duration
	seq  int
	do   func()
	dead bool
}

// stop takes an event off; nil is none.
func (e *event) stop() {
	if e != nil {
		e.dead = true
	}
}

type queue []*event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}

// line of the trace.
type entry struct {
	at   time.Duration
	who  string
	what string
	n    int64
}

// world is one day of one terminal.
type world struct {
	seed   uint64
	rng    *rand.Rand
	now    time.Duration
	seq    int
	queue  queue
	trace  []entry
	bad    []string
	calm   bool          // the day is over: nothing goes wrong any more
	wall   time.Duration // what the wall clock is wrong by
	diskAt time.Duration // last trouble of the store

	returns bool // registers ask for refunds and reversals
	person  bool // one is at the terminal
	padAway bool // whose keypad is unplugged

	odds  odds
	hooks hooks

	bank    *bank
	referee *referee.Referee
	net     *network
	term    *terminal
	tills   []*register
	callers []*till // of protocols beside ZVT
	stats   stats
}

// odds are how often things go wrong on this day.
type odds struct {
	line, slow, mute, refuse   float64 // register line and register
	net, late, twice, bad      float64 // backend link and service
	disk, crash, outage, clock float64
	odd                        float64 // wallets that do not simply pay
	broken                     float64 // codes that cannot be shown
	person                     float64 // a person who does not simply answer
}

// stats are the figures of a campaign.
type stats struct {
	Asked, Accepted, Approved, Undone, Unheard, Excepted, Crashes, Outages, Lost, Sent, Joined, Steps int
	Questions, Answered                                                                               int
	Backs, Back, Running                                                                              int // refunds and reversals: accepted, done, told "in progress"
}

func (s *stats) add(o stats) {
	s.Asked += o.Asked
	s.Accepted += o.Accepted
	s.Approved += o.Approved
	s.Undone += o.Undone
	s.Unheard += o.Unheard
	s.Excepted += o.Excepted
	s.Crashes += o.Crashes
	s.Outages += o.Outages
	s.Lost += o.Lost
	s.Sent += o.Sent
	s.Joined += o.Joined
	s.Steps += o.Steps
	s.Questions += o.Questions
	s.Answered += o.Answered
	s.Backs += o.Backs
	s.Back += o.Back
	s.Running += o.Running
}

// after schedules; d <= 0 is after everything that is due now.
func (w *world) after(d time.Duration, do func()) *event {
	w.seq++
	e := &event{at: w.now + max(d, 0), seq: w.seq, do: do}
	heap.Push(&w.queue, e)
	return e
}

// run lets time pass until then.
func (w *world) run(until time.Duration) {
	for len(w.queue) > 0 && w.queue[0].at <= until && len(w.bad) == 0 {
		e := heap.Pop(&w.queue).(*event)
		if e.dead {
			continue
		}
		w.now = e.at
		w.stats.Steps++
		e.do()
	}
	w.now = max(w.now, until)
}

// hit decides a fault; there are none once the day is over.
func (w *world) hit(p float64) bool { return p > 0 && !w.calm && w.rng.Float64() < p }

// between draws a duration.
func (w *world) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(w.rng.Int64N(int64(hi-lo)+1))
}

// exp draws a duration with a mean, bounded.
func (w *world) exp(mean, most time.Duration) time.Duration {
	return min(time.Duration(w.rng.ExpFloat64()*float64(mean)), most)
}

func (w *world) note(who, what string, n int64) {
	w.trace = append(w.trace, entry{w.now, who, what, n})
}

// fail reports a violation.
func (w *world) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.note("CHECK", text, 0)
	w.bad = append(w.bad, text)
}

func (w *world) clock() time.Time { return epoch.Add(w.now + w.wall) }

var epoch = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// hash is the fingerprint of the day.
func (w *world) hash() uint64 {
	h := fnv.New64a()
	for _, e := range w.trace {
		fmt.Fprintf(h, "%d %s %s %d\n", e.at, e.who, e.what, e.n)
	}
	return h.Sum64()
}

// story is the trace for people: what happened to the first sale that failed, else the end of the day.
func (w *world) story() string {
	var b strings.Builder
	var n int64
	lines := w.trace[max(0, len(w.trace)-60):]
	if _, err := fmt.Sscanf(w.bad[0], "sale %d", &n); err == nil {
		var first time.Duration
		lines = nil
		for _, e := range w.trace {
			if e.n == n && first == 0 {
				first = e.at
			}
		}
		for _, e := range w.trace {
			if e.n == n || e.n == 0 && e.at > first-20*time.Second && e.at < first+3*time.Minute || e.who == "CHECK" {
				lines = append(lines, e)
			}
		}
	}
	if len(lines) > 160 {
		lines = append(lines[:80:80], lines[len(lines)-80:]...)
	}
	for _, e := range lines {
		fmt.Fprintf(&b, "%14s %-6s %s #%d\n", e.at.Round(time.Millisecond), e.who, e.what, e.n)
	}
	return b.String()
}
