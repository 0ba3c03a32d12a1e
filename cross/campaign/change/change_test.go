package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/ecr/till"
)

// workers is how many runs are played at a time; most of a run is waiting.
const workers = 6

// tally is what the runs came to.
type tally struct {
	sales, approved, refused, unheard, backs, writes, replaced, open atomic.Int64
}

// TestChange plays N runs, or the one that RUN names of the seed.
func TestChange(t *testing.T) {
	need.Verify(t, "a world that changes between the steps of a sale; each change has its campaign in make test")
	t.Parallel()
	n, seed, first := env.Number("N", 25), env.Seed(), 0
	if run := env.Number("RUN", 0); run > 0 {
		first, n = run-1, 1
	}
	dir := t.TempDir()
	if fast, err := os.MkdirTemp("/dev/shm", "change-"); err == nil { // kill -9 leaves the page cache alone
		dir = fast
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(fast)) })
	}
	bin := program.Path(t, "posagent")
	t.Logf("seed %d, %d runs, %d at a time", seed, n, workers)
	var all tally
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(workers, n) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				run := first + i + 1
				host := fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()%128, 1+run/250%250, 1+run%250)
				text, wrong := play(t.Context(), drawn(seed, run), bin, filepath.Join(dir, fmt.Sprint(run)), host, &all)
				switch {
				case len(wrong) > 0:
					t.Errorf("SEED=%d RUN=%d: %d violations\n- %s\n%s", seed, run, len(wrong), strings.Join(wrong, "\n- "), text)
				case n == 1:
					t.Log(text)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d runs: %d sales, %d told approved, %d told not paid, %d heard nothing in the end; %d given back, %d writes of clients, %d journals replaced, %d sales still open at the end; at most %.4f violations a run at 95 %% where there are none",
		n, all.sales.Load(), all.approved.Load(), all.refused.Load(), all.unheard.Load(), all.backs.Load(), all.writes.Load(), all.replaced.Load(), all.open.Load(), 3/float64(n))
	if n >= 20 {
		require.Positive(t, all.approved.Load(), "a campaign that approves nothing proves nothing")
		require.Less(t, all.approved.Load(), all.sales.Load(), "and neither does one that approves everything")
		require.Positive(t, all.replaced.Load())
	}
}

// play plays one run. It returns what happened, with everything that is needed to repeat it, and what is wrong.
func play(parent context.Context, p plan, bin, dir, host string, all *tally) (text string, wrong []string) {
	ctx, cancel := context.WithTimeout(parent, 6*need.Limit())
	defer cancel()
	w, err := open(ctx, p, bin, dir, host)
	defer func() {
		w.close()
		if err := os.RemoveAll(dir); err != nil {
			wrong = append(wrong, err.Error())
		}
	}()
	if err == nil {
		err = w.live()
	}
	var rows []row
	var ops []operation
	books := ""
	if err == nil {
		if rows, ops, err = w.calm(ctx); err == nil {
			books, err = w.judge(rows)
		}
	}
	if err != nil && !errors.Is(err, errEnded) {
		w.violate("the run ended: %v", err)
	}
	all.count(w, rows)
	return w.report(rows, ops, books), w.wrong
}

// live plays the steps.
func (w *world) live() error {
	var beside sync.WaitGroup
	defer beside.Wait()
	w.backup()
	for i, s := range w.steps {
		w.note("step %d: %v", i, s)
		if !s.under {
			if err := w.change(s.change, &beside); err != nil {
				return err
			}
			w.do(i, s.act)
			continue
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.do(i, s.act)
		}()
		pass(w.ctx, s.at)
		err := w.change(s.change, &beside)
		<-ended
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *tally) count(w *world, rows []row) {
	for _, s := range w.sales {
		a.sales.Add(1)
		a.backs.Add(int64(len(s.backs)))
		switch {
		case s.approved:
			a.approved.Add(1)
		case s.word == till.Nothing:
			a.unheard.Add(1)
		default:
			a.refused.Add(1)
		}
	}
	a.writes.Add(int64(len(w.writes)))
	a.replaced.Add(int64(w.replaced))
	if left(rows) {
		a.open.Add(1)
	}
}
