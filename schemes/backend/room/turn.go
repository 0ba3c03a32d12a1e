package room

import (
	"context"
	"sync"
	"time"

	"posagent/schemes/wire"
)

// turnWithin is how long a repetition waits for the one before it, and repeatAfter what it is told after that.
const (
	turnWithin  = 10 * time.Second
	repeatAfter = 2 * time.Second
)

// turns let one request at a time under a Key reach the store. While the store does not answer, a till asks again and again: each of its
// repetitions would hold a connection, and soon no other till had one.
type turns struct {
	mu sync.Mutex
	by map[string]*turn
}

// turn is a Key that is asked under, and those who ask.
type turn struct {
	asks int
	free chan struct{} // holds one while nobody is at the store
}

// Turn waits until no other request under a name is at the store. leave ends the turn. An error says that nothing was begun: the one
// before did not end in time, or ctx did.
func (r *Room) Turn(ctx context.Context, op, name string) (leave func(), err error) {
	t := r.turns.join(name)
	late := time.NewTimer(turnWithin)
	defer late.Stop()
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; r.turns.left(name, t) }, nil
	case <-ctx.Done():
		err = &wire.Error{Code: wire.Unavailable, Op: op, Err: ctx.Err()}
	case <-late.C:
		err = &wire.Error{
			Code: wire.Unavailable, Op: op, RetryAfter: repeatAfter,
			Msg: "an earlier request with this key is still being worked on, and nothing was begun for this one",
		}
	}
	r.turns.left(name, t)
	return nil, err
}

func (all *turns) join(name string) *turn {
	all.mu.Lock()
	defer all.mu.Unlock()
	t := all.by[name]
	if t == nil {
		if all.by == nil {
			all.by = map[string]*turn{}
		}
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		all.by[name] = t
	}
	t.asks++
	return t
}

// left forgets a name under which none asks any more.
func (all *turns) left(name string, t *turn) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if t.asks--; t.asks == 0 {
		delete(all.by, name)
	}
}
