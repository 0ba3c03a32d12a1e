package port

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"time"

	"posagent/schemes/wire"
)

// Client is a local program with a token of its own.
type Client struct {
	Name  string // its id: owns what it makes, and is the scope of its Idempotency-Key; no other has it
	Label string // what the configuration calls it now; "" = Name
	Token wire.Secret
	May   []string // what it may do; nil = DefaultMay. The terminal's own token may everything
}

// Streams of events hold their connections.
const (
	maxStreams = 16 // at a time
	maxListens = 4  // of them one client with a name has: it must not take all
)

// client is a Client with its pace and its places.
type client struct {
	Client
	caller wire.Caller
	pace   *pace
	reads  chan struct{} // of the terminal itself: one at a time

	listens chan struct{} // places for streams of events
}

// clients are all clients. The first is the one without a name.
type clients []client

// newClients makes the client of the terminal's own token and those with a name.
func newClients(own wire.Secret, named []Client, rate, parallel int) (all clients) {
	for _, c := range append([]Client{{Token: own}}, named...) {
		who, listens := wire.Caller{Name: c.Name}, maxStreams
		if c.Name != "" {
			listens = maxListens
			if who.Words = c.May; who.Words == nil {
				who.Words = DefaultMay()
			}
			who.Own = !slices.Contains(who.Words, wire.MayAll)
		}
		all = append(all, client{c, who, newPace(rate, parallel), make(chan struct{}, 1), make(chan struct{}, listens)})
	}
	return all
}

// same compares in a time that tells nothing, not even the length. An empty want matches nothing.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// byToken is the client with a token, compared with all of them in a time that tells nothing; nil =
// none.
func (all clients) byToken(token string) (found *client) {
	for i := range all {
		if same(token, all[i].Token.Reveal()) {
			found = &all[i]
		}
	}
	return found
}

// called says whether a client has a name: as the configuration calls it, or its id, by which a client that was renamed may still go.
func (c *client) called(name string) bool {
	return same(name, c.Name) || same(name, c.Label)
}

// byInstance is the client that a request for payment links names as its instance: the account's
// own name, or any where it has none, is the one without a name. What names two clients is the first
// one's; tokensBehind has the other's.
func (all clients) byInstance(name, instance string) *client {
	for i := range all[1:] {
		if c := &all[i+1]; c.called(name) {
			return c
		}
	}
	if instance == "" || same(name, instance) {
		return &all[0]
	}
	return nil
}

// tokensBehind are the tokens of the other clients that a request may be of: all, where it names the
// account, though a client is called as that is; else those that are called so.
func (all clients) tokensBehind(name, instance string) (list []wire.Secret) {
	first := all.byInstance(name, instance)
	account := first == &all[0] || instance != "" && same(name, instance)
	for i := range all {
		if c := &all[i]; c != first && (account || c.called(name)) {
			list = append(list, c.Token)
		}
	}
	return list
}

// paced serves a client's request when its pace allows it, and says on whose behalf.
func (c *client) paced(w http.ResponseWriter, r *http.Request, fail failFunc, h http.Handler) {
	wait, ok := c.pace.begin()
	if !ok {
		fail(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many requests at a time", RetryAfter: max(wait, time.Second)})
		return
	}
	defer c.pace.end()
	h.ServeHTTP(w, r.WithContext(wire.WithCaller(r.Context(), c.caller)))
}

// What a client's reads of the terminal itself may take: one at a time, and a tenth of a processor.
const (
	restFor    = 9                // times as long as the read took
	restAtMost = time.Second      // whatever it took
	turnWithin = 10 * time.Second // that a read waits for its turn
)

// oneRead serves a read of the terminal itself when the client's earlier ones are over, and lets
// the next one wait: however many a client asks for, a register's sale has the processor.
func (c *client) oneRead(fail failFunc, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(turnWithin)
		defer timer.Stop()
		select {
		case c.reads <- struct{}{}:
		case <-r.Context().Done():
			return
		case <-timer.C:
			fail(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many reads at a time", RetryAfter: time.Second})
			return
		}
		began := time.Now()
		defer func() {
			time.AfterFunc(min(restFor*time.Since(began), restAtMost), func() { <-c.reads })
		}()
		h.ServeHTTP(w, r)
	})
}
