package meter

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"posagent/store"
)

// Meter counts. Make one with New; its methods are safe for concurrent use.
type Meter struct {
	mu       sync.Mutex
	now      func() time.Time
	requests map[route]*served
	flying   int // requests that have not ended
	commits  histogram
	again    uint64            // runs of closures beyond the first
	failures map[string]uint64 // of writes, by reason
	attempts map[string]uint64 // to deliver, by outcome
	sweeps   map[string]*sweep
	leases   map[string]bool
}

// sweep is what became of a room's looks for what is due.
type sweep struct {
	last   time.Time // the last one that succeeded
	failed uint64
}

// New makes a Meter. now may be nil.
func New(now func() time.Time) *Meter {
	if now == nil {
		now = time.Now
	}
	m := &Meter{
		now: now, requests: map[route]*served{}, failures: map[string]uint64{}, attempts: map[string]uint64{},
		sweeps: map[string]*sweep{}, leases: map[string]bool{},
	}
	for _, r := range reasons {
		m.failures[r.word] = 0 // so that an increase is seen at the first one
	}
	for _, outcome := range []string{delivered, refused} {
		m.attempts[outcome] = 0
	}
	return m
}

// reasons are the words for errors of a write.
var reasons = [...]struct {
	word string
	err  error
}{
	{"unknown", store.ErrCommitUnknown}, {"busy", store.ErrBusy}, {"full", store.ErrFull}, {"read_only", store.ErrReadOnly},
	{"damaged", store.ErrDamaged}, {"io", store.ErrIO}, {"cancelled", context.Canceled}, {"late", context.DeadlineExceeded},
}

// Wrote counts a write: how long its caller waited, how often its closure ran, and how it ended. An error of the closure's own is the
// answer to a request, no failure.
func (m *Meter) Wrote(took time.Duration, runs int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.again += uint64(max(0, runs-1))
	if err == nil {
		m.commits.add(took)
		return
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			m.failures[r.word]++
			return
		}
	}
}

// What becomes of an attempt to deliver.
const (
	delivered = "delivered"
	refused   = "failed"
)

// Tried counts an attempt to deliver a message.
func (m *Meter) Tried(acknowledged bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if acknowledged {
		m.attempts[delivered]++
	} else {
		m.attempts[refused]++
	}
}

// Swept counts a look of a room for what is due.
func (m *Meter) Swept(room string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sweeps[room]
	if s == nil {
		s = &sweep{}
		m.sweeps[room] = s
	}
	if err != nil {
		s.failed++
		return
	}
	s.last = m.now()
}

// Holds says whether this process works on a task.
func (m *Meter) Holds(task string, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leases[task] = held
}

// Write writes what was counted.
func (m *Meter) Write(p *Page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writeRequests(p)
	p.One("commits_total", Counter, "Writes to the books that were committed.", float64(m.commits.count()))
	p.Head("commit_duration_seconds", "histogram", "How long a write to the books took, waiting and repeats included.")
	m.commits.write(p, "commit_duration_seconds")
	p.One("commit_reruns_total", Counter, "Runs of writes beyond the first: others stood in the way.", float64(m.again))
	p.Head("commit_failures_total", Counter, "Writes that the books did not take, by reason. unknown: the commit's answer was lost.")
	for _, r := range reasons {
		p.Value("commit_failures_total", float64(m.failures[r.word]), "reason", r.word)
	}
	p.Head("delivery_attempts_total", Counter, "Attempts to send webhooks, by outcome.")
	for _, outcome := range sorted(m.attempts) {
		p.Value("delivery_attempts_total", float64(m.attempts[outcome]), "outcome", outcome)
	}
	p.Head("leases_held", Gauge, "1 = this process does the task: sending webhooks (deliver), or letting time pass for a kind of payment.")
	for _, task := range sorted(m.leases) {
		p.Value("leases_held", Bit(m.leases[task]), "task", task)
	}
	p.Head("sweep_last_success_timestamp_seconds", Gauge, "When this process last looked for what is due, without an error.")
	for _, room := range sorted(m.sweeps) {
		p.Value("sweep_last_success_timestamp_seconds", Seconds(m.sweeps[room].last), "task", room)
	}
	p.Head("sweep_failures_total", Counter, "Looks for what is due that ended in an error.")
	for _, room := range sorted(m.sweeps) {
		p.Value("sweep_failures_total", float64(m.sweeps[room].failed), "task", room)
	}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
