package outbox

import (
	"time"

	"posagent/schemes/wire"
)

const (
	firstWait  = time.Second
	shortCap   = 20 * time.Second // back-off while the service answers, and between cheap probes
	longCap    = 5 * time.Minute  // back-off otherwise, and the most a Retry-After is worth
	quickTries = 3
	urgentGap  = 2 * time.Second // between two urgent operations while their service is down
)

// service is what is known about one backend service, in memory only.
type service struct {
	name    string
	down    bool
	refused bool
	probing bool
	urgent  bool  // an urgent operation is under way while it is down
	after   int64 // running time before which no other urgent one follows it
	fails   int
	next    int64 // running time of the next probe
	okRun   int64 // running time of the last answer; 0 = none yet
	reason  string
	kinds   []string // never changed after NewOutbox
}

// Service is the outbox's view of a backend service, for status and doctor.
type Service struct {
	Name    string
	Down    bool   // does not answer, or asks for a pause: probed
	Refused bool   // does not accept our credentials
	Reason  string // why; "" when up
	Kinds   []string
}

// Services lists the services in the order of the kinds.
func (o *Outbox) Services() []Service {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]Service, 0, len(o.names))
	for _, n := range o.names {
		s := o.services[n]
		list = append(list, Service{Name: n, Down: s.down, Refused: s.refused, Reason: s.reason, Kinds: s.kinds})
	}
	return list
}

// backoff is 1 s, 2 s, 4 s … up to limit, spread.
func (o *Outbox) backoff(n int, limit time.Duration) time.Duration {
	d := limit
	if n < 1 {
		n = 1
	}
	if n < 16 {
		d = min(firstWait<<(n-1), limit)
	}
	return max(min(o.jitter(d), limit), firstWait/4)
}

func (s *service) up(run int64) {
	s.down, s.refused, s.fails, s.reason, s.okRun = false, false, 0, "", max(run, 1)
}

// fail notes that the service did not serve us and says when to probe it.
func (o *Outbox) fail(s *service, run int64, refused bool, after time.Duration, reason string) {
	limit := longCap
	if o.probe != nil {
		limit = shortCap
	}
	s.fails++
	s.down, s.refused, s.reason = true, refused, wire.MaskPANs(reason)
	wait := max(o.backoff(s.fails, limit), min(after, longCap))
	s.next = run + wait.Milliseconds()
}

// learn updates a service from a verdict.
func (o *Outbox) learn(s *service, v Verdict) {
	reach := v.Reach
	if reach == "" {
		switch {
		case v.State == Done || v.State == Failed || v.State == Doubt:
			reach = Reached
		case v.State == Pending && v.After == 0:
			reach = Unreachable
		}
	}
	run := o.clock.run()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch reach {
	case Reached:
		s.up(run)
	case Unreachable:
		o.fail(s, run, false, v.After, v.Reason)
	case Refused:
		o.fail(s, run, true, v.After, v.Reason)
	}
}

// delay is how long an operation rests after a verdict that is not final; short says that nothing
// was sent.
func (o *Outbox) delay(s *service, v Verdict, short bool, attempts int64) time.Duration {
	if v.After > 0 {
		floor := 100 * time.Millisecond
		if attempts > quickTries {
			floor = firstWait
		}
		return min(max(v.After, floor), longCap)
	}
	run := o.clock.run()
	o.mu.Lock()
	answered := s.okRun > 0 && run-s.okRun < longCap.Milliseconds()
	o.mu.Unlock()
	limit := shortCap
	if v.Reach == "" && !short && !answered {
		limit = longCap
	}
	return o.backoff(int(min(attempts, 30)), limit)
}
