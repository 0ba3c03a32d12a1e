package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

var opsStep = store.Step{Name: "bench/1 ops", SQL: `CREATE TABLE ops (
	id      INTEGER PRIMARY KEY,
	key     TEXT NOT NULL UNIQUE,
	state   TEXT NOT NULL,
	due     INTEGER NOT NULL,
	payload BLOB NOT NULL
) STRICT;
CREATE INDEX ops_due ON ops (due) WHERE state = 'open';`}

// rawLog is what the disk can do at best: append 512 bytes per caller, one fdatasync for all who
// wait.
type rawLog struct {
	f     *os.File
	queue chan chan error
}

func (l *rawLog) run() {
	block := make([]byte, 512)
	for first := range l.queue {
		batch := []chan error{first}
		for more := true; more; {
			select {
			case r := <-l.queue:
				batch = append(batch, r)
			default:
				more = false
			}
		}
		var err error
		for range batch {
			if _, e := l.f.Write(block); e != nil {
				err = e
			}
		}
		if e := unix.Fdatasync(int(l.f.Fd())); e != nil {
			err = e
		}
		for _, r := range batch {
			r <- err
		}
	}
}

func (l *rawLog) append() error {
	r := make(chan error, 1)
	l.queue <- r
	return <-r
}

// drive runs ops operations on n goroutines and returns operations per second and the median
// latency.
func drive(b *testing.B, n, ops int, op func(i int64) error) (rate float64, p50 time.Duration) {
	b.Helper()
	var next atomic.Int64
	lat := make([][]time.Duration, n)
	var wg sync.WaitGroup
	start := time.Now()
	for c := range n {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(ops) {
					return
				}
				t := time.Now()
				if err := op(i); err != nil {
					b.Error(err)
					return
				}
				lat[c] = append(lat[c], time.Since(t))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	all := slices.Concat(lat...)
	slices.Sort(all)
	return float64(ops) / took.Seconds(), all[len(all)/2]
}

// BenchmarkWrite compares durable inserts of 300 bytes under two indexes with the raw limit of the
// same disk in the same run, taken in turns because disks drift: x-raw is the ratio of throughputs,
// p50-x that of the medians.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(dir, "bench.db"), Steps: []store.Step{opsStep}, Wrapper: storetest.Wrapper{}, Ballast: -1})
			require.NoError(b, err)
			f, err := os.Create(filepath.Join(dir, "raw"))
			require.NoError(b, err)
			raw := &rawLog{f: f, queue: make(chan chan error, 256)}
			go raw.run()
			payload := make([]byte, 300)
			var id atomic.Int64
			write := func(int64) error {
				i := id.Add(1)
				return s.Write(b.Context(), func(tx store.Tx) error {
					_, err := tx.Exec("INSERT INTO ops (id, key, state, due, payload) VALUES (?, ?, 'open', ?, ?)",
						i, fmt.Sprintf("0198c0de-%012d", i), i, payload)
					return err
				})
			}
			const turns = 5
			ops := max(b.N/turns, n)
			var ratios, p50s []float64
			var store50, raw50 time.Duration
			before := s.Health(b.Context())
			for range turns {
				rawRate, r50 := drive(b, n, ops, func(int64) error { return raw.append() })
				rate, w50 := drive(b, n, ops, write)
				ratios = append(ratios, rate/rawRate)
				p50s = append(p50s, float64(w50)/float64(r50))
				store50, raw50 = w50, r50
			}
			after := s.Health(b.Context())
			slices.Sort(ratios)
			slices.Sort(p50s)
			b.ReportMetric(ratios[turns/2], "x-raw")
			b.ReportMetric(p50s[turns/2], "p50-x")
			b.ReportMetric(float64(store50.Microseconds()), "p50-µs")
			b.ReportMetric(float64(raw50.Microseconds()), "raw-p50-µs")
			b.ReportMetric(float64(after.Commits-before.Commits)/float64(after.Writes-before.Writes), "flushes/op")
			close(raw.queue)
			require.NoError(b, s.Close())
			require.NoError(b, f.Close())
		})
	}
}
