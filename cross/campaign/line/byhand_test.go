package line

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad"
	"posagent/device/keypad/entry"
	"posagent/schemes/money"
)

// deed is what a customer does at the terminal.
type deed struct {
	name  string
	pick  int    // which number of the choice; 0 = touches nothing
	typed string // at each prompt: digits, < correct, ! confirm, x cancel, | waits for a second, / the pad is pulled
	paid  bool   // on a cable that works
}

// deeds are what customers do: the choice is 1 Swish, 2 Easy by code, 3 Easy by number, 4 instalments.
var deeds = []deed{
	{"pays by code", 1, "", true},
	{"pays the other way by code", 2, "", true},
	{"types the number", 3, "46700001!", true},
	{"types two values", 4, "19121212!", true},
	{"corrects it", 3, "4670000<<<0001!", true},
	{"types slowly", 3, "4||6||70||0||00|1!", true},
	{"confirms too early, goes on", 3, "46!700001!", true},
	{"touches nothing", 0, "", true}, // the first method begins by itself
	{"cancels the choice", 99, "", false},
	{"cancels while typing", 3, "467x", false},
	{"goes away while typing", 3, "467", false},
	{"goes back and leaves", 3, "4<<", false},
	{"pulls the pad", 3, "46/", false},
	{"presses on after the end", 3, "46700001!!!12", true},
	{"cancels too late", 3, "46700001!x", false}, // nothing is approved yet
}

// customer is a person in front of the terminal: sees its screen, presses its keys.
type customer struct {
	keys chan string
	away atomic.Bool // the pad is pulled

	mu   sync.Mutex
	deed deed
	seen string // what was asked last
	kind []scene.Kind
}

// Show implements display.Screen. It presses nothing itself: a screen is drawn while the terminal waits.
func (c *customer) Show(v display.View) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kind = append(c.kind, v.Kind)
	asked := fmt.Sprint(v.Kind, v.Title, v.Entry.Label)
	if asked == c.seen {
		return nil
	}
	switch c.seen = asked; v.Kind {
	case scene.Choice:
		if c.deed.pick == 99 {
			c.press("x")
		} else if c.deed.pick > 0 {
			c.press(fmt.Sprint(c.deed.pick))
		}
	case scene.Prompt:
		if v.Entry.Label == "Months" {
			c.press("12!")
			return nil
		}
		c.press(c.deed.typed)
	}
	return nil
}

func (c *customer) press(keys string) {
	select {
	case c.keys <- keys:
	default:
	}
}

// begin is a new customer.
func (c *customer) begin(d deed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deed, c.seen, c.kind = d, "", nil
	c.away.Store(false)
	for len(c.keys) > 0 {
		<-c.keys
	}
}

// Run implements agent.Pad.
func (c *customer) Run(ctx context.Context, press func(entry.Key), _ func(keypad.Status)) error {
	other := map[rune]entry.Key{'<': entry.Correct, '!': entry.Confirm, 'x': entry.Cancel}
	waiting := make(chan string, 8)
	c.mu.Lock()
	c.keys = waiting
	c.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return nil
		case keys := <-waiting:
			for _, r := range keys {
				pause := 40 * time.Millisecond
				if r == '|' {
					pause = time.Second
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(pause):
				}
				switch k, ok := other[r]; {
				case r == '/':
					c.away.Store(true)
					press(entry.Gap)
				case r == '|', c.away.Load():
				case ok:
					press(k)
				default:
					press(entry.Digit(int(r - '0')))
				}
			}
		}
	}
}

// Status implements agent.Pad.
func (c *customer) Status() keypad.Status {
	return keypad.Status{Path: "/dev/input/event3", Open: !c.away.Load()}
}

// byHand makes sales by hand, one for each deed of the plan, on a cable that a plan may spoil.
func byHand(t *testing.T, seed uint64, n int, plan func(i int, rng *rand.Rand, s *stack.Stack) (deed, stack.Plan), check func(d deed, b stack.Belief)) (all result) {
	t.Helper()
	for first := 0; first < n; first += salesPerLife {
		rng := rand.New(rand.NewPCG(seed, uint64(first)))
		c := &customer{}
		o := stack.Options{Seed: seed + uint64(first), Methods: stack.ByHand, Choose: true, Screen: c, Keypad: c}
		all.add(life(t, o, func(ctx context.Context, s *stack.Stack) (beliefs []stack.Belief, err error) {
			for i := first; i < min(first+salesPerLife, n); i++ {
				d, p := plan(i, rng, s)
				p.Amount = money.Minor(1000 + i)
				c.begin(d)
				b, err := s.Sell(ctx, p)
				if err != nil {
					return beliefs, fmt.Errorf("sale %d, %s: %w", i, d.name, err)
				}
				if check != nil {
					check(d, b)
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

// TestCustomers: every deed of a customer, on a cable that works, has the end it must have, and the register hears it.
func TestCustomers(t *testing.T) {
	seed := env.Seed()
	all := byHand(t, seed, len(deeds), func(i int, _ *rand.Rand, _ *stack.Stack) (deed, stack.Plan) { return deeds[i], stack.Plan{} },
		func(d deed, b stack.Belief) { require.Equal(t, d.paid, b.Approved, "%s: %s", d.name, b.Said) })
	all.report(t, "customers", seed)
	paid := len(slices.DeleteFunc(slices.Clone(deeds), func(d deed) bool { return !d.paid }))
	require.Equal(t, paid, all.approved)
}

// TestCustomersAndTheCable: a register that is pulled, spoilt or aborts while a person chooses and types. No money moves that the register
// was not told of, and none twice.
func TestCustomersAndTheCable(t *testing.T) {
	seed, n := env.Seed(), env.Number("FRAMES", need.Size(1000, 4000))/50
	table := weathers()
	all := byHand(t, seed, n, func(i int, rng *rand.Rand, s *stack.Stack) (deed, stack.Plan) {
		p := stack.Plan{}
		if i == 0 { // so that not all are approved in the smallest campaign
			return deeds[rng.IntN(len(deeds))], stack.Plan{AbortAt: time.Millisecond}
		}
		switch rng.IntN(4) {
		case 0:
			d := table[rng.IntN(len(table))].d
			s.Cable.Spoil(d, d)
			p.Again = func(n int) {
				if n > 3 {
					s.Cable.Spoil(stack.Damage{}, stack.Damage{})
				}
			}
		case 1:
			p.AbortAt = time.Duration(rng.IntN(20_000)) * time.Millisecond
		case 2:
			at, away := time.Duration(rng.IntN(20_000))*time.Millisecond, time.Duration(100+rng.IntN(15_000))*time.Millisecond
			time.AfterFunc(at, func() { s.Cable.Pull(); time.AfterFunc(away, s.Cable.Plug) })
		}
		return deeds[rng.IntN(len(deeds))], p
	}, nil)
	all.report(t, "customers and the cable", seed)
	require.Positive(t, all.approved)
	require.Less(t, all.approved, all.sales)
}
