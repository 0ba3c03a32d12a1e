package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"posagent/agent"
	"posagent/device"
	"posagent/store"
	"posagent/store/sqlite"
)

const (
	startGoal = 150 * time.Millisecond // told, not judged: it is an absolute time
	oldGoal   = 1.25                   // a start with old sales beside one without
	rssGoal   = 24 << 20
)

// start measures the time until a register may ask, and what the program then takes.
func (b *bench) start(empty *terminal) (err error) {
	full, err := b.terminal("full", empty.stub)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, full.close()) }()
	if err := b.fill(full); err != nil {
		return fmt.Errorf("%d old sales: %w", b.old, err)
	}
	var new, again, old, bare []time.Duration
	var of []float64
	once := func(t *terminal, to *[]time.Duration) error {
		err := t.start(b.command(t))
		if err == nil {
			*to = append(*to, t.lasted)
			err = t.stop()
		}
		return err
	}
	for range b.starts {
		if err := errors.Join(empty.forget(), once(empty, &new), once(empty, &again), once(full, &old)); err != nil {
			return err
		}
		began := time.Now()
		if err := exec.CommandContext(b.ctx, b.bin, "version").Run(); err != nil {
			return err
		}
		bare = append(bare, time.Since(began))
		of = append(of, float64(old[len(old)-1])/float64(again[len(again)-1]))
	}
	note := func(d time.Duration) string {
		if d <= startGoal {
			return "within 150 ms"
		}
		return "over 150 ms: at what load?"
	}
	limit := short(median(bare))
	of1 := func(l []time.Duration) float64 { return float64(median(l)) / float64(median(bare)) }
	b.table.add(row{what: "start to ready, new terminal", ours: short(median(new)), limit: limit, ratio: of1(new), note: note(median(new)) + "; limit = `posagent version`"})
	b.table.add(row{what: "start to ready, again", ours: short(median(again)), limit: limit, ratio: of1(again), note: note(median(again))})
	b.table.add(row{what: fmt.Sprintf("start to ready, %d old sales", b.old), ours: short(median(old)), limit: short(median(again)), ratio: median(of), atMost: oldGoal,
		note: note(median(old)) + "; limit = without them"})
	return b.memory(full)
}

// memory measures a terminal with all its old sales after one more, and how long that one took.
func (b *bench) memory(t *terminal) error {
	if err := t.start(b.command(t)); err != nil {
		return err
	}
	idle, _ := resident(t.pid)
	if _, err := t.sell(b.ctx, 1, nil); err != nil {
		return err
	}
	b.settle()
	one, anonymous := resident(t.pid)
	sales, syncs, err := b.sellBesideSyncs(t)
	if err != nil {
		return err
	}
	many, _ := resident(t.pid)
	b.saleRows(fmt.Sprintf("%d old sales: ", b.old), sales, syncs)
	b.table.add(row{what: "memory after the start", ours: mib(float64(idle))})
	b.table.add(row{what: "memory after one sale", ours: mib(float64(one)), limit: mib(rssGoal), ratio: float64(one) / rssGoal, atMost: 1,
		note: mib(float64(anonymous)) + " its own, the rest is the binary"})
	b.table.add(row{what: fmt.Sprintf("memory after %d sales more", len(sales)), ours: mib(float64(many)), limit: mib(rssGoal), ratio: float64(many) / rssGoal, atMost: 1})
	return nil
}

// batchOf is how many sales a closed batch has.
const batchOf = 1000

// fill puts old sales into a terminal's journal: copies of one real sale, in closed batches but for the last ones.
func (b *bench) fill(t *terminal) (err error) {
	if err := t.start(b.command(t)); err != nil {
		return err
	}
	if _, err := t.sell(b.ctx, 1, nil); err != nil {
		return err
	}
	if err := t.stop(); err != nil {
		return err
	}
	keys, err := device.OpenKeys(filepath.Join(t.dir, "keys"))
	if err != nil {
		return err
	}
	s, err := sqlite.Open(b.ctx, sqlite.Options{Path: t.database(), Steps: agent.Schema(), Wrapper: keys})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Write(context.WithoutCancel(b.ctx), func(tx store.Tx) error { return copies(tx, b.old) })
}

func copies(tx store.Tx, n int) error {
	for _, query := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO checkout_sales SELECT id + i, key || '-' || i, kind, line, sequence, phase, active, state, amount, currency,
			reference || i, transaction_id + i, original, asked, original_trace, debited, reversed, receipt + i % 9999, trace + i,
			i / ` + fmt.Sprint(batchOf) + ` + 1, told, boot, created_ms + i, decided_ms + i, undo_key, resumes, mac
		FROM checkout_sales, n WHERE id = 1`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO checkout_requests SELECT id + i, method, request FROM checkout_requests, n WHERE id = 1`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO checkout_entries (sale, at_ms, batch, loud, text)
		SELECT e.sale || '-' || i, e.at_ms + i, i / ` + fmt.Sprint(batchOf) + ` + 1, e.loud, e.text
		FROM n, checkout_entries e WHERE e.sale = (SELECT key FROM checkout_sales WHERE id = 1)`,
		`INSERT INTO checkout_counters (name, value) VALUES ('batch', ? / ` + fmt.Sprint(batchOf) + ` + 1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	} {
		if _, err := tx.Exec(query, n); err != nil {
			return err
		}
	}
	return nil
}
