package outbox

import (
	"time"

	"posagent/schemes/wire"
)

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

// Down says that a service did not answer last time, or refused us: what is accepted for it waits.
func (o *Outbox) Down(service string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.services[service]
	return s != nil && (s.down || s.refused)
}

// Up says that a service was heard of by another way than an operation: what waits for it is sent
// at once.
func (o *Outbox) Up(service string) {
	o.mu.Lock()
	if s := o.services[service]; s != nil {
		s.up(o.clock.run())
	}
	o.mu.Unlock()
	o.Wake()
}

// Busy tells whether an attempt at a service is under way.
func (o *Outbox) Busy(service string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.busy {
		if f.service.name == service {
			return true
		}
	}
	return false
}

// late reports whether somebody asked to try at once while the attempt at an operation was under way.
func (o *Outbox) late(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.busy[id].late()
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
