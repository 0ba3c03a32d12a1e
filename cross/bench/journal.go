package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"posagent/store"
	"posagent/store/sqlite"
)

// callers are the numbers of callers that are measured.
var callers = []int{1, 8, 64}

// journalGoals are those of a durable write, by callers: throughput, median, flushes and p99 of an operation.
type journalGoals struct{ rate, p50, flushes, p99 float64 }

var (
	fastGoals = map[int]journalGoals{1: {0.80, 1.2, 1.02, 0}, 8: {0.65, 0, 0.14, 0}, 64: {0.25, 0, 0.03, 0}}
	slowGoals = map[int]journalGoals{1: {0.95, 1.05, 1.02, 0}, 8: {0.93, 0, 0.14, 0}, 64: {0.90, 0, 0.03, 2.5}}
)

// warmAtMost bounds the writes before those that are measured.
const warmAtMost = 2 * time.Second

// bytesGoal bounds what a write of ours puts on the medium, beside the raw append's. Measured where syncs are fast.
const bytesGoal = 1.3

// result is what one number of callers came to; it crosses from a child as JSON.
type result struct {
	Callers           int
	Rate, RawRate     float64         // operations per second, medians of the turns
	P50, RawP50       time.Duration   // likewise
	P99, Sync         time.Duration   // of the store at worst turn's median; of one raw sync with one caller
	Ratios, P50Ratios []float64       // by turn
	P99s              []time.Duration // by turn
	Flushes           float64         // commits per operation
	Written           float64         // bytes per operation that the store wrote
	Disk, RawDisk     float64         // bytes per operation on the block device; the least turn, as others write too; 0 = not known
}

func (b *bench) journal() error {
	results, err := measureJournal(b.ctx, b.dir, b.turns, b.ops)
	if err != nil {
		return err
	}
	b.journalRows("", results, fastGoals, true)
	return nil
}

// journalSlow is the same in a child of which every sync takes 5 ms more.
func (b *bench) journalSlow() error {
	if b.strace == "" {
		b.table.missing("durable writes on slow flash need strace (install: apt-get install strace)")
		return nil
	}
	task := fmt.Sprintf("journal %d %d %s", b.turns, b.slow, b.dir)
	var out bytes.Buffer
	if err := b.slowly(b.self, task, "", &out).Run(); err != nil {
		return fmt.Errorf("under strace: %w", err)
	}
	var results []result
	if err := json.NewDecoder(&out).Decode(&results); err != nil {
		return fmt.Errorf("under strace: %w", err)
	}
	b.journalRows("+5 ms: ", results, slowGoals, false)
	return nil
}

func (b *bench) journalRows(prefix string, results []result, goals map[int]journalGoals, disk bool) {
	for _, r := range results {
		g := goals[r.Callers]
		name := fmt.Sprintf("%sjournal write, %d callers, ", prefix, r.Callers)
		b.table.add(row{what: name + "throughput", ours: perSecond(r.Rate), limit: perSecond(r.RawRate), ratio: median(r.Ratios), atLeast: g.rate})
		b.table.add(row{what: name + "p50", ours: short(r.P50), limit: short(r.RawP50), ratio: median(r.P50Ratios), atMost: g.p50})
		if g.p99 > 0 {
			b.table.add(row{what: name + "p99 in syncs", ours: short(r.P99), limit: short(r.Sync), ratio: float64(r.P99) / float64(r.Sync), atMost: g.p99})
		}
		b.table.add(row{what: name + "flushes", ours: plain(r.Flushes), limit: plain(1 / float64(r.Callers)), ratio: r.Flushes, atMost: g.flushes, note: "per operation"})
		if !disk {
			continue
		}
		b.table.add(row{what: name + "bytes the store writes", ours: kib(r.Written), note: "per operation"})
		if r.Disk > 0 && r.RawDisk > 0 {
			at := row{what: name + "bytes on the disk", ours: kib(r.Disk), limit: kib(r.RawDisk), ratio: r.Disk / r.RawDisk, note: "per operation, with the file system's"}
			if r.Callers == 1 {
				at.atMost = bytesGoal
			}
			b.table.add(at)
		}
	}
}

// table of the operations: 300 bytes under two indexes.
var opsStep = store.Step{Name: "bench/1 ops", SQL: `CREATE TABLE ops (
	id      INTEGER PRIMARY KEY,
	key     TEXT NOT NULL UNIQUE,
	state   TEXT NOT NULL,
	due     INTEGER NOT NULL,
	payload BLOB NOT NULL
) STRICT;
CREATE INDEX ops_due ON ops (due) WHERE state = 'open';`}

// wrapper hides nothing.
type wrapper struct{}

var _ store.Wrapper = wrapper{}

func (wrapper) Wrap(plain []byte) ([]byte, error)     { return append([]byte{}, plain...), nil }
func (wrapper) Unwrap(wrapped []byte) ([]byte, error) { return append([]byte{}, wrapped...), nil }

// share is how many operations a turn has, so that each number of callers takes a similar time.
func share(n, ops int) int { return max(ops, n*ops/2) }

func measureJournal(ctx context.Context, dir string, turns, ops int) ([]result, error) {
	var all []result
	var sync time.Duration
	for _, n := range callers {
		r, err := measureCallers(ctx, dir, n, turns, share(n, ops))
		if err != nil {
			return nil, err
		}
		if n == 1 {
			sync = r.RawP50
		}
		r.Sync = sync
		all = append(all, r)
	}
	return all, nil
}

func measureCallers(ctx context.Context, parent string, n, turns, ops int) (r result, err error) {
	dir, err := os.MkdirTemp(parent, "journal-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "journal.db"), Steps: []store.Step{opsStep}, Wrapper: wrapper{}})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	raw, err := newRaw(filepath.Join(dir, "raw"), n)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, raw.f.Close()) }()
	payload := make([]byte, 300)
	var id atomic.Int64
	write := func() error {
		i := id.Add(1)
		return s.Write(ctx, func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO ops (id, key, state, due, payload) VALUES (?, ?, 'open', ?, ?)",
				i, fmt.Sprintf("0198c0de-%012d", i), i, payload)
			return err
		})
	}
	// The log grows to its size before it is measured, where the disk is quick about it: appending costs more than
	// overwriting, and a terminal does it once.
	longest, began := int64(-1), time.Now()
	for i := 0; i < 4*turns && time.Since(began) < warmAtMost; i++ {
		if _, err := load(n, max(n, ops), write); err != nil {
			return r, err
		}
		now := s.Health(ctx).WALBytes
		if now == longest {
			break
		}
		longest = now
	}
	before := s.Health(ctx)
	r.Callers = n
	pace := beside{dir: dir, raw: raw, n: n, ops: ops}
	for range turns {
		if _, err := pace.turn(write); err != nil {
			return r, err
		}
	}
	after := s.Health(ctx)
	r.Flushes = float64(after.Commits-before.Commits) / float64(after.Writes-before.Writes)
	r.Written, r.Disk, r.RawDisk = float64(pace.wrote)/float64(turns*ops), pace.disk, pace.rawDisk
	r.Ratios, r.P50Ratios, r.P99s = pace.ofRaw, pace.p50OfRaw, pace.p99s
	r.Rate, r.RawRate, r.P50, r.RawP50, r.P99 = median(pace.rates), median(pace.rawRates), median(pace.p50s), median(pace.rawP50s), median(pace.p99s)
	return r, nil
}
