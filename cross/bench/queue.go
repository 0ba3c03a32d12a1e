package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"posagent/agent/outbox"
	"posagent/device"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/sqlite"
)

// queueCallers are the numbers of callers whose operations are accepted at a time.
var queueCallers = []int{1, 8, 64, 256}

// lifeGoals bound the three commits of an operation: accepted, about to be sent, answered.
const (
	lifeFlushes = 3.02
	lifeBytes   = 23 << 10
)

// besideRedis is the least of its throughput, by callers. All other goals are those of a bare row (fastGoals, slowGoals), though an
// operation is more: sealed under a key of its own, authenticated, counted, and found by four indexes.
var (
	besideRedis     = map[int]float64{1: 1, 8: 1, 64: 0.6}
	besideRedisSlow = map[int]float64{1: 1, 8: 1}
)

// queued is what one number of callers came to; it crosses from a child as JSON.
type queued struct {
	Callers                int
	Rate, Raw, Redis, Peer float64 // operations per second, medians of the turns; 0 = not measured
	P50, RawP50, P99, Sync time.Duration
	RedisP50, RedisP99     time.Duration
	PeerP50, PeerP99       time.Duration
	OfRaw, P50OfRaw        float64 // medians of the turns' ratios
	OfRedis, OfPeer        float64
	Flushes, Written, Disk float64 // per operation
	RawDisk                float64
	LifeFlushes, LifeDisk  float64 // of an operation's whole life, with one caller
	LifeWritten            float64
}

func (b *bench) queue() error {
	peer := b.tools()
	results, err := measureQueues(b.ctx, b.dir, b.turns, b.queued, peer)
	if err != nil {
		return err
	}
	b.queueRows("", results, fastGoals, besideRedis, true)
	return nil
}

// queueSlow is the same in a child of which every sync takes 5 ms more, its peers' as well.
func (b *bench) queueSlow() error {
	if b.strace == "" {
		b.table.missing("accepted operations on slow flash need strace (install: apt-get install strace)")
		return nil
	}
	peer := b.tools()
	task := fmt.Sprintf("queue %d %d %s", b.turns, b.queuedSlow, b.dir)
	var out bytes.Buffer
	cmd := b.slowly(b.self, task, "", &out)
	cmd.Env = append(cmd.Env, envPeer+"="+peer)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("under strace: %w", err)
	}
	var results []queued
	if err := json.NewDecoder(&out).Decode(&results); err != nil {
		return fmt.Errorf("under strace: %w", err)
	}
	b.queueRows("+5 ms: ", results, slowGoals, besideRedisSlow, false)
	return nil
}

// envPeer tells a child where the peer is, "" = it could not be built.
const envPeer = "POSAGENT_BENCH_PEER"

// tools builds the embedded peer; what is not there is said.
func (b *bench) tools() (peer string) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		b.table.missing("redis beside the outbox needs redis-server (install: apt-get install redis-server)")
	}
	dir := b.peer
	if dir == "" {
		dir = filepath.Join("cross", "bench", "peer")
	}
	peer = filepath.Join(b.dir, "peer")
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", peer, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.table.missing("an embedded queue beside the outbox: it does not build in %s: %v %s", dir, err, out)
		return ""
	}
	return peer
}

