package line

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
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
)

const (
	walletDelay  = 1500 * time.Millisecond
	salesPerLife = 8
)

// result is what sales came to.
type result struct {
	sales, approved, asked int
	blocks, harmed         int
	amounts                int // of what is wrong: money that finally moved is not what the register was told
	wrong                  []string
}

func (r *result) add(o result) {
	r.sales, r.approved, r.asked = r.sales+o.sales, r.approved+o.approved, r.asked+o.asked
	r.blocks, r.harmed, r.amounts, r.wrong = r.blocks+o.blocks, r.harmed+o.harmed, r.amounts+o.amounts, append(r.wrong, o.wrong...)
}

func (r *result) report(t *testing.T, what string, seed uint64) {
	t.Helper()
	env.Report(t, seed, r.wrong)
	t.Logf("seed %d, %s: %d sales, %d approved, asked again %d times, %d of %d blocks damaged, %d wrong finalised amounts, %d violations: at most %.1e at 95 %%",
		seed, what, r.sales, r.approved, r.asked, r.harmed, r.blocks, r.amounts, len(r.wrong), 3/float64(r.sales))
}

// life runs a terminal with its register in a bubble, and checks the books at its end.
func life(t *testing.T, o stack.Options, sales func(ctx context.Context, s *stack.Stack) ([]stack.Belief, error)) (r result) {
	t.Helper()
	o.Methods, o.Unit, o.WalletDelay = cmp.Or(o.Methods, stack.ShortTimeouts), "ms", walletDelay
	stacktest.Life(t, o, func(ctx context.Context, t *testing.T, s *stack.Stack) {
		beliefs, err := sales(ctx, s)
		if err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
		s.Cable.Tap(nil)
		s.Cable.Plug()
		s.Cable.Spoil(stack.Damage{}, stack.Damage{})
		if _, err = s.Settle(ctx, time.Hour); err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
		wrong, err := s.Compare(ctx, beliefs)
		require.NoError(t, err)
		verdict, err := s.Verdict(ctx)
		require.NoError(t, err)
		r.wrong = append(r.wrong, verdict...)
		counts := s.Cable.Counts()
		r.amounts, r.wrong, r.blocks, r.harmed = len(wrong), append(r.wrong, wrong...), counts.Blocks, counts.Harmed
		for _, b := range beliefs {
			r.sales++
			r.asked += b.Asked
			if b.Approved {
				r.approved++
			}
		}
	})
	return r
}

// many makes n sales, a few in each terminal's life. plan says how the ith goes, and gets the cable ready for it.
func many(t *testing.T, seed uint64, n int, plan func(i int, rng *rand.Rand, s *stack.Stack) stack.Plan) (all result) {
	t.Helper()
	for first := 0; first < n; first += salesPerLife {
		rng := rand.New(rand.NewPCG(seed, uint64(first)))
		all.add(life(t, stack.Options{Seed: seed + uint64(first)}, func(ctx context.Context, s *stack.Stack) (beliefs []stack.Belief, err error) {
			for i := first; i < min(first+salesPerLife, n); i++ {
				p := plan(i, rng, s)
				if p.Amount == 0 {
					p.Amount = money.Minor(1000 + i)
				}
				b, err := s.Sell(ctx, p)
				if err != nil {
					return beliefs, fmt.Errorf("sale %d: %w", i, err)
				}
				beliefs = append(beliefs, b)
				s.Cable.Tap(nil)
				s.Cable.Spoil(stack.Damage{}, stack.Damage{})
			}
			return beliefs, nil
		}))
	}
	return all
}

// TestSalesInNoise: sales on a cable in every kind of weather. The weather gets better after the register has asked a
// few times, or nobody would ever hear an answer. A register goes on asking for as long as it takes.
func TestSalesInNoise(t *testing.T) {
	seed, n := env.Seed(), env.Number("FRAMES", need.Size(1000, 4000))/50
	table := weathers()
	// Some of the backend's scenarios: the wallet says no, is late, or the money moves after a no.
	special := []money.Minor{90003, 90008, 90012, 90013, 90016}
	all := many(t, seed, n, func(i int, rng *rand.Rand, s *stack.Stack) stack.Plan {
		d := table[rng.IntN(len(table))].d
		s.Cable.Spoil(d, d)
		p := stack.Plan{Again: func(n int) {
			if n > 3 {
				s.Cable.Spoil(stack.Damage{}, stack.Damage{})
			}
		}}
		switch at := i % salesPerLife; {
		case i == 0: // declined, so that not all are approved in the smallest campaign
			p.Amount = special[0]
		case at < len(special) && rng.IntN(4) == 0:
			p.Amount = special[at]
		}
		return p
	})
	all.report(t, "noise", seed)
	require.Greater(t, all.approved, all.sales/4)
	require.Less(t, all.approved, all.sales)
}

