package session

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// The limits against brute force.
const (
	firstDelay = time.Second // after the first wrong password of an address; each further one doubles it
	longest    = time.Minute
	forgotten  = 10 * time.Minute // after its last wrong password an address begins anew
	maxClients = 1024             // addresses remembered
)

// guard slows brute force on the password: the passwords of one address are checked one after the
// other, each after the delay that the last wrong one has caused.
type guard struct {
	mu      sync.Mutex
	clients map[netip.Addr]*client
}

type client struct {
	turn  chan struct{} // holds one token while no password of the address is checked
	users int           // that wait for it or have it
	wrong int           // in a row
	until time.Time     // the next is not checked before
}

// check waits for the address's turn. A wrong password delays the next one of the address. It fails
// when ctx ends.
func (g *guard) check(ctx context.Context, from netip.Addr, right bool) error {
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

// enter returns the state of an address. At the limit it forgets the address whose delay ends first.
func (g *guard) enter(from netip.Addr) *client {
	if from = from.Unmap(); from.Is6() { // a host that has one such address has 2^64
		if p, err := from.Prefix(64); err == nil {
			from = p.Addr()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clients == nil {
		g.clients = map[netip.Addr]*client{}
	}
	one := g.clients[from]
	if one == nil {
		if len(g.clients) >= maxClients {
			g.forget()
		}
		one = &client{turn: make(chan struct{}, 1)}
		one.turn <- struct{}{}
		g.clients[from] = one
	}
	if one.users == 0 && time.Since(one.until) > forgotten {
		one.wrong = 0
	}
	one.users++
	return one
}

func (g *guard) forget() {
	var oldest netip.Addr
	for at, one := range g.clients {
		if one.users == 0 && (!oldest.IsValid() || one.until.Before(g.clients[oldest].until)) {
			oldest = at
		}
	}
	delete(g.clients, oldest)
}

func (g *guard) leave(one *client) {
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