func (b *bench) queueRows(prefix string, results []queued, goals map[int]journalGoals, redis map[int]float64, disk bool) {
	for _, r := range results {
		g := goals[r.Callers]
		name := fmt.Sprintf("%soperation accepted, %d callers, ", prefix, r.Callers)
		rate := row{what: name + "throughput", ours: perSecond(r.Rate), limit: perSecond(r.Raw), ratio: r.OfRaw, atLeast: g.rate}
		b.table.add(rate)
		b.table.add(row{what: name + "p50", ours: short(r.P50), limit: short(r.RawP50), ratio: r.P50OfRaw, atMost: g.p50})
		p99 := row{what: name + "p99 in syncs", ours: short(r.P99), limit: short(r.Sync), ratio: float64(r.P99) / float64(r.Sync)}
		p99.atMost = g.p99
		b.table.add(p99)
		b.table.add(row{what: name + "flushes", ours: plain(r.Flushes), limit: plain(1 / float64(r.Callers)), ratio: r.Flushes, atMost: g.flushes, note: "per operation"})
		if r.Redis > 0 {
			b.table.add(row{what: name + "beside redis", ours: perSecond(r.Rate), limit: perSecond(r.Redis), ratio: r.OfRedis, atLeast: redis[r.Callers],
				note: "appendfsync always, p50 " + short(r.RedisP50) + ", p99 " + short(r.RedisP99)})
		}
		if r.Peer > 0 {
			b.table.add(row{what: name + "beside bbolt", ours: perSecond(r.Rate), limit: perSecond(r.Peer), ratio: r.OfPeer,
				note: "p50 " + short(r.PeerP50) + ", p99 " + short(r.PeerP99)})
		}
		if disk {
			b.table.add(row{what: name + "bytes the store writes", ours: kib(r.Written), note: "per operation"})
			if r.Disk > 0 && r.RawDisk > 0 {
				b.table.add(row{what: name + "bytes on the disk", ours: kib(r.Disk), limit: kib(r.RawDisk), ratio: r.Disk / r.RawDisk, note: "per operation, with the file system's"})
			}
		}
		if r.LifeFlushes == 0 {
			continue
		}
		b.table.add(row{what: prefix + "an operation's life, flushes", ours: plain(r.LifeFlushes), limit: "3", ratio: r.LifeFlushes, atMost: lifeFlushes, note: "accepted, about to be sent, answered"})
		if disk {
			life := row{what: prefix + "an operation's life, bytes the store writes", ours: kib(r.LifeWritten), limit: kib(lifeBytes), ratio: r.LifeWritten / lifeBytes, atMost: 1}
			if r.LifeDisk > 0 {
				life.note = kib(r.LifeDisk) + " on the disk with the file system's, or less: others write too"
			}
			b.table.add(life)
		}
	}
}

// keeper is an outbox over a store of its own, as the terminal has it.
type keeper struct {
	s    store.Journal
	o    *outbox.Outbox
	done chan struct{}
}

func openKeeper(ctx context.Context, dir string) (*keeper, error) {
	keys, err := device.OpenKeys(filepath.Join(dir, "keys"))
	if err != nil {
		return nil, err
	}
	l := &keeper{done: make(chan struct{}, 1)}
	if l.s, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "outbox.db"), Steps: outbox.Schema(), Wrapper: keys}); err != nil {
		return nil, err
	}
	l.o = outbox.NewOutbox(outbox.Options{DB: l.s, Kinds: []outbox.Kind{{
		Name: "bench", Replay: outbox.SameKey,
		Send: func(context.Context, outbox.Op) outbox.Verdict {
			return outbox.Verdict{State: outbox.Done, Result: []byte("{}")}
		},
		After: func(outbox.Op) { l.done <- struct{}{} },
	}}})
	return l, nil
}

// accept takes one operation of 300 bytes.
func (l *keeper) accept(ctx context.Context) error {
	key := wire.NewKey()
	n := outbox.New{Key: key, Kind: "bench", Aggregate: string(key), Payload: make([]byte, 300), AmountMin: 1250, Currency: "EUR"}
	if err := l.o.Seal(&n); err != nil {
		return err
	}
	return l.s.Write(ctx, func(tx store.Tx) error { return l.o.Accept(tx, n) })
}

func measureQueues(ctx context.Context, dir string, turns, ops int, peer string) ([]queued, error) {
	var all []queued
	var sync time.Duration
	for _, n := range queueCallers {
		r, err := measureQueue(ctx, dir, n, turns, max(ops, n*ops/8), peer)
		if err != nil {
			return nil, err
		}
		if n == 1 {
			sync = r.RawP50
			if err := measureLife(ctx, dir, ops/4+1, &r); err != nil {
				return nil, err
			}
		}
		r.Sync = sync
		all = append(all, r)
	}
	return all, nil
}