// TestPulledAtEveryByte: the cable goes at every byte of a dialogue, in either direction, and comes back.
func TestPulledAtEveryByte(t *testing.T) {
	seed := env.Seed()
	var mu sync.Mutex
	var length [2]int
	clean := life(t, stack.Options{}, func(ctx context.Context, s *stack.Stack) ([]stack.Belief, error) {
		s.Cable.Tap(func(passed [2]int) { mu.Lock(); length = passed; mu.Unlock() })
		b, err := s.Sell(ctx, stack.Plan{Amount: 1000})
		return []stack.Belief{b}, err
	})
	require.Empty(t, clean.wrong)
	require.Equal(t, 1, clean.approved)
	type place struct{ way, n int }
	var places []place
	for way := range length {
		for n := range length[way] + 1 {
			places = append(places, place{way, n})
		}
	}
	rng := rand.New(rand.NewPCG(seed, 6))
	rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	n := min(len(places), env.Number("FRAMES", need.Size(1000, 4000))/50)
	all := many(t, seed, n, func(i int, rng *rand.Rand, s *stack.Stack) stack.Plan {
		at, away := places[i], time.Duration(100+rng.IntN(15_000))*time.Millisecond
		var once sync.Once
		s.Cable.Tap(func(passed [2]int) {
			if passed[at.way] >= at.n {
				once.Do(func() { s.Cable.Pull(); time.AfterFunc(away, s.Cable.Plug) })
			}
		})
		return stack.Plan{}
	})
	all.report(t, fmt.Sprintf("pulled at %d of %d places", n, len(places)), seed)
	require.Positive(t, all.approved)
}

// TestAbortAroundTheApproval: 06 B0 at every millisecond around the moment in which the approval is told.
func TestAbortAroundTheApproval(t *testing.T) {
	seed := env.Seed()
	var told time.Duration
	clean := life(t, stack.Options{}, func(ctx context.Context, s *stack.Stack) ([]stack.Belief, error) {
		began := time.Now()
		b, err := s.Sell(ctx, stack.Plan{Amount: 1000, Tap: func(direction string, apdu []byte) {
			if direction == "in" && apdu[0] == 0x04 && apdu[1] == 0x0F {
				told = time.Since(began)
			}
		}})
		return []stack.Belief{b}, err
	})
	require.Empty(t, clean.wrong)
	require.Positive(t, told)
	const around = 300 // milliseconds, before and after
	n := min(2*around, env.Number("FRAMES", need.Size(1000, 4000))/100)
	all := many(t, seed, n, func(i int, _ *rand.Rand, _ *stack.Stack) stack.Plan {
		return stack.Plan{AbortAt: told + time.Duration(i*2*around/n-around)*time.Millisecond}
	})
	all.report(t, fmt.Sprintf("06 B0 within %d ms of %v", around, told), seed)
	require.Positive(t, all.approved)
	require.Less(t, all.approved, all.sales)
}

// TestRegisterRestarts: the register dies in the middle of a sale and asks when it is back, in good and bad weather.
func TestRegisterRestarts(t *testing.T) {
	seed, n := env.Seed(), env.Number("FRAMES", need.Size(1000, 4000))/100
	table := weathers()
	all := many(t, seed, n, func(_ int, rng *rand.Rand, s *stack.Stack) stack.Plan {
		if rng.IntN(2) == 0 {
			d := table[rng.IntN(len(table))].d
			s.Cable.Spoil(d, d)
		}
		return stack.Plan{
			DieAt: time.Duration(1+rng.IntN(3000)) * time.Millisecond, DeadFor: time.Duration(rng.IntN(60_000)) * time.Millisecond,
			Again: func(n int) {
				if n > 3 {
					s.Cable.Spoil(stack.Damage{}, stack.Damage{})
				}
			},
		}
	})
	all.report(t, "registers restarted", seed)
	require.Positive(t, all.approved)
}

// forgetful is a client that claims to have taken back what it never did.
type forgetful struct{ aapay.Service }

func (f forgetful) Status(ctx context.Context, id, method string) (aapay.Status, error) {
	st, err := f.Service.Status(ctx, id, method)
	if st.State == aapay.Pending || st.State == aapay.Initialized {
		st.State, st.AccountState = aapay.Finalized, aapay.Commit
	}
	return st, err
}

// A terminal that calls a payment paid before it is must be caught by the books.
func TestTeethPaidTooEarly(t *testing.T) {
	r := life(t, stack.Options{Mutate: func(s aapay.Service) aapay.Service { return forgetful{s} }},
		func(ctx context.Context, s *stack.Stack) ([]stack.Belief, error) {
			b, err := s.Sell(ctx, stack.Plan{Amount: 90008}) // nobody pays this one
			return []stack.Belief{b}, err
		})
	require.NotZero(t, r.amounts)
	require.Contains(t, strings.Join(r.wrong, "\n"), "told approved=true")
}
