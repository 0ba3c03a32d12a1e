package port

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"posagent/schemes/wire"
)

// Client is a local program with a token of its own.
type Client struct {
	Name  string // owns what it makes, and is the scope of its Idempotency-Key; no other has it
	Token wire.Secret
	May   []string // what it may do; nil = DefaultMay. The terminal's own token may everything
}

// The limits of one client where Options say nothing.
const (
	defaultRate     = 1000 // requests per second; as many may come at once
	defaultParallel = 48   // requests in flight
)

// pace is what one client has left.
type pace struct {
	mu     sync.Mutex
	rate   float64 // requests per second
	most   int     // in flight
	left   float64
	last   time.Time
	flying int
}

func newPace(rate, parallel int) *pace {
	if rate <= 0 {
		rate = defaultRate
	}
	if parallel <= 0 {
		parallel = defaultParallel
	}
	return &pace{rate: float64(rate), most: parallel, left: float64(rate)}
}

// begin lets a request in, or says when to come back. It is monotonic time that counts.
func (p *pace) begin() (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.last.IsZero() {
		p.left = min(p.left+now.Sub(p.last).Seconds()*p.rate, p.rate)
	}
	p.last = now
	switch {
	case p.left < 1:
		return max(time.Duration((1-p.left)/p.rate*float64(time.Second)), time.Millisecond), false
	case p.flying >= p.most:
		return time.Second, false
	}
	p.left--
	p.flying++
	return 0, true
}

func (p *pace) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying--
}

// account is a client with its pace.
type account struct {
	Client
	caller wire.Caller
	pace   *pace
	reads  chan struct{} // of the terminal itself: one at a time

	listens chan struct{} // places for streams of events
}

func (a *api) open() {
	for _, c := range append([]Client{{Token: a.o.Token}}, a.o.Clients...) {
		who, listens := wire.Caller{Name: c.Name}, maxStreams
		if c.Name != "" {
			listens = maxListens
			if who.Words = c.May; who.Words == nil {
				who.Words = DefaultMay()
			}
			who.Own = !slices.Contains(who.Words, wire.MayAll)
		}
		a.accounts = append(a.accounts, account{c, who, newPace(a.o.Rate, a.o.Parallel), make(chan struct{}, 1), make(chan struct{}, listens)})
	}
}

// holder is whose token one is, compared with all of them in a time that tells nothing; nil = nobody's.
func (a *api) holder(token string) (found *account) {
	for i := range a.accounts {
		if same(token, a.accounts[i].Token.Reveal()) {
			found = &a.accounts[i]
		}
	}
	return found
}

// named is the client that a request for payment links names as its instance: the account's own name, or any where it has
// none, is the one without a name.
func (a *api) named(name, instance string) *account {
	for i := range a.accounts[1:] {
		if c := &a.accounts[i+1]; same(name, c.Name) {
			return c
		}
	}
	if instance == "" || same(name, instance) {
		return &a.accounts[0]
	}
	return nil
}

// others are the tokens of the clients, where a request names the account and not one of them.
func (a *api) others(name, instance string) (list []wire.Secret) {
	if a.named(name, instance) != &a.accounts[0] {
		return nil
	}
	for _, c := range a.accounts[1:] {
		list = append(list, c.Token)
	}
	return list
}

// paced serves a client's request when its pace allows it, and says on whose behalf.
func (c *account) paced(w http.ResponseWriter, r *http.Request, fail shape, h http.Handler) {
	wait, ok := c.pace.begin()
	if !ok {
		fail(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many requests at a time", RetryAfter: max(wait, time.Second)})
		return
	}
	defer c.pace.end()
	h.ServeHTTP(w, r.WithContext(wire.WithCaller(r.Context(), c.caller)))
}
