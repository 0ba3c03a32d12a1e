package line

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/ecr/till/zvt"
	"posagent/schemes/money"
)

// patience is what a real register waits for the end of a request.
const patience = 85 * time.Second

// What a register may be told of a refund or reversal that is not done.
const (
	notDone    = 0xA3 // nothing left the terminal: it is not done and never will be
	inProgress = 0x9C // no end: ask again
)

// goneAway are the ways in which a backend is away.
var goneAway = map[string]func(n *stack.Network){
	"nothing listens":    func(n *stack.Network) { n.Set(stack.Refusing) },
	"nothing comes back": func(n *stack.Network) { n.Set(stack.Blackhole) },
	"connections break":  func(n *stack.Network) { n.Set(stack.Resetting) },
	"answers are lost": func(n *stack.Network) {
		n.Decide(func(*http.Request) stack.Act { return stack.Act{Lost: true} })
	},
}

// away is one terminal whose refunds and reversals meet a backend that is away.
type away struct {
	t       *testing.T
	s       *stack.Stack
	rng     *rand.Rand
	reverse bool
	told    map[string]int
}

// ask makes the request once; ok is false where the register got no end, because the terminal went down under it.
func (a *away) ask(ctx context.Context, receipt int, refund money.Minor) (res zvt.Result, ok bool) {
	began := time.Now()
	r, err := a.s.Dial(func(direction string, data []byte) {
		if direction == "in" && data[0] == 0x80 { // from here the register counts
			began = time.Now()
		}
	})
	require.NoError(a.t, err)
	defer func() { _ = r.Close() }()
	if a.reverse {
		res, err = r.Reverse(ctx, receipt, 0)
	} else {
		res, err = r.Refund(ctx, refund, "EUR", fmt.Sprintf("R%d", receipt))
	}
	if err != nil || !res.Told && !res.Refused {
		return res, false
	}
	require.LessOrEqual(a.t, time.Since(began), patience, "the line is free within the register's patience: %+v", res)
	return res, true
}

// until asks until there is an end.
func (a *away) until(ctx context.Context, receipt int, refund money.Minor) zvt.Result {
	for range 40 {
		if res, ok := a.ask(ctx, receipt, refund); ok {
			return res
		}
		<-time.After(500 * time.Millisecond)
	}
	require.Fail(a.t, "the register got no end")
	return zvt.Result{}
}

// story is one payment and its refund or reversal. crash is when the terminal dies under the request; < 0 never.
func (a *away) story(ctx context.Context, how string, n int, crash time.Duration) {
	t, s := a.t, a.s
	amount, refund := money.Minor(100_000+10*n), money.Minor(1+n)
	after := int64(amount - refund)
	if a.reverse {
		after = 0
	}
	holds := func(want int64, when string) {
		net, err := s.Net(ctx, int64(amount))
		require.NoError(t, err)
		require.Equal(t, want, net, "%s, %s, crash at %v", how, when, crash)
	}
	b, err := s.Sell(ctx, stack.Plan{Amount: amount})
	require.NoError(t, err)
	require.True(t, b.Approved, b.Said)

	goneAway[how](s.Network)
	var res zvt.Result
	if crash < 0 {
		res = a.until(ctx, b.Receipt, refund)
	} else {
		first := make(chan struct{})
		dies, kill := context.WithTimeout(ctx, crash+10*time.Second)
		go func() {
			defer close(first)
			_, _ = a.ask(dies, b.Receipt, refund)
		}()
		<-time.After(crash)
		synctest.Wait()
		kill()
		<-first
		begun := make(chan error, 1)
		go func() { begun <- s.Crash(ctx) }()
		res = a.until(ctx, b.Receipt, refund) // right after the restart, and while it starts
		require.NoError(t, <-begun)
	}
	r, err := s.Dial(nil)
	require.NoError(t, err)
	_, err = r.Status(ctx)
	require.NoError(t, err, "the line is free")
	require.NoError(t, r.Close())

	s.Network.Decide(nil)
	s.Network.Set(stack.Up)
	switch {
	case res.Approved:
		a.told["done"]++
	case res.Code == notDone:
		a.told["not done"]++
		<-time.After(10 * time.Minute)
		holds(int64(amount), "told that it is not done")
		res = a.until(ctx, b.Receipt, refund)
	case res.Code == inProgress:
		a.told["in progress"]++
		for range 20 {
			if res = a.until(ctx, b.Receipt, refund); res.Code != inProgress {
				break
			}
		}
	default:
		require.Fail(t, "a false no", "%s, crash at %v: %+v", how, crash, res)
	}
	require.True(t, res.Approved, "%s, crash at %v: %+v", how, crash, res)
	<-time.After(10 * time.Minute)
	holds(after, "told that it is done")
}

// TestField_L4L5ABackendThatIsAway: AWAY refunds and AWAY reversals for each way of being away, and as many whose terminal dies under
// them and which are repeated right after its restart: no false no, the line free within the register's patience, and the books agree
// with what was told.
func TestField_L4L5ABackendThatIsAway(t *testing.T) {
	rounds, seed := env.Number("AWAY", 1), env.Seed()
	for what, reverse := range map[string]bool{"refunds": false, "reversals": true} {
		t.Run(what, func(t *testing.T) {
			o := stack.Options{Seed: seed, Methods: stack.ShortTimeouts, Unit: "ms", WalletDelay: walletDelay, ByteTime: 20 * time.Microsecond}
			stacktest.Life(t, o, func(ctx context.Context, t *testing.T, s *stack.Stack) {
				a := &away{t: t, s: s, rng: rand.New(rand.NewPCG(seed, 1)), reverse: reverse, told: map[string]int{}}
				n := 0
				for range rounds {
					for _, how := range []string{"nothing listens", "nothing comes back", "connections break", "answers are lost"} {
						deaths := []time.Duration{-1, time.Duration(a.rng.Int64N(int64(40 * time.Second)))}
						for _, crash := range deaths[need.Size(n%2, 0):need.Size(n%2+1, 2)] { // make test: each way with one of the two
							n++
							a.story(ctx, how, n, crash)
						}
					}
				}
				stacktest.Content(ctx, t, s)
				t.Logf("seed %d: %d %s with the backend away, half of them over a restart; first told %v", seed, n, what, strings.TrimPrefix(fmt.Sprint(a.told), "map"))
			})
		})
	}
}
