package kill

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/campaign/kill/point"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/schemes/money"
)

// mostTimes bounds how often a point is waited for: the thirtieth line of a receipt is printed as the third.
const mostTimes = 10

// plot is one way a sale may go.
type plot struct {
	name   string
	amount money.Minor   // 0 = one of its own: the customer pays
	abort  time.Duration // when the register stops it; 0 = never
	deaf   bool          // the line is lost under the outcome
	person bool          // the method asks, at the terminal's page
	back   money.Minor   // what is given back then; its method asks as well
}

var plots = []plot{
	{name: "approved"},
	{name: "declined", amount: 90003},
	{name: "aborted by the register", amount: 90008, abort: 120 * time.Millisecond},
	{name: "late commit", amount: 90019, abort: 60 * time.Millisecond}, // the customer pays while the reversal is under way
	{name: "lost initialize", amount: 90021},
	{name: "lost telling", deaf: true},
	{name: "by hand", person: true},
	{name: "refund that asks", person: true, back: 250},
}

// target is a point of a plot, and which time it is reached.
type target struct {
	plot plot
	at   string
	nth  int
}

func (g target) String() string { return fmt.Sprintf("%s, %s:%d", g.plot.name, g.at, g.nth) }

// ledger is which points there are and where a terminal died.
type ledger struct {
	mu      sync.Mutex
	reached map[string]int // most in one life
	resumed map[string]int // likewise, in a life after a death
	died    map[string]int
	missed  map[string]int // the story ended before the point was reached
}

func keep(into, more map[string]int) {
	for name, n := range more {
		into[name] = max(into[name], n)
	}
}

// TestPoints: a terminal dies at every named point of every plot, and again while it picks up the pieces.
func TestPoints(t *testing.T) {
	need.Verify(t, "builds the program with points to die at")
	t.Parallel()
	n, seedNo := share(points), env.Seed()
	c := begin(t, true)
	l := &ledger{reached: map[string]int{}, resumed: map[string]int{}, died: map[string]int{}, missed: map[string]int{}}
	results := make([]told, len(plots), len(plots)+n)
	found := make([][]target, len(plots))
	c.all(len(plots), func(i int) error { // first without a death, to see what points there are
		x, res, err := c.tell(i, plots[i])
		if err != nil {
			return err
		}
		err = x.points(&res, plots[i], l, "", "")
		results[i] = res
		lives, _ := x.lives()
		for _, name := range slices.Sorted(maps.Keys(lives[0])) {
			for nth := range min(lives[0][name], mostTimes) {
				found[i] = append(found[i], target{plots[i], name, nth + 1})
			}
		}
		return x.finish(err)
	})
	targets := order(slices.Concat(found...))
	t.Logf("seed %d, %d points in %d plots, %d places to die at, %d deaths asked for, %d terminals at a time",
		seedNo, len(l.reached), len(plots), len(targets), n, workers)
	results = results[:len(plots)+n]
	c.all(n, func(k int) error {
		rng := rand.New(rand.NewPCG(seedNo, uint64(k)))
		g, i := targets[k%len(targets)], len(plots)+k
		x, res, err := c.tell(i, g.plot)
		if err != nil {
			return err
		}
		second := ""
		if rng.IntN(2) == 0 {
			second = l.second(rng)
		}
		err = x.points(&res, g.plot, l, fmt.Sprintf("%s:%d", g.at, g.nth), second)
		results[i] = res
		if err != nil {
			err = fmt.Errorf("%s, then %q: %w", g, second, err)
		}
		return x.finish(err)
	})
	c.check(results)
	l.report(t, n >= 2*len(targets))
}

// order puts the first time of each point first, so that a short campaign dies at as many as it can.
func order(targets []target) []target {
	seen := map[string]bool{}
	var front, rest []target
	for _, g := range targets {
		if !seen[g.at] {
			seen[g.at] = true
			front = append(front, g)
			continue
		}
		rest = append(rest, g)
	}
	return append(front, rest...)
}

