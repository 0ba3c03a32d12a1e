package upstream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/schemes/aapay"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

const (
	salesPerLife = 8
	drainWithin  = 60 * time.Second
	perMinute    = 60            // requests for one operation in any minute: less than one a second
	dials        = 2 * perMinute // nobody's in particular: of all operations together (seed 3955539 had 61 of several sales)
)

// result is what sales came to.
type result struct {
	sales, approved, requests, faulty, probes, busiest int
	drained, patience, lived                           time.Duration // the longest, the longest where the backend had asked for patience, the sum
	wrong                                              []string
}

func (r *result) add(o result) {
	r.sales, r.approved, r.requests, r.faulty = r.sales+o.sales, r.approved+o.approved, r.requests+o.requests, r.faulty+o.faulty
	r.probes, r.patience = r.probes+o.probes, max(r.patience, o.patience)
	r.busiest, r.drained, r.lived, r.wrong = max(r.busiest, o.busiest), max(r.drained, o.drained), r.lived+o.lived, append(r.wrong, o.wrong...)
}

func (r *result) report(t *testing.T, what string, seed uint64) {
	t.Helper()
	env.Report(t, seed, r.wrong)
	t.Logf("seed %d, %s: %d sales, %d approved, in %v of virtual time; %d requests and connections, %d of them met a fault, %d were probes, at most %d a minute for one operation; drained %v after the network came up, %v where it had asked for patience",
		seed, what, r.sales, r.approved, r.lived.Round(time.Minute), r.requests, r.faulty, r.probes, r.busiest, r.drained, r.patience)
	t.Logf("%d violations in %d sales: at most %.1e at 95 %%", len(r.wrong), r.sales, 3/float64(r.sales))
}

// life runs a terminal behind a network in a bubble; the network is whole when sales returns.
func life(t *testing.T, o stack.Options, within time.Duration, sales func(ctx context.Context, s *stack.Stack) ([]stack.Belief, error)) (r result) {
	t.Helper()
	o.WalletDelay, o.ByteTime = 1500*time.Millisecond, 20*time.Microsecond
	stacktest.Life(t, o, func(ctx context.Context, t *testing.T, s *stack.Stack) {
		began := time.Now()
		beliefs, err := sales(ctx, s)
		if err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
		s.Network.Decide(nil)
		s.Network.Set(stack.Up)
		if r.drained, err = s.Drain(ctx, within); err != nil {
			r.wrong = append(r.wrong, "the undo: "+err.Error())
		}
		if within > drainWithin {
			r.drained, r.patience = 0, r.drained
		}
		if _, err = s.Settle(ctx, 2*time.Hour); err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
		r.lived = time.Since(began)
		wrong, err := s.Compare(ctx, beliefs)
		require.NoError(t, err)
		verdict, err := s.Verdict(ctx)
		require.NoError(t, err)
		r.wrong = append(r.wrong, verdict...)
		r.wrong = append(r.wrong, wrong...)
		for _, b := range beliefs {
			if r.sales++; b.Approved {
				r.approved++
			}
		}
		r.traffic(s.Network.Log())
	})
	return r
}

// traffic finds the busiest minute of any operation.
func (r *result) traffic(log []stack.Asked) {
	times := map[string][]time.Time{}
	for _, a := range log {
		r.requests++
		if a.Act != (stack.Act{}) {
			r.faulty++
		}
		if strings.HasPrefix(a.Op, "HEAD ") {
			r.probes++
			continue // nobody's operation
		}
		times[a.Op] = append(times[a.Op], a.At)
	}
	for op, at := range times {
		first, most := 0, perMinute
		if op == "dial" {
			most = dials
		}
		for i := range at {
			for at[i].Sub(at[first]) >= time.Minute {
				first++
			}
			n := i - first + 1
			if r.busiest = max(r.busiest, n); n == most+1 {
				r.wrong = append(r.wrong, fmt.Sprintf("%d requests within a minute for %s", n, op))
			}
		}
	}
}

// retries are the words a Retry-After has been seen to carry; patient of them ask for more than a few seconds, which is
// granted, for 5 minutes at most.
var retries = [...]string{"", "0", "1", "3", "-5", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "1.5", "120", "1000000000000", "Wed, 21 Oct 2065 07:28:00 GMT"}

const patient = 3

var statuses = [...]int{500, 502, 503, 504, 429, 408, 425, 401, 403, 404}

