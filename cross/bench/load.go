package main

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// beside is what turns of n callers who write, and of the raw limit, came to.
type beside struct {
	dir    string
	raw    *raw
	n, ops int // in a turn

	rates, rawRates     []float64
	ofRaw, p50OfRaw     []float64
	p50s, rawP50s, p99s []time.Duration
	wrote               int64   // bytes of this program
	disk, rawDisk       float64 // bytes per operation
}

// turn measures the limit and then write, and returns how fast write was.
func (t *beside) turn(write func() error) (speed, error) {
	rounds := max(1, t.ops/t.n)
	at := diskBytes(t.dir)
	limit, err := t.raw.run(rounds)
	if err != nil {
		return speed{}, err
	}
	least(&t.rawDisk, diskBytes(t.dir)-at, rounds*t.n)
	at, began := diskBytes(t.dir), written("self")
	ours, err := load(t.n, t.ops, write)
	if err != nil {
		return speed{}, err
	}
	t.wrote += written("self") - began
	least(&t.disk, diskBytes(t.dir)-at, t.ops)
	t.rates, t.rawRates = append(t.rates, ours.rate), append(t.rawRates, limit.rate)
	t.p50s, t.rawP50s, t.p99s = append(t.p50s, ours.p50), append(t.rawP50s, limit.p50), append(t.p99s, ours.p99)
	t.ofRaw, t.p50OfRaw = append(t.ofRaw, ours.rate/limit.rate), append(t.p50OfRaw, float64(ours.p50)/float64(limit.p50))
	return ours, nil
}

// least keeps the smallest figure per operation: what others write meanwhile only adds.
func least(to *float64, bytes int64, ops int) {
	if per := float64(bytes) / float64(ops); per > 0 && (*to == 0 || per < *to) {
		*to = per
	}
}

// speed is what one load came to.
type speed struct {
	rate     float64 // operations per second
	p50, p99 time.Duration
}

func speedOf(ops int, took time.Duration, latencies []time.Duration) speed {
	return speed{float64(ops) / took.Seconds(), median(latencies), quantile(latencies, 0.99)}
}

// load runs ops operations on n goroutines.
func load(n, ops int, op func() error) (speed, error) {
	var next atomic.Int64
	latencies, failures := make([][]time.Duration, n), make([]error, n)
	var wg sync.WaitGroup
	start := time.Now()
	for c := range n {
		wg.Go(func() {
			for next.Add(1) <= int64(ops) && failures[c] == nil {
				began := time.Now()
				failures[c] = op()
				latencies[c] = append(latencies[c], time.Since(began))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	var all []time.Duration
	for _, l := range latencies {
		all = append(all, l...)
	}
	return speedOf(ops, took, all), errors.Join(failures...)
}

// raw is the limit: n callers append 512 bytes each, the last one syncs for all.
type raw struct {
	f *os.File
	n int
}

func newRaw(path string, n int) (*raw, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &raw{f, n}, err
}

// round is one joint sync.
type round struct {
	arrived atomic.Int64
	synced  chan struct{}
}

func (l *raw) run(rounds int) (speed, error) {
	all := make([]round, rounds)
	for i := range all {
		all[i].synced = make(chan struct{})
	}
	block := make([]byte, 512)
	latencies, failures := make([][]time.Duration, l.n), make([]error, l.n)
	var wg sync.WaitGroup
	start := time.Now()
	for c := range l.n {
		wg.Go(func() {
			for i := range all {
				began := time.Now()
				_, err := l.f.Write(block)
				if all[i].arrived.Add(1) == int64(l.n) {
					err = errors.Join(err, unix.Fdatasync(int(l.f.Fd())))
					close(all[i].synced)
				} else {
					<-all[i].synced
				}
				latencies[c] = append(latencies[c], time.Since(began))
				failures[c] = errors.Join(failures[c], err)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	var lat []time.Duration
	for _, one := range latencies {
		lat = append(lat, one...)
	}
	return speedOf(rounds*l.n, took, lat), errors.Join(failures...)
}

// rawSyncs times syncs of 512 appended bytes, of one caller.
func rawSyncs(dir string, n int) (took []time.Duration, err error) {
	f, err := os.CreateTemp(dir, "raw-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 512)
	for range n {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}
