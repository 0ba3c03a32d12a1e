package line

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/stack"
	"posagent/cross/stack/stacktest"
	"posagent/cross/tills"
	"posagent/ecr/till"
	"posagent/store/crashfs"
)

// TestPowerCutOfSales: over each protocol the power fails within a sale, or after its answer. What was not synced is lost, in part or
// as a whole. Then the till asks in its protocol's way, or goes on with its next sale. POSAGENT_STATES is twice the number of sales.
func TestPowerCutOfSales(t *testing.T) {
	seed, n := env.Seed(), env.Number("POSAGENT_STATES", need.Size(8, 40))/2
	for _, p := range over(t) {
		t.Run(p.Name, func(t *testing.T) {
			var all result
			for i := range n {
				all.add(cutPower(t, p, seed+uint64(i), i))
			}
			all.report(t, p.Name+", power cut", seed)
			require.Positive(t, all.approved)
		})
	}
}

// cutPower plays one sale.
func cutPower(t *testing.T, p tills.Protocol, seed uint64, i int) (r result) {
	rng := rand.New(rand.NewPCG(seed, 9))
	stacktest.Scratch(t, stack.Options{Unpaced: true}, func(o stack.Options) {
		rec, err := crashfs.New()
		require.NoError(t, err)
		defer func() { require.NoError(t, rec.Close()) }()
		o.VFS = rec.VFS()
		r = scenario{p: p, seed: seed, i: i, o: o, first: func(ctx context.Context, k *stack.Stack, s *tills.Scenario, pay func(dial) till.Answer) error {
			gone, unplug := context.WithCancel(ctx)
			defer unplug()
			asked := make(chan till.Answer, 1)
			go func() {
				asked <- pay(func(ctx context.Context, k *stack.Stack) (net.Conn, error) {
					conn, err := k.Wire.Dial(ctx)
					context.AfterFunc(gone, func() {
						if err == nil {
							_ = conn.Close()
						}
					})
					return conn, err
				})
			}()
			calm := i%4 == 3
			if calm {
				s.First = <-asked
				if err := s.Recorded(ctx); err != nil {
					return err
				}
			} else {
				<-time.After(time.Duration(rng.IntN(2500)) * time.Millisecond)
			}
			synctest.Wait() // nothing is on its way in this moment
			err := k.CutPower(ctx, func(dir string) error {
				defer unplug()
				plan := crashfs.Plan{States: 1, Seed: seed, Dir: o.Dir, From: rec.Len(), To: rec.Len()}
				_, err := rec.Enumerate(plan, func(st crashfs.State) error { return os.CopyFS(dir, os.DirFS(st.Dir)) })
				return err
			})
			if !calm {
				s.First = <-asked
			}
			if err != nil {
				return fmt.Errorf("after the power cut: %w", err)
			}
			return nil
		}}.play(t)
	})
	return r
}
