package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// What a sale may cost beside the backend's own time.
const (
	firstCommits = 2 // durable commits before the first byte leaves
	lastCommits  = 1 // before the register is told
	saleSlack    = 5 * time.Millisecond
)

// The journal of a sale: accepted, live at the backend, code shown, approved, told. Each state is one flush; what folds
// the log into the file is shared by the sales of a minute, so one more is the most.
const (
	saleStates  = 5
	saleFlushes = saleStates + 1
)

func (b *bench) saleRows(prefix string, sales []sold, syncs []time.Duration) {
	var first, last []time.Duration
	for _, s := range sales {
		first, last = append(first, s.first), append(last, s.last)
	}
	sync := median(syncs)
	add := func(what string, took []time.Duration, commits time.Duration) {
		limit := commits*sync + saleSlack
		b.table.add(row{what: prefix + what, ours: short(median(took)), limit: short(limit), ratio: float64(median(took)) / float64(limit), atMost: 1,
			note: fmt.Sprintf("p50 of %d; p90 %s; limit = %d sync of %s + 5 ms", len(took), short(quantile(took, 0.9)), commits, short(sync))})
	}
	add("06 01 -> first byte at the backend", first, firstCommits)
	add("backend says COMMIT -> 04 0F", last, lastCommits)
}

// sale measures sales of a new terminal, and what they write.
func (b *bench) sale(t *terminal) error {
	if err := t.start(b.command(t)); err != nil {
		return err
	}
	if _, err := t.sell(b.ctx, 1, nil); err != nil { // connections and statements are made once
		return err
	}
	b.settle()
	wrote := written(t.pid)
	sales, syncs, err := b.sellBesideSyncs(t)
	if err != nil {
		return err
	}
	b.saleRows("", sales, syncs)
	per := float64(written(t.pid)-wrote) / float64(len(sales))
	b.table.add(row{what: "bytes the program writes", ours: kib(per), ratio: per / (saleStates * 4096), limit: kib(saleStates * 4096),
		note: fmt.Sprintf("per sale: journal, screen, sockets; limit = one block for each of %d states", saleStates)})
	return nil
}

// sellBesideSyncs makes sales, with some bare syncs of the disk behind each.
func (b *bench) sellBesideSyncs(t *terminal) (sales []sold, syncs []time.Duration, err error) {
	sales, err = t.sell(b.ctx, b.sales, func() error {
		some, err := rawSyncs(t.dir, 10)
		syncs = append(syncs, some...)
		return err
	})
	b.settle()
	return sales, syncs, err
}

// saleSlow is the same on slow flash; strace counts the syncs too.
func (b *bench) saleSlow(t *terminal) error {
	if b.strace == "" {
		b.table.missing("a sale on slow flash, and its flushes, need strace (install: apt-get install strace)")
		return nil
	}
	var out bytes.Buffer
	if err := b.slowly(b.self, fmt.Sprintf("sync 1 %d %s", max(10, b.slow), b.dir), "", &out).Run(); err != nil {
		return fmt.Errorf("under strace: %w", err)
	}
	var syncs []time.Duration
	if err := json.NewDecoder(&out).Decode(&syncs); err != nil {
		return fmt.Errorf("under strace: %w", err)
	}
	trace := filepath.Join(b.dir, "syncs")
	cmd := b.slowly(t.args(b), "", trace, nil)
	cmd.Stdout = nil
	if err := t.start(cmd); err != nil {
		return err
	}
	if _, err := t.sell(b.ctx, 1, nil); err != nil {
		return err
	}
	b.settle()
	before, err := syncsIn(trace)
	if err != nil {
		return err
	}
	sales, err := t.sell(b.ctx, b.sales, nil)
	if err != nil {
		return err
	}
	b.settle()
	after, err := syncsIn(trace)
	if err != nil {
		return err
	}
	b.saleRows("+5 ms: ", sales, syncs)
	per := float64(after-before) / float64(len(sales))
	b.table.add(row{what: "flushes of a sale", ours: plain(per), limit: plain(saleFlushes), ratio: per / saleFlushes, atMost: 1,
		note: fmt.Sprintf("%d states, and the log's folding", saleStates)})
	return nil
}

// syncsIn counts the calls in a trace.
func syncsIn(trace string) (int, error) {
	data, err := os.ReadFile(trace)
	return bytes.Count(data, []byte("fsync(")) + bytes.Count(data, []byte("fdatasync(")), err
}
