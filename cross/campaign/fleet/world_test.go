package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/program"
)

// size is how large a fleet is.
type size struct {
	terminals, servers, processes int
	quorum, own                   bool
	lost                          int // of a hundred answers to writes
	think                         time.Duration
	seed                          uint64
}

// world is a fleet: servers, backends, their balancer, and terminals with their tills.
type world struct {
	t   *testing.T
	dir string
	size
	db       *cluster
	backends *backends
	way      *balancer
	told     *told
	tills    []*till
	closing  chan struct{} // closed when the shops close
	selling  sync.WaitGroup

	mu    sync.Mutex
	wrong []string
}

// fault notes what no fault explains.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// open starts a fleet whose tills sell. It ends with the test.
func open(t *testing.T, s size) *world {
	t.Helper()
	began := time.Now()
	parent := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // what the disk takes is measured elsewhere
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "fleet")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755)) // the servers are of another user
	w := &world{t: t, dir: dir, size: s, closing: make(chan struct{})}
	w.db, err = openCluster(t.Context(), dir, s.servers, s.own, s.quorum)
	t.Cleanup(func() { require.NoError(t, w.db.close()) })
	require.NoError(t, err)
	more := []string(nil)
	if !s.quorum {
		more = []string{"--tolerate", "async"}
	}
	w.backends, err = openBackends(t.Context(), program.Path(t, "posagent-backend"), dir, w.db.url(), s.processes, w.fault, more...)
	t.Cleanup(w.backends.close)
	require.NoError(t, err)
	w.way = newBalancer(w.backends, s.lost)
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { w.way.Run(ctx) })
	t.Cleanup(func() { cancel(); serving.Wait() })
	w.told, err = newTold(filepath.Join(dir, "told.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.told.file.Close()) })
	t.Cleanup(func() { // after a failure, nothing goes on in the next test
		for _, x := range w.tills {
			require.NoError(t, x.drop())
		}
	})
	for i := range s.terminals {
		w.tills = append(w.tills, &till{
			terminal: newTerminal(i, dir, w.way), told: w.told, think: s.think, fault: w.fault, rng: rand.New(rand.NewPCG(s.seed, uint64(1000+i))),
		})
	}
	image, err := empty(ctx, filepath.Join(dir, "empty", "agent.db"))
	require.NoError(t, err)
	require.NoError(t, w.each(func(x *till) error {
		if err := errors.Join(os.Mkdir(filepath.Dir(x.path), 0o700), os.WriteFile(x.path, image, 0o600)); err != nil {
			return err
		}
		return x.start(ctx)
	}))
	w.way.begin()
	for _, x := range w.tills {
		w.selling.Go(func() { x.trade(ctx, w.closing) })
	}
	t.Logf("%d servers, %d backends and %d terminals run after %v", s.servers, s.processes, s.terminals, time.Since(began).Round(time.Second))
	return w
}

// each does something for all tills, some of them at a time.
func (w *world) each(f func(x *till) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	turns := make(chan struct{}, 4*runtime.NumCPU())
	for _, x := range w.tills {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			if err := f(x); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// finish closes the shops and waits until each till has heard what became of all that it had begun.
func (w *world) finish() {
	close(w.closing)
	w.selling.Wait()
}

// slow is when a terminal that is not drained yet is worth a line.
const slow = 25 * time.Second

// drain closes the shops and waits until each terminal has nothing open, and says how long each took after began.
func (w *world) drain(ctx context.Context, began time.Time, bound time.Duration) (took []time.Duration) {
	close(w.closing)
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	finished := make(chan struct{})
	go func() { w.selling.Wait(); close(finished) }()
	select { // a till that waits for its sale keeps its terminal open in any case
	case <-finished:
	case <-ctx.Done():
	}
	var mu sync.Mutex
	var left []string
	_ = w.each(func(x *till) error {
		late := ""
		for {
			n, what, err := x.open(ctx)
			if time.Since(began) > slow && what != "" && what != late {
				late = what
				w.t.Logf("%v: terminal %d has %d open%s", time.Since(began).Round(time.Second), x.n, n, what)
			}
			mu.Lock()
			switch {
			case ctx.Err() != nil:
				left = append(left, fmt.Sprintf("terminal %d is not drained: %d open%s (%v)", x.n, n, what, err))
			case err == nil && n == 0:
				took = append(took, time.Since(began))
			}
			mu.Unlock()
			if ctx.Err() != nil || err == nil && n == 0 {
				return nil
			}
			pause(ctx, 200*time.Millisecond)
		}
	})
	for _, one := range left {
		w.fault("%s", one)
	}
	return took
}

// verdict has the judge read what there is.
func (w *world) verdict(ctx context.Context) *verdict {
	w.t.Helper()
	conn, err := w.db.leads().connect(ctx)
	require.NoError(w.t, err)
	b, err := readBooks(ctx, conn)
	require.NoError(w.t, errors.Join(err, conn.Close(ctx)))
	list, err := readTold(filepath.Join(w.dir, "told.jsonl"))
	require.NoError(w.t, err)
	return judge(list, b)
}

// lines are the rows of a map, in order.
func lines(title string, m map[string]int) (text string) {
	text = title + "\n"
	for _, key := range sorted(m) {
		text += fmt.Sprintf("  %-52s %7d\n", key, m[key])
	}
	return strings.TrimRight(text, "\n")
}
