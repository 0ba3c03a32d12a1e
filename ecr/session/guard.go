package session

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// The limits of guessing.
const (
	firstDelay = time.Second // after the first wrong password of an address; each further one doubles it
	longest    = time.Minute
	forgotten  = 10 * time.Minute // after its last wrong password an address begins anew
	maxGuests  = 1024             // addresses remembered
)

// guard slows the guessing of the password down: the passwords of one address are judged one after
// the other, each after the delay that the last wrong one has cost.
type guard struct {
	mu     sync.Mutex
	guests map[netip.Addr]*guest
}

type guest struct {
	turn  chan struct{} // holds one token while no password of the address is judged
	users int           // that wait for it or have it
	wrong int           // in a row
	until time.Time     // the next is not judged before
}

// judge waits for the address's turn and reports right(); a wrong one costs the address time. It
// fails when ctx ends.
func (g *guard) judge(ctx context.Context, from netip.Addr, right bool) error {
	one := g.enter(from)
	defer g.leave(one)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-one.turn:
	}
	defer func() { one.turn <- struct{}{} }()
	g.mu.Lock()
	wait := time.Until(one.until)
	g.mu.Unlock()
	if wait > 0 {
		if pause(ctx, wait); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if right {
		one.wrong, one.until = 0, time.Time{}
		return nil
	}
	one.until = time.Now().Add(min(firstDelay<<min(one.wrong, 16), longest))
	one.wrong++
	return nil
}

// enter finds the guest of an address. At the limit the one that may go on soonest is forgotten.
func (g *guard) enter(from netip.Addr) *guest {
	if from = from.Unmap(); from.Is6() { // whoever has one such address has 2^64
		if p, err := from.Prefix(64); err == nil {
			from = p.Addr()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.guests == nil {
		g.guests = map[netip.Addr]*guest{}
	}
	one := g.guests[from]
	if one == nil {
		if len(g.guests) >= maxGuests {
			g.forget()
		}
		one = &guest{turn: make(chan struct{}, 1)}
		one.turn <- struct{}{}
		g.guests[from] = one
	}
	if one.users == 0 && time.Since(one.until) > forgotten {
		one.wrong = 0
	}
	one.users++
	return one
}

func (g *guard) forget() {
	var oldest netip.Addr
	for at, one := range g.guests {
		if one.users == 0 && (!oldest.IsValid() || one.until.Before(g.guests[oldest].until)) {
			oldest = at
		}
	}
	delete(g.guests, oldest)
}

func (g *guard) leave(one *guest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one.users--
}

// quiet lets each phrase into the log once a minute and counts the rest. The phrases are fixed, so
// that their number is.
type quiet struct {
	mu   sync.Mutex
	said map[string]*phrase
}

type phrase struct {
	next   time.Time
	missed int
}

func (q *quiet) warn(log *slog.Logger, text string, args ...any) {
	q.mu.Lock()
	if q.said == nil {
		q.said = map[string]*phrase{}
	}
	p := q.said[text]
	if p == nil {
		p = &phrase{}
		q.said[text] = p
	}
	now := time.Now()
	if now.Before(p.next) {
		p.missed++
		q.mu.Unlock()
		return
	}
	missed := p.missed
	p.next, p.missed = now.Add(time.Minute), 0
	q.mu.Unlock()
	if missed > 0 {
		args = append(args, "more", missed)
	}
	log.Warn(text, args...)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// rank is what a connection has shown itself to be. The lower it is, the sooner it is closed for
// another.
type rank uint8

const (
	silent     rank = iota // it has said nothing
	speaking               // it has sent a command
	registered             // it has registered
)
