package owned

import (
	"context"
	"strings"
	"sync"

	"posagent/schemes/wire"
	"posagent/store"
)

// New returns claims. secret makes the backend's Idempotency-Keys of local clients; it outlives the journal.
func New(db store.DB, secret []byte) Claims {
	return Claims{DB: db, secret: secret, named: &named{of: map[[2]string]*naming{}}}
}

// key returns the Idempotency-Key that the backend gets: one client's must not meet another's there. The terminal's own token
// keeps its keys as they are.
func (c Claims) key(ctx context.Context, key wire.Key) wire.Key {
	client := wire.Client(ctx)
	if client == "" || key == "" {
		return key
	}
	return wire.MakeKey(c.secret, "posagent client key 1", client, string(key))
}

// named are the ids that calls name while they run.
type named struct {
	mu sync.Mutex
	of map[[2]string]*naming
}

// naming is an id that calls name while they run.
type naming struct {
	mu       sync.Mutex
	calls    int
	inserted bool // one of the calls claimed it
	good     bool // the backend did not refuse one of the calls
}

// name claims an id that the caller chooses for a call that is about to go out, as take does. Call done with the call's end: where
// the backend refuses all that named an id first, the claim goes, because the id may be of a thing that no client here made.
func (c Claims) name(ctx context.Context, about, id string) (done func(refused bool), err error) {
	if id == "" {
		return func(bool) {}, nil
	}
	at := [2]string{about, strings.ToLower(id)}
	c.named.mu.Lock()
	n := c.named.of[at]
	if n == nil {
		n = &naming{}
		c.named.of[at] = n
	}
	n.calls++
	c.named.mu.Unlock()
	n.mu.Lock()
	known := false
	if !n.inserted {
		if err = c.DB.Read(ctx, func(r store.Reader) (err error) { _, known, err = c.Owner(r, about, id); return err }); err != nil {
			err = &wire.Error{Code: wire.Internal, Op: about, Err: err}
		}
	}
	caller, mine := wire.CallerOf(ctx), false
	if err == nil {
		err = c.Claim(ctx, about, id, caller.Name)
		mine = err == nil
		n.inserted = n.inserted || mine && !known
	}
	n.mu.Unlock()
	if wire.CodeOf(err) == wire.NotFound && !caller.Own {
		err = nil
	}
	if err != nil {
		c.over(ctx, at, n, true)
		return nil, err
	}
	return func(refused bool) { c.over(ctx, at, n, refused || !mine) }, nil
}

// over ends a naming. Where a refused claim cannot be deleted, its id stays out of reach until the next start.
func (c Claims) over(ctx context.Context, at [2]string, n *naming, refused bool) {
	c.named.mu.Lock()
	defer c.named.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.good = n.good || !refused
	if n.calls--; n.calls > 0 {
		return
	}
	if n.inserted && !n.good {
		err := c.DB.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
			_, err := tx.Exec(`DELETE FROM owned_things WHERE about = ? AND id = ?`, at[0], at[1])
			return err
		})
		if err != nil {
			return
		}
	}
	delete(c.named.of, at)
}

// unsure says that an id was claimed by calls that the backend has not answered.
func (c Claims) unsure(about, id string) bool {
	if c.named == nil {
		return false
	}
	c.named.mu.Lock()
	n := c.named.of[[2]string{about, strings.ToLower(id)}]
	c.named.mu.Unlock()
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.inserted && !n.good
}

// refused says that a call had no effect.
func refused(err error) bool {
	switch wire.CodeOf(err) {
	case "", wire.UnknownOutcome, wire.Internal:
		return false
	}
	return true
}