// tell makes a terminal for a plot.
func (c *campaign) tell(i int, p plot) (*terminal, told, error) {
	if p.amount == 0 {
		p.amount = money.Minor(1000 + i)
	}
	x, err := c.terminal(i)
	if err == nil && p.person {
		err = x.attended()
	}
	return x, told{name: fmt.Sprintf("%d, %s", i, p.name), amount: p.amount}, err
}

// points tells the story of one sale: death at a point, another one in the life after that, and then to the end.
func (x *terminal) points(res *told, p plot, l *ledger, at, second string) error {
	ctx, cancel := context.WithTimeout(context.Background(), saleTime())
	defer cancel()
	err := x.start(at)
	if err != nil && (x.Process == nil || x.diedAt() == "") {
		return err
	}
	var first answer
	if err == nil { // else it died before it was ready: nothing was asked for
		x.watched(ctx)
		first = <-x.pay(ctx, res.amount, p.abort, p.deaf)
		if !p.deaf { // else it waits to be asked
			if _, _, err := x.settled(ctx); err != nil {
				return err
			}
		}
	}
	if !x.Alive() {
		if x.diedAt() == "" {
			return fmt.Errorf("the terminal died: %s", x.Cmd.ProcessState)
		}
		x.c.kills.Add(1)
		if err := x.start(second); err != nil && (x.Process == nil || x.diedAt() == "") {
			return err
		}
	}
	if err := x.conclude(ctx, res, first); err != nil {
		return err
	}
	if p.back > 0 && res.approved {
		if err := x.giveBack(ctx, res, p.back); err != nil {
			return err
		}
	}
	lives, deaths := x.lives()
	l.lived(lives, deaths)
	if at != "" && len(deaths) == 0 {
		l.note(l.missed, at)
	}
	return nil
}

// lives is how often each point was reached, life by life, and where all but the last of them ended.
func (x *terminal) lives() (lives []map[string]int, deaths []string) {
	log, _ := os.ReadFile(filepath.Join(x.dir, "points"))
	lives = []map[string]int{{}}
	for line := range strings.Lines(string(log)) {
		name, dead := strings.CutPrefix(strings.TrimSuffix(line, "\n"), point.Killed)
		life := lives[len(lives)-1]
		life[name]++
		if dead {
			lives, deaths = append(lives, map[string]int{}), append(deaths, name)
		}
	}
	return lives, deaths
}

func (l *ledger) note(counts map[string]int, at string) {
	name, _, _ := point.Parse(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	counts[name]++
}

// lived takes over what a terminal's lives were.
func (l *ledger) lived(lives []map[string]int, deaths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range deaths {
		l.died[name]++
	}
	for i, life := range lives {
		if i > 0 {
			keep(l.resumed, life)
		}
		keep(l.reached, life)
	}
}

// second picks a point of those reached by terminals that picked up the pieces: one where fewest have died.
func (l *ledger) second(rng *rand.Rand) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.resumed) == 0 {
		return ""
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(l.resumed)) {
		switch {
		case len(names) > 0 && l.died[name] > l.died[names[0]]:
		case len(names) > 0 && l.died[name] == l.died[names[0]]:
			names = append(names, name)
		default:
			names = []string{name}
		}
	}
	name := names[rng.IntN(len(names))]
	return fmt.Sprintf("%s:%d", name, 1+rng.IntN(min(l.resumed[name], 6)))
}

// report prints the list of points, and fails on one where nobody died; only a whole campaign can be asked for all of them.
func (l *ledger) report(t *testing.T, whole bool) {
	var out strings.Builder
	never := 0
	for _, name := range slices.Sorted(maps.Keys(l.reached)) {
		fmt.Fprintf(&out, "%6d deaths, reached up to %2d times in a life: %s\n", l.died[name], l.reached[name], name)
		if l.died[name] > 0 {
			continue
		}
		never++
		if whole {
			t.Errorf("nobody died at %q", name)
		}
	}
	missed := 0
	for _, n := range l.missed {
		missed += n
	}
	t.Logf("%d points, nobody died at %d, %d stories ended before their point was reached\n%s", len(l.reached), never, missed, out.String())
	require.Positive(t, len(l.died))
}
