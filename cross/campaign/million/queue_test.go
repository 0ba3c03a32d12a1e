package million

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/need"
	"posagent/store"
)

// envChild tells a test binary that it is a child, and its task.
const envChild = "POSAGENT_MILLION_CHILD"

// result is what the child measured; it crosses as JSON.
type result struct {
	P50, P99           time.Duration // of an Accept on the full queue
	P50Ratio, P99Ratio float64       // beside the same on an empty one, medians of the turns
	Drained            float64       // operations per second
	Peak               int64         // bytes
}

// TestChild is the child; on its own it does nothing.
func TestChild(t *testing.T) {
	task := os.Getenv(envChild)
	if task == "" {
		return
	}
	var n int
	var state string
	_, err := fmt.Sscanf(task, "%d %s", &n, &state)
	require.NoError(t, err)
	r, err := measureQueue(t, n, state)
	require.NoError(t, err)
	line, err := json.Marshal(r)
	require.NoError(t, err)
	fmt.Printf("%s\n", line)
}

// effort is how much is measured: a whole campaign takes its time.
func effort(n int) (turns, accepts int, drain time.Duration) {
	if n < 200_000 {
		return 3, 200, time.Second
	}
	return 7, 500, 10 * time.Second
}

// queue is one outbox whose backend is away until it is told to answer.
type queue struct {
	db     store.Journal
	o      *outbox.Outbox
	answer atomic.Bool
	done   atomic.Int64
}

func openQueue(ctx context.Context, state string) (*queue, error) {
	db, err := openStore(ctx, state)
	if err != nil {
		return nil, err
	}
	q := &queue{db: db}
	kinds := gateway.Undos(nil, nil, nil, nil)
	for i := range kinds {
		kinds[i].Send = q.send
	}
	q.o = outbox.NewOutbox(outbox.Options{DB: db, Kinds: kinds})
	return q, nil
}

func (q *queue) send(context.Context, outbox.Op) outbox.Verdict {
	if !q.answer.Load() {
		return outbox.Verdict{State: outbox.Pending, Reason: "no connection"}
	}
	q.done.Add(1)
	return outbox.Verdict{State: outbox.Done, Result: []byte("{}"), Reason: "accepted"}
}

// accept takes n operations one after the other.
func (q *queue) accept(ctx context.Context, n int) ([]time.Duration, error) {
	var took []time.Duration
	for range n {
		op, err := fresh()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := q.db.Write(ctx, func(tx store.Tx) error { return q.o.Accept(tx, op) }); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
		q.o.Wake()
	}
	return took, nil
}

func quantile(list []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func middle(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }

func measureQueue(t *testing.T, n int, state string) (r result, err error) {
	turns, accepts, drain := effort(n)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	full, err := openQueue(ctx, state)
	if err != nil {
		return r, err
	}
	other := filepath.Join(filepath.Dir(state), fmt.Sprintf("empty-%d", os.Getpid()))
	empty, err := openQueue(ctx, other)
	if err != nil {
		return r, err
	}
	ended := make(chan error, 2)
	for _, q := range []*queue{full, empty} {
		go func() { ended <- q.o.Run(ctx) }()
	}
	var all []time.Duration
	var p50s, p99s []float64
	for range turns {
		was, err := empty.accept(ctx, accepts)
		if err != nil {
			return r, err
		}
		is, err := full.accept(ctx, accepts)
		if err != nil {
			return r, err
		}
		all = append(all, is...)
		p50s = append(p50s, float64(quantile(is, 0.5))/float64(quantile(was, 0.5)))
		p99s = append(p99s, float64(quantile(is, 0.99))/float64(quantile(was, 0.99)))
	}
	r.P50, r.P99, r.P50Ratio, r.P99Ratio = quantile(all, 0.5), quantile(all, 0.99), middle(p50s), middle(p99s)

	full.answer.Store(true)
	full.o.Online()
	began := time.Now()
	for full.done.Load() == 0 && time.Since(began) < need.Limit() {
		<-time.After(time.Millisecond)
	}
	began, first := time.Now(), full.done.Load()
	for time.Since(began) < drain && full.done.Load() < int64(n)/2 {
		<-time.After(time.Millisecond)
	}
	r.Drained = float64(full.done.Load()-first) / time.Since(began).Seconds()
	cancel()
	err = errors.Join(<-ended, <-ended, full.db.Close(), empty.db.Close(), os.RemoveAll(other))
	r.Peak = peak("self")
	return r, err
}
