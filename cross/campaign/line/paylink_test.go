package line

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
	"posagent/schemes/money"
)

// TestSalesByPaymentLink: the terminal sells by payment links while the cable is pulled, the register aborts or dies, the network
// spoils what is said to the link service, and the terminal starts again in the middle. At every end the books agree with what the
// register was told.
func TestSalesByPaymentLink(t *testing.T) {
	seed := env.Seed()
	n := max(24, env.Number("FRAMES", need.Size(1000, 4000))/100)
	var all result
	for first := 0; first < n; first += salesPerLife {
		rng := rand.New(rand.NewPCG(seed, uint64(first)+77))
		all.add(life(t, stack.Options{Seed: seed + uint64(first), Links: true}, func(ctx context.Context, s *stack.Stack) (beliefs []stack.Belief, err error) {
			defer s.Network.Decide(nil)
			for i := first; i < first+salesPerLife; i++ {
				p := stack.Plan{Amount: money.Minor(1000 + i)}
				switch rng.IntN(6) {
				case 0:
					p.AbortAt = time.Duration(rng.IntN(4000)) * time.Millisecond
				case 1:
					p.DieAt, p.DeadFor = time.Duration(rng.IntN(4000))*time.Millisecond, 5*time.Second
				case 2:
					at := rng.IntN(80)
					var once sync.Once
					s.Cable.Tap(func(passed [2]int) {
						if passed[0]+passed[1] >= at {
							once.Do(func() { s.Cable.Pull(); time.AfterFunc(3*time.Second, s.Cable.Plug) })
						}
					})
				case 3:
					if nth := i % salesPerLife; nth < 2 { // the customer declines; the money comes late: each once, as amounts name sales
						p.Amount = 90003 + money.Minor(nth*10)
					}
				}
				if i == 0 { // declined, so that not all are approved in the smallest campaign
					p.Amount = 90003
				}
				if rng.IntN(2) == 0 {
					s.Network.Decide(weatherOf(rng))
				}
				b, err := s.Sell(ctx, p)
				if err != nil {
					return beliefs, fmt.Errorf("sale %d: %w", i, err)
				}
				beliefs = append(beliefs, b)
				s.Cable.Tap(nil)
				if rng.IntN(3) == 0 {
					if err := s.Stop(); err != nil {
						return beliefs, err
					}
					if rng.IntN(2) == 0 {
						s.Reboot()
					}
					if err := s.Start(ctx); err != nil {
						return beliefs, err
					}
				}
				if rng.IntN(3) == 0 {
					s.Network.Decide(nil)
				}
			}
			return beliefs, nil
		}))
	}
	all.report(t, "payment links", seed)
	require.Positive(t, all.approved)
	require.Less(t, all.approved, all.sales)
}

// weatherOf spoils a third of what is said to the link service.
func weatherOf(rng *rand.Rand) func(*http.Request) stack.Act {
	acts := []stack.Act{
		{Never: true}, {Lost: true}, {Late: 20 * time.Second}, {Hold: 4 * time.Second}, {Twice: true, Hold: 3 * time.Second}, {Truncated: true},
		{Status: http.StatusServiceUnavailable}, {Instead: http.StatusInternalServerError}, {Instead: http.StatusNotFound},
	}
	var mu sync.Mutex
	return func(r *http.Request) stack.Act {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(r.URL.Path, "/v1.0/") || rng.IntN(3) != 0 {
			return stack.Act{}
		}
		return acts[rng.IntN(len(acts))]
	}
}
