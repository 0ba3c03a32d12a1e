package port

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of visits to the page.
const (
	maxVisits  = 16
	visitIdle  = 15 * time.Minute // without a look at the page
	visitLong  = 8 * time.Hour    // in any case
	wrongTries = 5                // after which another wrong one is told to wait
	lockedFor  = time.Minute
)

// visit is a browser in which a client's token was entered.
type visit struct {
	client      *client
	began, last time.Time
}

// over says that a visit has ended. It is monotonic time that counts.
func (v *visit) over(now time.Time) bool {
	return now.Sub(v.last) > visitIdle || now.Sub(v.began) > visitLong
}

// visits are all of them, by the digest of what the browser shows. They end with the program.
type visits struct {
	mu    sync.Mutex
	all   map[[sha256.Size]byte]*visit
	wrong int       // tokens in a row
	tried time.Time // the last wrong one
}

// enter looks for a client by what was entered, and gives what its browser has to show from now on.
// locked says that too many were wrong: who enters wrong ones shuts nobody out that has a right one (a
// token cannot be guessed).
func (s *visits) enter(find func() *client) (id string, locked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.wrong > 0 && now.Sub(s.tried) > lockedFor {
		s.wrong = 0
	}
	c := find()
	if c == nil && s.wrong >= wrongTries {
		return "", true
	}
	if c == nil {
		s.wrong, s.tried = s.wrong+1, now
		return "", false
	}
	s.wrong = 0
	s.makeRoom(now)
	id = rand.Text()
	s.all[sha256.Sum256([]byte(id))] = &visit{c, now, now}
	return id, false
}

// makeRoom drops visits that are over, and the one that was not used for longest where there are too
// many.
func (s *visits) makeRoom(now time.Time) {
	if s.all == nil {
		s.all = map[[sha256.Size]byte]*visit{}
	}
	var oldest [sha256.Size]byte
	for id, v := range s.all {
		if v.over(now) {
			delete(s.all, id)
			continue
		}
		if o := s.all[oldest]; o == nil || v.last.Before(o.last) {
			oldest = id
		}
	}
	if len(s.all) >= maxVisits {
		delete(s.all, oldest)
	}
}

// of is the client of a visit that is not over; nil = none. looked says that a person looks, which
// keeps the visit.
func (s *visits) of(id string, looked bool) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, key := time.Now(), sha256.Sum256([]byte(id))
	v := s.all[key]
	if v == nil {
		return nil
	}
	if v.over(now) {
		delete(s.all, key)
		return nil
	}
	if looked {
		v.last = now
	}
	return v.client
}

// leave ends a visit.
func (s *visits) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(id)))
}
