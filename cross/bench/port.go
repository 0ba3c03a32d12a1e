package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// portGoals are those of an HTTP request that ends in a bare durable row, by callers. A payment is more: its body is read strictly, the
// card sealed, its Idempotency-Key kept, four tables written.
var (
	portGoals     = map[int]journalGoals{1: {rate: 0.40}, 8: {rate: 0.29}, 64: {rate: 0.14}}
	portSlowGoals = map[int]journalGoals{1: {rate: 0.95, p50: 1.1}, 8: {rate: 0.95, p50: 1.1}, 64: {rate: 0.85, p50: 1.4}}
)

// posted is what one number of callers came to.
type posted struct {
	rates, raws, bares, refuseds []float64 // requests per second; bare and refused end without a row
	ofRaw, p50OfRaw              []float64
	p50s, rawP50s, p99s          []time.Duration
	bareP50s, refusedP50s        []time.Duration
	flushes                      float64 // per request
	links, linkOfRaw             []float64
	linkP50s                     []time.Duration
}

func (b *bench) port() error {
	return b.posts("", func(args []string, task string) *exec.Cmd {
		cmd := exec.CommandContext(b.ctx, args[0], args[1:]...)
		cmd.Env = append(os.Environ(), envChild+"="+task)
		return cmd
	}, portGoals, b.queued)
}

// portSlow is the same with a terminal and a limit whose syncs take 5 ms more; the client is as quick as before.
func (b *bench) portSlow() error {
	if b.strace == "" {
		b.table.missing("requests on slow flash need strace (install: apt-get install strace)")
		return nil
	}
	return b.posts("+5 ms: ", func(args []string, task string) *exec.Cmd {
		cmd := b.slowly(args, task, "", nil)
		cmd.Stdout = nil
		return cmd
	}, portSlowGoals, b.queuedSlow)
}

// posts measures requests of local clients to the program while its backend is away, in turns with the raw limit.
func (b *bench) posts(prefix string, run runner, goals map[int]journalGoals, ops int) error {
	var sync time.Duration
	for _, n := range queueCallers {
		r, err := b.post(run, n, max(ops, min(n, portConns)*ops/8))
		if err != nil {
			return fmt.Errorf("%d callers: %w", n, err)
		}
		if n == 1 {
			sync = median(r.rawP50s)
		}
		b.postRows(prefix, n, r, sync, goals[n])
	}
	return nil
}

func (b *bench) postRows(prefix string, n int, r posted, sync time.Duration, g journalGoals) {
	name, note := fmt.Sprintf("%spayment POSTed, %d callers, ", prefix, n), ""
	if n > portConns {
		note = fmt.Sprintf("over the port's %d connections", portConns)
	}
	rate, raw := median(r.rates), median(r.raws)
	b.table.add(row{what: name + "throughput", ours: perSecond(rate), limit: perSecond(raw), ratio: median(r.ofRaw), atLeast: g.rate, note: note})
	b.table.add(row{what: name + "p50", ours: short(median(r.p50s)), limit: short(median(r.rawP50s)), ratio: median(r.p50OfRaw), atMost: g.p50})
	b.table.add(row{what: name + "p99 in syncs", ours: short(median(r.p99s)), limit: short(sync), ratio: float64(median(r.p99s)) / float64(sync)})
	b.table.add(row{what: name + "flushes", ours: plain(r.flushes), limit: plain(1 / float64(n)), ratio: r.flushes, note: "per request"})
	b.table.add(row{what: name + "beside HTTP alone", ours: perSecond(rate), limit: perSecond(median(r.bares)), ratio: rate / median(r.bares),
		note: "the same server's probe, p50 " + short(median(r.bareP50s))})
	b.table.add(row{what: name + "beside one refused", ours: perSecond(rate), limit: perSecond(median(r.refuseds)), ratio: rate / median(r.refuseds),
		note: "token, JSON and rules, p50 " + short(median(r.refusedP50s))})
	if len(r.links) > 0 {
		b.table.add(row{what: fmt.Sprintf("%spayment link POSTed, %d callers, throughput", prefix, n), ours: perSecond(median(r.links)), limit: perSecond(raw),
			ratio: median(r.linkOfRaw), note: "a signed form, by a client of net/http; p50 " + short(median(r.linkP50s))})
	}
}

// post measures one number of callers at a terminal of its own.
func (b *bench) post(run runner, n, ops int) (r posted, err error) {
	dir, err := os.MkdirTemp(b.dir, "port-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := b.shop(run, dir, min(n, portConns))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	bare, refused := c.request(http.MethodGet, "/livez", nil), c.payment(0)
	type kind struct {
		op    func() error
		rates *[]float64
		p50s  *[]time.Duration
	}
	kinds := []kind{
		{func() error { return c.pay(http.StatusAccepted) }, &r.rates, &r.p50s},
		{func() error { return c.want(http.StatusOK, bare) }, &r.bares, &r.bareP50s},
		{func() error { return c.want(http.StatusBadRequest, refused) }, &r.refuseds, &r.refusedP50s},
	}
	if n == linkCallers {
		web := caller(n)
		kinds = append(kinds, kind{func() error { return c.linked(b.ctx, web, true) }, &r.links, &r.linkP50s})
	}
	for _, k := range kinds { // connections and statements are made once, and the log grows to its size
		if _, err := load(n, ops, k.op); err != nil {
			return r, err
		}
	}
	for range b.turns {
		limit, err := rawBeside(run(b.self, fmt.Sprintf("raw %d %d %s", n, max(1, ops/n), dir)))
		if err != nil {
			return r, err
		}
		r.raws, r.rawP50s = append(r.raws, limit.Rate), append(r.rawP50s, limit.P50)
		for i, k := range kinds {
			before, err := c.commits()
			if err != nil {
				return r, err
			}
			ours, err := load(n, ops, k.op)
			if err != nil {
				return r, err
			}
			*k.rates, *k.p50s = append(*k.rates, ours.rate), append(*k.p50s, ours.p50)
			switch i {
			case 0:
				after, err := c.commits()
				if err != nil {
					return r, err
				}
				r.flushes += (after - before) / float64(ops*b.turns)
				r.p99s = append(r.p99s, ours.p99)
				r.ofRaw, r.p50OfRaw = append(r.ofRaw, ours.rate/limit.Rate), append(r.p50OfRaw, float64(ours.p50)/float64(limit.P50))
			case 3:
				r.linkOfRaw = append(r.linkOfRaw, ours.rate/limit.Rate)
			}
		}
	}
	return r, nil
}

// rawBeside runs a child that measures the raw limit.
func rawBeside(cmd *exec.Cmd) (v peerSpeed, err error) {
	out, err := cmd.Output()
	if err != nil {
		return v, fmt.Errorf("raw limit: %w", err)
	}
	err = json.NewDecoder(bytes.NewReader(out)).Decode(&v)
	return v, err
}

// rawChild is that child: rounds of n callers.
func rawChild(dir string, n, rounds int) (v peerSpeed, err error) {
	l, err := newRaw(filepath.Join(dir, "raw"), n)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, l.f.Close()) }()
	s, err := l.run(rounds)
	return peerSpeed{s.rate, s.p50, s.p99}, err
}