// act draws the fate of a request.
func act(rng *rand.Rand, retries []string) (a stack.Act) {
	ms := func(low, high int) time.Duration { return time.Duration(low+rng.IntN(high-low)) * time.Millisecond }
	switch rng.IntN(9) {
	case 0:
		a.Never = true
	case 1:
		a.Lost = true
	case 2:
		a.Late = ms(100, 60_000)
	case 3:
		a.Hold = ms(100, 90_000)
	case 4:
		a.Twice, a.Hold = true, ms(0, 20_000)
	case 5:
		a.Hold = ms(100, 5000) // others overtake it
	case 6:
		a.Status, a.Retry = statuses[rng.IntN(len(statuses))], retries[rng.IntN(len(retries))]
	case 7:
		a.Instead, a.Retry = statuses[rng.IntN(len(statuses))], retries[rng.IntN(len(retries))]
	case 8:
		a.Truncated = true
	}
	return a
}

// special are amounts of the backend's scenarios: the customer says no or never scans, the money moves after a no, an undo fails at first.
func special(slow bool) []money.Minor {
	list := []money.Minor{90003, 90008, 90012, 90013, 90016, 90019, 90017}
	if slow {
		return list[:6] // a reversal that times out at the backend takes that backend minutes
	}
	return list
}

// plan draws how a sale goes for its register; first says that it is one of the first of a life, in which amounts are unique.
func plan(rng *rand.Rand, i int, first, slow bool) stack.Plan {
	p := stack.Plan{Amount: money.Minor(1000 + i)}
	if first {
		if k := i % salesPerLife; k < len(special(slow)) && rng.IntN(3) == 0 {
			p.Amount = special(slow)[k]
		}
	}
	if rng.IntN(4) == 0 {
		p.AbortAt = time.Duration(1+rng.IntN(8000)) * time.Millisecond
	}
	return p
}

// lists are the method lists lives take in turn.
func lists(life int) (o stack.Options) {
	if life%2 == 0 {
		return stack.Options{Methods: stack.ShortTimeouts, Unit: "ms"}
	}
	return stack.Options{Methods: stack.FieldTimeouts, Unit: "m"}
}

// TestBadReplies: N sales, each request with a chance of trouble of its own.
func TestBadReplies(t *testing.T) {
	seed, n := env.Seed(), env.Number("N", need.Size(16, 64))
	var all result
	for first := 0; first < n; first += salesPerLife {
		rng := rand.New(rand.NewPCG(seed, uint64(first)))
		o := lists(first / salesPerLife)
		o.Seed = seed
		words, within := retries[:len(retries)-patient], drainWithin
		if rng.IntN(2) == 0 {
			words, within = retries[:], drainWithin+5*time.Minute
		}
		all.add(life(t, o, within, func(ctx context.Context, s *stack.Stack) (beliefs []stack.Belief, err error) {
			fate := rand.New(rand.NewPCG(seed, uint64(first)+1<<32)) // under the network's lock
			chance := [...]float64{0.1, 0.3, 0.6, 0.9}[rng.IntN(4)]
			s.Network.Decide(func(r *http.Request) stack.Act {
				if r.Method == http.MethodHead || fate.Float64() >= chance {
					return stack.Act{}
				}
				return act(fate, words)
			})
			for i := first; i < min(first+salesPerLife, n); i++ {
				b, err := s.Sell(ctx, plan(rng, i, true, o.Unit == "m"))
				if err != nil {
					return beliefs, fmt.Errorf("sale %d: %w", i, err)
				}
				beliefs = append(beliefs, b)
				if rng.IntN(3) == 0 {
					<-time.After(time.Duration(rng.IntN(120)) * time.Second)
				}
			}
			return beliefs, nil
		}))
	}
	all.report(t, "bad replies", seed)
	require.Positive(t, all.faulty)
	if n >= 64 { // a few sales may all meet the same fate
		require.Greater(t, all.approved, all.sales/10)
		require.Less(t, all.approved, all.sales)
		require.Greater(t, all.faulty, all.requests/10)
	}
}

