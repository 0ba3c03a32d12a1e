package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The crowd around a sale.
const (
	crowdStrangers = 80    // sockets that ask without a token, and come back when they are closed
	crowdLists     = 48    // requests for lists that one client has in flight
	crowdTurns     = 3     // of quiet and of each load, in turns
	crowdSales     = 5     // in a turn: each takes the two seconds before its first poll
	crowdSlower    = 1.2   // what a sale may take beside quiet
	crowdFailed    = 0.01  // of a client's requests beside strangers
	noiseBytes     = 11520 // a second: what a line of 115200 baud can carry
)

// loadOf is something that goes on beside the sales of a turn, until ctx ends.
type loadOf struct {
	name  string
	begin func(ctx context.Context, c *crowd)
}

// crowd is a terminal and what its neighbours do to it.
type crowd struct {
	*terminal
	token         string
	wg            sync.WaitGroup
	asked, failed atomic.Int64 // of an authorised client beside strangers
}

// crowd measures sales beside tokenless floods, a client's list floods and noise on the line, in turns with sales in quiet.
func (b *bench) crowd(t *terminal) error {
	if err := b.fill(t); err != nil {
		return fmt.Errorf("%d old sales: %w", b.old, err)
	}
	if err := t.start(b.command(t)); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(t.dir, "port.token"))
	if err != nil {
		return err
	}
	c := &crowd{terminal: t, token: strings.TrimSpace(string(token))}
	if _, err := t.sell(b.ctx, 1, nil); err != nil { // connections and statements are made once
		return err
	}
	b.settle()
	loads := []loadOf{{"tokenless sockets", strangers}, {"a client's list floods", lists}, {"noise on the line", noise}, {"all of it", func(ctx context.Context, c *crowd) {
		strangers(ctx, c)
		lists(ctx, c)
		noise(ctx, c)
	}}}
	turns := max(1, min(crowdTurns, b.turns))
	for _, l := range loads {
		var quiet, loaded []sold
		var busy, wall time.Duration
		for range turns {
			some, err := t.sell(b.ctx, min(crowdSales, b.sales), nil)
			if err != nil {
				return err
			}
			quiet = append(quiet, some...)
			ctx, cancel := context.WithCancel(b.ctx)
			l.begin(ctx, c)
			b.settle() // it is under way
			began, used := time.Now(), processor(t.pid)
			some, err = t.sell(b.ctx, min(crowdSales, b.sales), nil)
			cancel()
			busy, wall = busy+processor(t.pid)-used, wall+time.Since(began)
			c.wg.Wait()
			if err != nil {
				return fmt.Errorf("beside %s: %w", l.name, err)
			}
			loaded = append(loaded, some...)
			b.settle()
		}
		b.crowdRows(l.name, quiet, loaded)
		b.progress("crowd: %d sales beside %s are measured", len(loaded), l.name)
		b.table.add(row{what: "beside " + l.name + ": the terminal's processor time", ours: short(busy), limit: short(wall), ratio: float64(busy) / float64(wall), note: "of one processor, with its sales"})
	}
	n := c.asked.Load()
	share := float64(c.failed.Load()) / float64(max(1, n))
	b.table.add(row{what: "authorised requests that fail beside tokenless sockets", ours: fmt.Sprint(c.failed.Load()), limit: fmt.Sprint(n), ratio: share, atMost: crowdFailed,
		note: "each over a connection of its own"})
	return nil
}

func (b *bench) crowdRows(name string, quiet, loaded []sold) {
	add := func(what string, of func(sold) time.Duration) {
		var alone, beside []time.Duration
		for _, s := range quiet {
			alone = append(alone, of(s))
		}
		for _, s := range loaded {
			beside = append(beside, of(s))
		}
		b.table.add(row{what: "beside " + name + ": " + what, ours: short(median(beside)), limit: short(median(alone)),
			ratio: float64(median(beside)) / float64(median(alone)), atMost: crowdSlower,
			note: fmt.Sprintf("p50 of %d in turns with quiet; p90 %s, quiet %s", len(beside), short(quantile(beside, 0.9)), short(quantile(alone, 0.9)))})
	}
	add("06 01 -> first byte at the backend", func(s sold) time.Duration { return s.first })
	add("backend says COMMIT -> 04 0F", func(s sold) time.Duration { return s.last })
}

// get asks for a path until ctx ends, over a connection that is kept or made anew each time. It says what came of each.
func (c *crowd) get(ctx context.Context, token, path string, keep bool, came func(status int)) {
	c.wg.Go(func() {
		web := http.Client{Transport: &http.Transport{DisableKeepAlives: !keep}, Timeout: 10 * time.Second}
		defer web.CloseIdleConnections()
		for ctx.Err() == nil {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.local+path, http.NoBody)
			if err != nil {
				return
			}
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			resp, err := web.Do(req)
			status := 0
			if err == nil {
				_, _ = io.Copy(io.Discard, bufio.NewReader(resp.Body))
				_ = resp.Body.Close()
				status = resp.StatusCode
			}
			if ctx.Err() == nil {
				came(status)
			}
		}
	})
}

// strangers ask without a token, and beside them a client asks with one.
func strangers(ctx context.Context, c *crowd) {
	for i := range crowdStrangers {
		path := []string{"/agent/v1/operations", "/api/v1/payments/7", "/livez", "/none"}[i%4]
		c.get(ctx, "", path, i%2 == 0, func(int) {})
	}
	c.get(ctx, tillToken, "/agent/v1/methods", false, func(status int) {
		c.asked.Add(1)
		if status != http.StatusOK {
			c.failed.Add(1)
		}
	})
}

// lists are what one client asks for all the time.
func lists(ctx context.Context, c *crowd) {
	for i := range crowdLists {
		c.get(ctx, c.token, []string{"/agent/v1/sales?limit=200", "/agent/v1/operations?limit=200", "/agent/v1/status"}[i%3], true, func(int) {})
	}
}

// noise is a serial line with a loose plug.
func noise(ctx context.Context, c *crowd) {
	c.wg.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for data := make([]byte, noiseBytes/100); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for i := range data {
				data[i] = byte(rand.N(256))
			}
			if _, err := c.cable.Write(data); err != nil {
				return
			}
		}
	})
}
