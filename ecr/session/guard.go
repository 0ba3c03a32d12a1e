package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"posagent/ecr"
)

// The limits against brute force, which are the line's: an address costs a stranger nothing, and all of loopback is one.
const (
	tries     = 20               // wrong passwords that are answered at once
	tryEvery  = 20 * time.Second // afterwards: 180 an hour, and the connection is closed
	maxTrying = 64               // connections that wait for that answer; a further one gets none
	lastWord  = time.Second      // from that answer to the end of the connection
)

// guard slows brute force on the password of a line. A connection that offers the right one first is never kept waiting: no stranger
// shuts a register out.
type guard struct {
	mu      sync.Mutex
	free    time.Time // when all tries are there again
	waiting int
}

// errGuessing is that of a connection that is closed without an answer.
var errGuessing = errors.New("too many wrong passwords on this line")

// wrong waits until a wrong password may be answered, and reports whether it had to. It fails when ctx ends, or too many wait.
func (g *guard) wrong(ctx context.Context) (waited bool, err error) {
	g.mu.Lock()
	now := time.Now()
	if g.waiting >= maxTrying {
		g.mu.Unlock()
		return true, errGuessing
	}
	if g.free.Before(now) {
		g.free = now
	}
	g.free = g.free.Add(tryEvery)
	wait := g.free.Sub(now) - tries*tryEvery
	if wait <= 0 {
		g.mu.Unlock()
		return false, nil
	}
	g.waiting++
	g.mu.Unlock()
	pause(ctx, wait)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	return true, ctx.Err()
}

// knocks takes note of what a connection says before it waits for its turn, or for the answer to a wrong password: one that guesses
// is no newcomer, whose place is kept for its first words; one that registers keeps its place beside any crowd of those.
func (d *dialog) knocks(claim ecr.Claim) {
	guesses := claim.Password && !claim.Right && !d.shown
	registers := claim.Register && (d.shown || claim.Right && !d.offered)
	if !guesses && !registers {
		return
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.heard = true; registers {
		d.rank = registered
	}
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
	newcomer               // it has just come, and its first command is on its way
	registered             // it has registered
)