func measureQueue(ctx context.Context, parent string, n, turns, ops int, peer string) (r queued, err error) {
	dir, err := os.MkdirTemp(parent, "queue-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := openKeeper(ctx, dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.s.Close()) }()
	raw, err := newRaw(filepath.Join(dir, "raw"), n)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, raw.f.Close()) }()
	push := func() error { return nil }
	server, err := exec.LookPath("redis-server")
	if err == nil {
		s, err := startRedis(ctx, server, dir, n)
		if err != nil {
			return r, err
		}
		defer func() { _ = s.close() }()
		value := make([]byte, 300)
		push = func() error { return s.push(value) }
	}
	accept := func() error { return l.accept(ctx) }
	for _, warm := range []func() error{accept, push} { // the logs grow to their size
		if _, err := load(n, ops, warm); err != nil {
			return r, err
		}
	}
	before := l.s.Health(ctx)
	r.Callers = n
	var others, peers, ofRedis, ofPeer []float64
	var redisP50s, redisP99s, peerP50s, peerP99s []time.Duration
	pace := beside{dir: dir, raw: raw, n: n, ops: ops}
	for range turns {
		ours, err := pace.turn(accept)
		if err != nil {
			return r, err
		}
		if server != "" {
			theirs, err := load(n, ops, push)
			if err != nil {
				return r, err
			}
			others, ofRedis = append(others, theirs.rate), append(ofRedis, ours.rate/theirs.rate)
			redisP50s, redisP99s = append(redisP50s, theirs.p50), append(redisP99s, theirs.p99)
		}
		if peer != "" {
			theirs, err := runPeer(ctx, peer, dir, n, ops)
			if err != nil {
				return r, err
			}
			peers, ofPeer = append(peers, theirs.Rate), append(ofPeer, ours.rate/theirs.Rate)
			peerP50s, peerP99s = append(peerP50s, theirs.P50), append(peerP99s, theirs.P99)
		}
	}
	after := l.s.Health(ctx)
	r.Flushes = float64(after.Commits-before.Commits) / float64(after.Writes-before.Writes)
	r.Written, r.Disk, r.RawDisk = float64(pace.wrote)/float64(turns*ops), pace.disk, pace.rawDisk
	r.Rate, r.Raw, r.Redis, r.Peer = median(pace.rates), median(pace.rawRates), median(others), median(peers)
	r.OfRaw, r.P50OfRaw, r.OfRedis, r.OfPeer = median(pace.ofRaw), median(pace.p50OfRaw), median(ofRedis), median(ofPeer)
	r.P50, r.RawP50, r.P99 = median(pace.p50s), median(pace.rawP50s), median(pace.p99s)
	r.RedisP50, r.RedisP99, r.PeerP50, r.PeerP99 = median(redisP50s), median(redisP99s), median(peerP50s), median(peerP99s)
	return r, nil
}

// peerSpeed is what the peer prints.
type peerSpeed struct {
	Rate     float64
	P50, P99 time.Duration
}

func runPeer(ctx context.Context, peer, dir string, n, ops int) (v peerSpeed, err error) {
	cmd := exec.CommandContext(ctx, peer, dir, strconv.Itoa(n), strconv.Itoa(ops))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return v, fmt.Errorf("peer: %w", err)
	}
	err = json.Unmarshal(out, &v)
	return v, err
}

// measureLife accepts, sends and settles operations one by one.
func measureLife(ctx context.Context, parent string, ops int, r *queued) (err error) {
	dir, err := os.MkdirTemp(parent, "life-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := openKeeper(ctx, dir)
	if err != nil {
		return err
	}
	rctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- l.o.Run(rctx) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended, l.s.Close())
	}()
	live := func() error {
		for range ops {
			if err := l.accept(ctx); err != nil {
				return err
			}
			l.o.Wake()
			select {
			case <-l.done:
			case <-time.After(time.Minute):
				return errors.New("an operation is not answered")
			}
		}
		return nil
	}
	if err := live(); err != nil {
		return err
	}
	before, at, began := l.s.Health(ctx), diskBytes(dir), written("self")
	if err := live(); err != nil {
		return err
	}
	r.LifeFlushes = float64(l.s.Health(ctx).Commits-before.Commits) / float64(ops)
	r.LifeWritten = float64(written("self")-began) / float64(ops)
	least(&r.LifeDisk, diskBytes(dir)-at, ops)
	return nil
}
