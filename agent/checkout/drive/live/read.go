package live

import (
	"time"

	"posagent/schemes/wire"
)

// Read is a question after a sale's status that waits for its time.
type Read struct {
	After time.Duration
	Stop  chan struct{} // closed when it is not wanted any more
	gen   int
}

// PlanRead schedules the next question. That of the newest commit takes the place of one that
// waits; ok is false for an older one while one waits. No sale is asked about faster than the
// floor.
func (s *Sales) PlanRead(key wire.Key, after, floor, now time.Duration, seq uint64) (r Read, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	if l.readStop != nil && seq < l.seq {
		return Read{}, false
	}
	shut(&l.readStop)
	l.readStop = make(chan struct{})
	l.readGen++
	if l.lastRead > 0 {
		after = max(after, l.lastRead+floor-now)
	}
	return Read{after, l.readStop, l.readGen}, true
}

// BeginRead notes that a question is asked now.
func (s *Sales) BeginRead(key wire.Key, r Read, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	l.lastRead = now
	if l.readStop == r.Stop {
		l.readStop = nil
	}
}

// Overtaken says that another question was scheduled since, or that none is wanted.
func (s *Sales) Overtaken(key wire.Key, r Read) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sale(key).readGen != r.gen
}

// StopRead ends the watch, unless a newer commit has begun it anew.
func (s *Sales) StopRead(key wire.Key, seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	if seq < l.seq {
		return
	}
	shut(&l.readStop)
	l.readGen++
}

// Silence counts the questions about a sale that got no answer in a row.
func (s *Sales) Silence(key wire.Key, answered bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sale(key)
	if l.silence++; answered {
		l.silence = 0
	}
	return l.silence
}
