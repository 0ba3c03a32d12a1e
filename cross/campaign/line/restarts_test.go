package line

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// naive is a register that acknowledges whatever it is sent, and remembers what it acknowledged.
type naive struct {
	approved money.Minor // in the message that waits for its answer
	began    time.Time
	trace    []string
	acked    map[money.Minor]bool // approvals it has answered 80 00
}

func (n *naive) tap(direction string, data []byte) {
	m, err := apdu.Decode(data)
	if err != nil {
		return
	}
	n.trace = append(n.trace, fmt.Sprintf("%v %s %x", time.Since(n.began), direction, data[:min(8, len(data))]))
	switch {
	case direction == "in" && m.Cmd == apdu.StatusInfo:
		n.approved = 0
		if code, ok := m.Result(); ok && code == 0 {
			minor, _, _ := m.Amount()
			n.approved = money.Minor(minor)
		}
	case direction == "out" && m.Cmd.IsOK() && n.approved != 0:
		n.acked[n.approved] = true
		n.approved = 0
	}
}

// TestField_L5L6Restarts: RESTARTS registers lose power in the middle of a sale, half of them with the terminal, and ask for a sale
// anew when they are back, without asking what became of the old one. What they acknowledge by themselves confirms nothing: the old
// sale is undone, and the new one is what it was told.
func TestField_L5L6Restarts(t *testing.T) {
	rounds, seed := env.Number("RESTARTS", need.Size(4, 6)), env.Seed()
	o := stack.Options{Seed: seed, Methods: stack.ShortTimeouts, Unit: "ms", WalletDelay: walletDelay, Poll: time.Second, ByteTime: 20 * time.Microsecond}
	stacktest.Life(t, o, func(ctx context.Context, t *testing.T, s *stack.Stack) {
		rng := rand.New(rand.NewPCG(seed, 2))
		lost, kept, unsure := 0, 0, 0
		for n := range rounds {
			old, fresh := money.Minor(100_000+10*n), money.Minor(100_001+10*n)
			first := &naive{began: time.Now(), acked: map[money.Minor]bool{}}
			r, err := s.Dial(first.tap)
			require.NoError(t, err)
			die := time.Duration(rng.Int64N(int64(2 * time.Second)))
			power := time.AfterFunc(die, r.Disconnect)
			res, err := r.Pay(ctx, old, "EUR", zvt.PayOptions{})
			power.Stop()
			heard := err == nil && res.Told && res.Approved
			require.NoError(t, r.Close())
			begun := make(chan error, 1)
			if n%2 == 1 {
				go func() { begun <- s.Crash(ctx) }()
			} else {
				begun <- nil
			}
			// It is back when the wallet has decided: asked while the sale runs, the terminal says "busy" (84 A0) and its answer to 04 0F
			// counts, because a cashier who presses twice is no restart.
			<-time.After(3*time.Second + time.Duration(rng.Int64N(int64(10*time.Second))))

			second := &naive{began: time.Now(), acked: map[money.Minor]bool{}}
			var again zvt.Result
			for tries := 0; ; tries++ { // "busy" is no answer to a sale: the old one is still open
				require.Less(t, tries, 200, "the register got no sale: %+v, %v", again, err)
				r, err = s.Dial(second.tap)
				require.NoError(t, err)
				again, err = r.Pay(ctx, fresh, "EUR", zvt.PayOptions{})
				require.NoError(t, r.Close())
				if err == nil && again.Told && again.Approved && again.Amount == fresh {
					break
				}
				if err == nil && again.Told && !again.Approved {
					require.Equal(t, byte(0xA0), again.Code, "a false no: %+v", again)
				}
				<-time.After(time.Second)
			}
			require.NoError(t, <-begun)
			_, err = s.Settle(ctx, time.Hour)
			require.NoError(t, err)
			have, err := s.Net(ctx, int64(old))
			require.NoError(t, err)
			switch {
			case heard:
				kept++
				require.EqualValues(t, old, have, "acknowledged in its own dialogue")
			case first.acked[old]:
				unsure++ // whether the terminal has heard it cannot be known here
			default:
				lost++
				require.Zero(t, have, "died at %v: the register never acknowledged it in time, and asked for another sale (%v) %s %s %s", die, second.acked, strings.Join(first.trace, "\n"), strings.Join(second.trace, "\n"), strings.Join(storyOf(ctx, s, old), "\n"))
			}
			have, err = s.Net(ctx, int64(fresh))
			require.NoError(t, err)
			require.EqualValues(t, fresh, have)
		}
		stacktest.Content(ctx, t, s)
		t.Logf("seed %d: %d registers lost power, %d of them with the terminal: %d sales undone, %d acknowledged before, %d cannot be known", seed, rounds, rounds/2,
			lost, kept, unsure)
	})
}

func storyOf(ctx context.Context, s *stack.Stack, amount money.Minor) (out []string) {
	sales, _ := s.Journal(ctx)
	for _, x := range sales {
		if x.Amount == amount {
			out = append(out, s.Story(ctx, x.Key)...)
		}
	}
	return out
}
