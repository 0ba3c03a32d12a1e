package login

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"sync"
	"time"

	"posagent/agent/port/pages"
)

// Limits of sessions.
const (
	maxSessions = 8
	idle        = 10 * time.Minute // without a look by a person
	longest     = 2 * time.Hour    // in any case
	maxForms    = 16               // pages of one session whose forms are good
)

// digest is what is kept of a word that a browser shows.
type digest = [sha256.Size]byte

func digestOf(word string) digest { return sha256.Sum256([]byte(word)) }

// session is a browser in which the PIN was entered.
type session struct {
	cookie      digest
	pin         string // id of the PIN that was entered
	began, last time.Time
	forms       []digest // words of pages that were shown, each good for one form
	said        pages.Said
}

// over says that a session has ended. It is monotonic time that counts.
func (s *session) over(now time.Time) bool {
	return now.Sub(s.last) > idle || now.Sub(s.began) > longest
}

// sessions are all of them, by the digest of the word in their path. They end with the program.
type sessions struct {
	mu  sync.Mutex
	all map[digest]*session
}

// begin makes a session, and gives the word of its path and that of its cookie.
func (s *sessions) begin(pin string) (path, cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.all == nil {
		s.all = map[digest]*session{}
	}
	var oldest digest
	for id, one := range s.all {
		if one.over(now) {
			delete(s.all, id)
			continue
		}
		if o := s.all[oldest]; o == nil || one.last.Before(o.last) {
			oldest = id
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
	path, cookie = rand.Text(), rand.Text()
	s.all[digestOf(path)] = &session{cookie: digestOf(cookie), pin: pin, began: now, last: now}
	return path, cookie
}

// of is the session of a path and a cookie, nil where there is none that is not over. pin is the id
// of the PIN that is stored now.
func (s *sessions) of(path, cookie, pin string) *session {
	id, shown := digestOf(path), digestOf(cookie)
	one := s.all[id]
	if one == nil || subtle.ConstantTimeCompare(shown[:], one.cookie[:]) != 1 {
		return nil
	}
	if one.over(time.Now()) || one.pin != pin {
		delete(s.all, id)
		return nil
	}
	return one
}

// known says whether there is a session. It is no look by a person.
func (s *sessions) known(path, cookie, pin string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(path, cookie, pin) != nil
}

// look notes that a person has looked, gives the word of the page's forms and what was said of the
// last deed; false = there is no such session.
func (s *sessions) look(path, cookie, pin string) (form string, said pages.Said, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of(path, cookie, pin)
	if one == nil {
		return "", said, false
	}
	one.last = time.Now()
	if len(one.forms) == maxForms {
		one.forms = one.forms[1:]
	}
	form, said, one.said = rand.Text(), one.said, pages.Said{}
	one.forms = append(one.forms, digestOf(form))
	return form, said, true
}

// spend says whether a form's word is one of the session's, which it is no more. The comparison
// takes the same time for each.
func (s *sessions) spend(path, cookie, pin, form string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of(path, cookie, pin)
	if one == nil {
		return false
	}
	shown, found := digestOf(form), -1
	for i := range one.forms {
		if subtle.ConstantTimeCompare(shown[:], one.forms[i][:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	one.forms = slices.Delete(one.forms, found, found+1)
	return true
}

// say keeps what is said of a deed for the next look.
func (s *sessions) say(path string, said pages.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.all[digestOf(path)]; one != nil {
		one.said = said
	}
}

// leave ends a session.
func (s *sessions) leave(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, digestOf(path))
}
