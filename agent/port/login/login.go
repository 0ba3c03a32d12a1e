package login

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"posagent/agent/port/pages"
)

// When no PIN is looked at.
const (
	freeTries = 5           // wrong ones in a row, of one browser or address
	freeOfAll = 50          // wrong ones in a row, of all addresses together
	firstLock = time.Minute // after them; each further one doubles it
	longLock  = time.Hour
	maxOwn    = 1024 // addresses that are told apart
)

// lockOf is how long no PIN is looked at after so many wrong ones in a row, of which some are free.
func lockOf(wrong, free int) time.Duration {
	if wrong < free {
		return 0
	}
	if more := wrong - free; more < 6 {
		return min(firstLock<<more, longLock)
	}
	return longLock
}

// Tries are the tries at a PIN in a row, kept durably. A PIN is named by its id; another one has no
// tries yet.
type Tries interface {
	// Made returns how many there were.
	Made(ctx context.Context, pin string) (int, error)
	// Count adds one, and returns how many there are with it.
	Count(ctx context.Context, pin string) (int, error)
	// Right ends the row, and notes the login in the same commit.
	Right(ctx context.Context, pin string) error
}

// login looks at PINs. Each address has a lock of its own, so that a stranger at another one keeps no person out, and so has each
// browser in which the PIN was entered before, whatever the addresses do.
type login struct {
	stored func() (PIN, error)
	tries  Tries
	began  time.Time // of the program: a lock from before a restart begins anew

	turn sync.Mutex // one PIN at a time: a hash is work

	mu    sync.Mutex
	known string         // id of the PIN whose tries were read
	made  int            // wrong ones before this run: each address begins with them
	until time.Time      // no PIN of an address is looked at before
	own   map[string]row // by the visitor's name
}

// row is the wrong tries of one visitor in a row.
type row struct {
	wrong int
	until time.Time
}

// visitor is who enters a PIN.
type visitor struct {
	browser string // the word by which a browser is known in which the PIN was entered; "" = it is not
	address string // the network it comes from
}

// name is under what its tries are counted.
func (v visitor) name() string {
	if v.browser != "" {
		return "browser " + v.browser
	}
	return "address " + v.address
}

// wait is how long the PIN with an id is not looked at.
func (l *login) wait(id string, v visitor) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known != id {
		return 0
	}
	until := l.own[v.name()].until
	if v.browser == "" && l.until.After(until) {
		until = l.until
	}
	return max(time.Until(until), 0)
}

// wrong counts a wrong PIN of a visitor; all is how many there were in a row, of whomever.
func (l *login) wrong(v visitor, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name, now := v.name(), time.Now()
	one, there := l.own[name]
	if !there && v.browser == "" {
		one.wrong = l.made
		if len(l.own) >= maxOwn { // those whose lock is over make room; where none is, the lock of all is the next
			for n, r := range l.own {
				if !now.Before(r.until) {
					delete(l.own, n)
				}
			}
		}
	}
	one.wrong++
	one.until = now.Add(lockOf(one.wrong, freeTries))
	if there || len(l.own) < maxOwn {
		l.own[name] = one
	}
	l.until = now.Add(lockOf(all, freeOfAll))
}

// right ends the row of a visitor, and that of all.
func (l *login) right(v visitor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.own, v.name())
	l.made, l.until = 0, time.Time{}
}

// entry is what the form says before a PIN is entered. The error is why the stored one cannot be
// read; it is for the log.
func (l *login) entry(v visitor) (pages.Entry, error) {
	stored, err := l.stored()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pages.Entry{State: pages.NoPIN}, nil
	case err != nil:
		return pages.Entry{State: pages.BrokenPIN}, err
	}
	return pages.Entry{State: pages.AsksPIN, Wait: l.wait(stored.id(), v)}, nil
}

// enter looks at a PIN, and returns the stored one where it is right. The error is why
// nothing could be looked at; it is for the log.
func (l *login) enter(ctx context.Context, v visitor, pin string) (stored PIN, fault pages.Fault, err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	stored, err = l.stored()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return PIN{}, pages.UnsetPIN, nil
	case err != nil:
		return PIN{}, pages.UnreadPIN, err
	}
	if err := l.recall(ctx, stored.id()); err != nil {
		return PIN{}, pages.UncountedPIN, err
	}
	if l.wait(stored.id(), v) > 0 {
		return PIN{}, pages.ManyPINs, nil
	}
	n, err := l.tries.Count(ctx, stored.id())
	if err != nil {
		return PIN{}, pages.UncountedPIN, err
	}
	if !stored.is(pin) {
		l.wrong(v, n)
		return PIN{}, pages.WrongPIN, nil
	}
	if err := l.tries.Right(ctx, stored.id()); err != nil {
		return PIN{}, pages.UncountedPIN, err
	}
	l.right(v)
	return stored, pages.NoFault, nil
}

// recall reads the tries at a PIN that this run has not seen yet. The lock that they ask for lasts
// from the start of the program: how long it has been off is not known.
func (l *login) recall(ctx context.Context, id string) error {
	l.mu.Lock()
	known := l.known == id
	l.mu.Unlock()
	if known {
		return nil
	}
	n, err := l.tries.Made(ctx, id)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.known, l.made, l.until, l.own = id, n, l.began.Add(lockOf(n, freeTries)), map[string]row{}
	}
	return err
}