// TestOutage: the network goes in every way at a random moment of a sale, for a random time.
func TestOutage(t *testing.T) {
	seed, n := env.Seed(), env.Number("N", need.Size(16, 64))/2
	var all result
	for first := 0; first < n; first += salesPerLife {
		rng := rand.New(rand.NewPCG(seed, uint64(first)))
		o := lists(first / salesPerLife)
		o.Seed = seed
		all.add(life(t, o, drainWithin, func(ctx context.Context, s *stack.Stack) (beliefs []stack.Belief, err error) {
			var changes sync.WaitGroup
			defer changes.Wait()
			for i := first; i < min(first+salesPerLife, n); i++ {
				down := []stack.Reach{stack.Refusing, stack.Blackhole, stack.Resetting}[rng.IntN(3)]
				at, away := time.Duration(rng.IntN(3000))*time.Millisecond, time.Duration(rng.IntN(180_000))*time.Millisecond
				changes.Go(func() {
					<-time.After(at)
					s.Network.Set(down)
					<-time.After(away)
					s.Network.Set(stack.Up)
				})
				b, err := s.Sell(ctx, plan(rng, i, true, o.Unit == "m"))
				if err != nil {
					return beliefs, fmt.Errorf("sale %d: %w", i, err)
				}
				beliefs = append(beliefs, b)
			}
			changes.Wait()
			<-time.After(time.Minute)                      // the terminal looks for its backend by itself
			b, err := s.Sell(ctx, stack.Plan{Amount: 999}) // an amount of its own
			return append(beliefs, b), err
		}))
	}
	all.report(t, "outages", seed)
	require.Positive(t, all.approved)
	require.True(t, n < 32 || all.approved < all.sales)
}

// TestFlapping: 1 s up, 5 s down, for hours, and sales all the while; ten minutes in make test.
func TestFlapping(t *testing.T) {
	seed := env.Seed()
	hours := max(1, min(24, env.Number("N", need.Size(16, 64))/80))
	each := time.Duration(need.Size(10, 60)) * time.Minute
	var all result
	for hour := range hours {
		rng := rand.New(rand.NewPCG(seed, uint64(hour)))
		o := lists(hour)
		o.Seed = seed
		all.add(life(t, o, drainWithin, func(ctx context.Context, s *stack.Stack) (beliefs []stack.Belief, err error) {
			over, stopped := make(chan struct{}), make(chan struct{})
			flaps := rand.New(rand.NewPCG(seed, uint64(hour)+1<<32))
			go func() {
				defer close(stopped)
				for {
					s.Network.Set([]stack.Reach{stack.Refusing, stack.Blackhole, stack.Resetting}[flaps.IntN(3)])
					select {
					case <-time.After(5 * time.Second):
					case <-over:
						return
					}
					s.Network.Set(stack.Up)
					<-time.After(time.Second)
				}
			}()
			defer func() { close(over); <-stopped }()
			began := time.Now()
			for i := 0; time.Since(began) < each; i++ {
				b, err := s.Sell(ctx, plan(rng, i, i < salesPerLife, o.Unit == "m"))
				if err != nil {
					return beliefs, fmt.Errorf("sale %d: %w", i, err)
				}
				beliefs = append(beliefs, b)
				<-time.After(time.Duration(rng.IntN(60)) * time.Second)
			}
			return beliefs, nil
		}))
	}
	all.report(t, fmt.Sprintf("flapping %d times for %v", hours, each), seed)
	require.True(t, each < time.Hour || all.approved < all.sales)
}

// forgets is an outbox without memory, seen from the network: reversals are never sent, and reported as done.
type forgets struct {
	aapay.Service
	mu   *sync.Mutex
	said map[string]bool
}

func (f forgets) InitializeWithIdempotency(ctx context.Context, key wire.Key, typ aapay.Type, req aapay.Request) (aapay.Reply, error) {
	if typ != aapay.Reversal {
		return f.Service.InitializeWithIdempotency(ctx, key, typ, req)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said[req.TerminalReference] = true
	return aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}, nil
}

func (f forgets) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	f.mu.Lock()
	forgotten := f.said[id]
	f.mu.Unlock()
	if forgotten {
		return aapay.Status{Valid: true, State: "REVERSED"}, nil
	}
	return f.Service.Status(ctx, id, method)
}

// An undo that is forgotten must be caught by the books.
func TestTeethUndoForgotten(t *testing.T) {
	o := lists(0)
	o.Mutate = func(s aapay.Service) aapay.Service { return forgets{s, &sync.Mutex{}, map[string]bool{}} }
	r := life(t, o, drainWithin, func(ctx context.Context, s *stack.Stack) ([]stack.Belief, error) {
		b, err := s.Sell(ctx, stack.Plan{Amount: 1234, AbortAt: 500 * time.Millisecond}) // the customer pays all the same
		return []stack.Belief{b}, err
	})
	require.Contains(t, strings.Join(r.wrong, "\n"), "told approved=false of 1234, the books have 1234")
}
