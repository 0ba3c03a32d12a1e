package kill

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/tills"
)

// TestKillTills does the same over every other protocol, a fifth as many sales over each. Where PROTOCOLS names some, it sells over
// these alone, N times over each.
func TestKillTills(t *testing.T) {
	need.Verify(t, "kills terminals of every protocol; cross/campaign/line cuts their power in process")
	t.Parallel()
	list, err := tills.Chosen(os.Getenv("PROTOCOLS"))
	require.NoError(t, err)
	n := share(killed)
	if os.Getenv("PROTOCOLS") == "" {
		list, n = list[1:], max(4, n/5) // TestKill has ZVT
	}
	var each []tills.Protocol
	for _, p := range list {
		each = append(each, slices.Repeat([]tills.Protocol{p}, n)...)
	}
	seedNo := env.Seed()
	t.Logf("seed %d, %d sales over each of %d protocols, %d terminals at a time", seedNo, n, len(list), workers)
	c := begin(t, false)
	c.port-- // TestKill has the other
	results, tooSoon := make([]told, 2*len(each)), atomic.Int64{}
	c.all(len(each), func(i int) error {
		s := c.scenario(i, each[i], rand.New(rand.NewPCG(seedNo, uint64(i))))
		x, err := c.terminalWith(i, each[i].Config)
		if err != nil {
			return err
		}
		s.on(x)
		if err := x.finish(s.play()); err != nil {
			return fmt.Errorf("%s, broken after %d bytes, calm %v: %w", s, s.cut, s.calm, err)
		}
		results[2*i] = told{name: x.dir + ", " + s.String(), protocol: s.Name, references: s.References[s.Amount], approved: s.Paid, amount: s.Amount}
		if len(s.References[s.Next]) > 0 {
			results[2*i+1] = told{name: x.dir + ", the next sale", references: s.References[s.Next], approved: s.NextPaid, amount: s.Next}
		}
		if s.TooSoon {
			tooSoon.Add(1)
		}
		return nil
	})
	c.check(slices.DeleteFunc(results, func(r told) bool { return r.name == "" }))
	t.Logf("%d approvals were heard by a till whose terminal died before it knew that, and were undone at the next sale", tooSoon.Load())
}
