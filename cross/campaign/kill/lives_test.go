package kill

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway/offlinetest"
	"posagent/cross/env"
	"posagent/cross/need"
)

// TestKillClients: terminals are killed at random moments while local clients write and the backend comes and goes.
func TestKillClients(t *testing.T) {
	need.Verify(t, "kills terminals while clients write; cross/campaign/disk and agent/gateway do so in process")
	t.Parallel()
	n, seedNo := share(killedClients), env.Seed()
	t.Logf("seed %d, %d clients", seedNo, n)
	c := begin(t, false)
	c.port += 2 // the sales of the other campaigns run beside these
	all, names := make([]client, n), offlinetest.Names()
	c.all(n, func(i int) error {
		rng := rand.New(rand.NewPCG(seedNo, uint64(i)))
		all[i] = client{Story: offlinetest.Tell(names[i%len(names)], i)}
		x, g, err := c.clientTerminal(i)
		if err != nil {
			return err
		}
		defer g.server.Close()
		err = x.start("")
		if err == nil {
			err = x.client(g, rand.New(rand.NewPCG(seedNo, uint64(i)+1<<32)), &all[i], func() error {
				for range 1 + rng.IntN(4) {
					<-time.After(moment(rng))
					x.kill()
					if err := x.start(""); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return x.finish(err)
	})
	every(t, c.checkClients(all), n)
}

// every makes sure that a campaign of enough stories asked for everything.
func every(t *testing.T, kinds map[string]int, stories int) {
	t.Helper()
	for _, name := range offlinetest.Names() {
		for _, w := range offlinetest.Tell(name, 1).Writes {
			require.True(t, t.Failed() || stories < len(offlinetest.Names()) || kinds[w.Kind] > 0, w.Kind)
		}
	}
}

// newer is what the next version of the program does to the tables of clients' writes.
const newer = `CREATE INDEX outbox_ops_newer ON outbox_ops (created_ms);
ALTER TABLE offline_things ADD COLUMN newer INTEGER NOT NULL DEFAULT 0;`

// TestPointsOfClients: terminals die at the named points of clients' writes, each point in its turn. The next life is the next
// version of the program, which changes the tables; half of the terminals die once more there.
func TestPointsOfClients(t *testing.T) {
	need.Verify(t, "builds the program with points to die at")
	t.Parallel()
	n, seedNo := share(pointsOfClients), env.Seed()
	c := begin(t, true)
	c.port += 2
	l := &ledger{reached: map[string]int{}, resumed: map[string]int{}, died: map[string]int{}, missed: map[string]int{}}
	names := offlinetest.Names()
	all := make([]client, n+len(names))
	tell := func(i int, name, at, second string) (*terminal, error) {
		rng := rand.New(rand.NewPCG(seedNo, uint64(i)))
		all[i] = client{Story: offlinetest.Tell(name, i)}
		x, g, err := c.clientTerminal(i)
		if err != nil {
			return nil, err
		}
		defer g.server.Close()
		if err = x.start(at); err != nil && (x.Process == nil || x.diedAt() == "") {
			return x, err
		}
		x.newer, x.second = newer, second
		if at == "" { // it sees what the next version does, too
			<-time.After(50 * time.Millisecond)
			x.kill()
			if err := x.start(""); err != nil {
				return x, err
			}
		}
		return x, x.client(g, rng, &all[i], func() error { return nil })
	}
	found := make([][]target, len(names))
	c.all(len(names), func(i int) error { // first without a death, to see what points there are
		x, err := tell(n+i, names[i], "", "")
		if x == nil {
			return err
		}
		log, _ := x.lives()
		l.lived(log, nil)
		for _, at := range slices.Sorted(maps.Keys(log[0])) {
			for nth := range min(log[0][at], 3) {
				found[i] = append(found[i], target{plot: plot{name: names[i]}, at: at, nth: nth + 1})
			}
		}
		return x.finish(err)
	})
	require.False(t, t.Failed())
	points := slices.Concat(found...)
	rng := rand.New(rand.NewPCG(seedNo, 0))
	rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	points = order(points)
	t.Logf("seed %d, %d points in %d stories, %d places to die at, %d deaths asked for", seedNo, len(l.reached), len(names), len(points), n)
	asked := map[string]int{}
	for i := range n {
		asked[points[i%len(points)].at]++
	}
	c.all(n, func(i int) error {
		g, second := points[i%len(points)], ""
		if rng := rand.New(rand.NewPCG(seedNo, uint64(i)+1<<32)); rng.IntN(2) == 0 {
			second = l.second(rng)
		}
		x, err := tell(i, g.plot.name, fmt.Sprintf("%s:%d", g.at, g.nth), second)
		if x == nil {
			return err
		}
		lives, deaths := x.lives()
		l.lived(lives, deaths)
		if len(deaths) == 0 {
			l.note(l.missed, g.at)
		}
		if err != nil {
			err = fmt.Errorf("%s, then %q: %w", g, second, err)
		}
		return x.finish(err)
	})
	every(t, c.checkClients(all), len(all))
	l.report(t, false)
	for _, at := range []string{ // accepted, sent, settled, migrated, folded
		"before commit gateway.Front.put", "after commit gateway.Front.put", "before commit outbox.Outbox.prepare", "after commit outbox.Outbox.prepare",
		"before POST Invoice", "after POST Invoice", "before POST tokens", "after POST payments", "before commit outbox.Outbox.settle", "after commit outbox.Outbox.settle",
		"before commit of a migration", "after commit of a migration", "before checkpoint", "after checkpoint", "before mark", "after mark",
	} {
		require.Positive(t, l.reached[at], at)
	}
	for at, times := range asked { // a point may lie beside the way that a story takes
		require.False(t, times >= 8 && l.died[at] == 0, "nobody died at %q, which was asked for %d times", at, times)
	}
}
