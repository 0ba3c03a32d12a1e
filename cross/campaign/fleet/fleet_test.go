package fleet

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/store/postgres/pgtest"
)

// drained is what a terminal may take after the last fault.
const drained = time.Minute

// rounds are the faults of a run.
type rounds struct {
	*world
	rng  *rand.Rand
	each time.Duration // from one round to the next; 0 = as fast as the tills are told something
	step int           // lines that tills are told between two faults

	stopped, ended, full, restarted int64
	allThree                        int
}

// TestFleet lets a fleet sell while its servers and backends die, and judges what its tills were told. TERMINALS (30), ROUNDS (2) and
// SECONDS from one round to the next (0 = as soon as tills were told something) say how much.
func TestFleet(t *testing.T) {
	pgtest.Need(t)
	terminals, count, seed := env.Number("TERMINALS", 30), env.Number("ROUNDS", 2), env.Seed()
	r := &rounds{rng: rand.New(rand.NewPCG(seed, 1)), each: time.Duration(env.Number("SECONDS", 0)) * time.Second, step: min(20, terminals/2)}
	own := os.Getuid() == 0
	if !own {
		need.Missing(t, "the full disk of a server", "run as root")
	}
	// The tills make some 20 sales and writes a second, however many they are.
	r.world = open(t, size{
		terminals: terminals, servers: 3, processes: 3, quorum: true, own: own, lost: 3, seed: seed, think: max(time.Duration(terminals)*time.Second/20, 500*time.Millisecond),
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var commits, rollbacks int64
	var counting sync.WaitGroup
	counting.Go(func() { commits, rollbacks = r.db.figures(ctx) })
	began := time.Now()
	for i := range count {
		if err := r.round(ctx, i); err != nil {
			t.Fatalf("seed %d: round %d: %v", seed, i+1, err)
		}
	}
	last := time.Now()
	took := r.drain(ctx, last, drained)
	require.NoError(t, r.world.each(func(x *till) error { x.end(ctx); return nil }))
	for _, p := range r.backends.list {
		r.backends.alive(p)
	}
	v := r.verdict(ctx)
	cancel()
	counting.Wait()
	r.report(v, took, commits, rollbacks, last.Sub(began))
	if len(took) < terminals || v.all() != nil {
		r.backends.logs(t)
	}
	env.Report(t, seed, slices.Concat(v.all(), r.wrong))
	require.Equal(t, terminals, len(took), "terminals that are drained") //nolint:testifylint // a list of a thousand says nothing
	require.Greater(t, v.sales[approved], count, "a fleet that sells nothing proves nothing")
	require.Greater(t, v.writes[done], count)
}

// report prints the table of a run.
func (r *rounds) report(v *verdict, took []time.Duration, commits, rollbacks int64, lasted time.Duration) {
	slices.Sort(took)
	median, latest := time.Duration(0), time.Duration(0)
	if len(took) > 0 {
		median, latest = took[len(took)/2], took[len(took)-1]
	}
	sum := func(m map[string]int) (n int) {
		for _, one := range m {
			n += one
		}
		return n
	}
	w := r.way
	r.t.Logf("seed %d, %v: %d primaries killed, %d standbys stopped, %d connections ended, %d backends killed and %d ended in order, all at once %d times, %d full disks, %d terminals restarted",
		r.seed, lasted.Round(time.Second), r.db.killed, r.stopped, r.ended, r.backends.killed.Load(), r.backends.ended.Load(), r.allThree, r.full, r.restarted)
	r.t.Log(lines(fmt.Sprintf("sales %d", sum(v.sales)), v.sales) + "\n" + lines(fmt.Sprintf("writes %d", sum(v.writes)), v.writes) + "\n" + lines("uncertain for a while", v.uncertain))
	r.t.Logf("requests %d; no backend was ready for %d, a backend died under %d, %d were answered that it cannot, %d answers to writes were cut off; %d commits on the servers, %d given up (conflicts among them)",
		w.answered.Load(), w.unavailable.Load(), w.broken.Load(), w.refused.Load(), w.cut.Load(), commits, rollbacks)
	r.t.Logf("lost %d, doubled %d, otherwise wrong %d; drained after the last fault: median %v, last %v; no primary for at most %v, no write answered for at most %v",
		len(v.lost), len(v.doubled), len(v.wrong)+len(r.wrong), median.Round(10*time.Millisecond), latest.Round(10*time.Millisecond), r.db.leaderless.Round(10*time.Millisecond), w.silence.Round(10*time.Millisecond))
}

func sorted(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// round is one round of faults: at most one server and one backend are away at a time, but for the rounds in which all backends are.
func (r *rounds) round(ctx context.Context, i int) error {
	began := time.Now()
	faults := []struct {
		name string
		do   func(context.Context, int) error
	}{
		{"stop a standby", r.stopStandby}, {"end connections", r.storm}, {"restart terminals", r.restart}, {"end a backend", r.endBackend}, {"fill a disk", r.fill}, {"kill the primary", r.killPrimary},
	}
	for n, one := range faults {
		if at := r.each * time.Duration(n) / time.Duration(len(faults)); !pause(ctx, at-time.Since(began)) {
			return ctx.Err()
		}
		start := time.Now()
		if err := one.do(ctx, i); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		r.t.Logf("round %d, %v: %s took %v", i+1, time.Since(began).Round(time.Second), one.name, time.Since(start).Round(10*time.Millisecond))
		r.way.told(r.t)
		if err := r.told.grows(ctx, r.step); err != nil {
			return fmt.Errorf("after %q: %w", one.name, err)
		}
	}
	pause(ctx, r.each-time.Since(began))
	return ctx.Err()
}

// lasting is how long a fault lasts: a tenth of a round, or until tills were told that much where rounds have no length.
func (r *rounds) lasting(ctx context.Context) {
	pause(ctx, max(r.each/10, 500*time.Millisecond))
}

// stopStandby stops a standby, in each fifth round both of them: then no commit is confirmed.
func (r *rounds) stopStandby(ctx context.Context, i int) error {
	list := r.db.followers()
	if i%5 != 4 {
		list = list[r.rng.IntN(len(list)):][:1]
	}
	for _, n := range list {
		n.signal(syscall.SIGSTOP)
		r.stopped++
	}
	r.lasting(ctx)
	for _, n := range list {
		n.signal(syscall.SIGCONT)
	}
	return r.db.streams(ctx, len(r.db.nodes)-1)
}

// storm ends all connections of the backends, three times.
func (r *rounds) storm(ctx context.Context, _ int) error {
	for range 3 {
		n, err := r.db.storm(ctx)
		if err != nil {
			return err
		}
		r.ended += n
		pause(ctx, 300*time.Millisecond)
	}
	return nil
}

// restart kills the processes of some terminals; half of them are also booted.
func (r *rounds) restart(ctx context.Context, _ int) error {
	n := max(2, len(r.tills)/80)
	killed := map[*till]bool{} // and whether it is another boot
	for _, i := range r.rng.Perm(len(r.tills))[:n] {
		killed[r.tills[i]] = chance(r.rng, 50)
	}
	r.restarted += int64(n)
	return r.world.each(func(x *till) error {
		if reboot, is := killed[x]; is {
			return x.restart(ctx, reboot)
		}
		return nil
	})
}

// endBackend kills a backend or ends it in order, in turn; in each fourth round all of them die at once.
func (r *rounds) endBackend(ctx context.Context, i int) error {
	list := r.backends.list
	switch {
	case i%4 == 3:
		r.allThree++
		for _, p := range list {
			r.backends.kill(p)
		}
		r.lasting(ctx)
	case i%2 == 0:
		list = list[r.rng.IntN(len(list)):][:1]
		r.backends.kill(list[0])
		r.lasting(ctx)
	default: // a rolling restart
		for _, p := range list {
			r.backends.stop(p)
			if err := r.backends.start(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(list))
	for _, p := range list {
		wg.Go(func() { errs <- r.backends.start(ctx, p) })
	}
	wg.Wait()
	for range list {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// fill fills the primary's disk in each third round; in every other one of these the log has no room either, and the server gives up.
// Then it is taken for dead.
func (r *rounds) fill(ctx context.Context, i int) error {
	leader := r.db.leads()
	if i%3 != 1 || leader.room == 0 {
		return nil
	}
	if err := leader.fill(); err != nil {
		return err
	}
	r.full++
	if i%6 == 4 {
		for range 3 { // segments of its log
			if err := leader.exec(ctx, "SELECT pg_switch_wal(); CREATE TABLE IF NOT EXISTS moved ()"); err != nil {
				break // it has given up
			}
		}
	}
	r.lasting(ctx)
	if err := leader.relieve(); err != nil {
		return err
	}
	if leader.ended() {
		return r.killPrimary(ctx, i)
	}
	// It comes back by itself, or it does not.
	if err := until(ctx, 20*time.Second, func() error { return leader.exec(ctx, "SELECT 1") }); err != nil {
		return r.killPrimary(ctx, i)
	}
	return nil
}

// killPrimary kills the primary, has a standby promoted, and makes a standby of the one that was killed.
func (r *rounds) killPrimary(ctx context.Context, _ int) error {
	old, err := r.db.failover(ctx)
	if err != nil {
		return err
	}
	r.lasting(ctx)
	if err := r.db.rebuild(ctx, old); err != nil {
		return err
	}
	return r.db.streams(ctx, len(r.db.nodes)-1)
}
