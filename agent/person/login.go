package person

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"posagent/agent/pages"
)

// When no PIN is looked at.
const (
	freeTries = 5           // wrong ones in a row
	firstLock = time.Minute // after them; each further one doubles it
	longLock  = time.Hour
)

// lockOf is how long no PIN is looked at after so many wrong ones in a row.
func lockOf(wrong int) time.Duration {
	if wrong < freeTries {
		return 0
	}
	if more := wrong - freeTries; more < 6 {
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

// login looks at PINs.
type login struct {
	stored func() (PIN, error)
	tries  Tries
	began  time.Time // of the program: a lock from before a restart begins anew

	turn sync.Mutex // one PIN at a time: a hash is work

	mu    sync.Mutex
	known string    // id of the PIN whose tries were read
	until time.Time // no PIN is looked at before
}

// wait is how long the PIN with an id is not looked at.
func (l *login) wait(id string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known != id {
		return 0
	}
	return max(time.Until(l.until), 0)
}

// lock sets until when no PIN is looked at: of the PIN with an id, which begins with its own.
func (l *login) lock(id string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.until = id, until
}

// entry is what the form says before a PIN is entered. The error is why the stored one cannot be
// read; it is for the log.
func (l *login) entry() (pages.Entry, error) {
	stored, err := l.stored()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pages.Entry{State: pages.NoPIN}, nil
	case err != nil:
		return pages.Entry{State: pages.BrokenPIN}, err
	}
	return pages.Entry{State: pages.AsksPIN, Wait: l.wait(stored.id())}, nil
}

// enter looks at a PIN, and returns the id of the stored one where it is right. The error is why
// nothing could be looked at; it is for the log.
func (l *login) enter(ctx context.Context, pin string) (id string, fault pages.Fault, err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	stored, err := l.stored()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", pages.UnsetPIN, nil
	case err != nil:
		return "", pages.UnreadPIN, err
	}
	if err := l.recall(ctx, stored.id()); err != nil {
		return "", pages.UncountedPIN, err
	}
	if l.wait(stored.id()) > 0 {
		return "", pages.ManyPINs, nil
	}
	n, err := l.tries.Count(ctx, stored.id())
	if err != nil {
		return "", pages.UncountedPIN, err
	}
	if !stored.is(pin) {
		l.lock(stored.id(), time.Now().Add(lockOf(n)))
		return "", pages.WrongPIN, nil
	}
	if err := l.tries.Right(ctx, stored.id()); err != nil {
		return "", pages.UncountedPIN, err
	}
	l.lock(stored.id(), time.Time{})
	return stored.id(), pages.NoFault, nil
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
		l.lock(id, l.began.Add(lockOf(n)))
	}
	return err
}
