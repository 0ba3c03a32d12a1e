package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tillSlower is what a sale over HTTP may take to reach the backend, beside one of a register.
const tillSlower = 1.1

// tills measures sales over HTTP in turns with a register's sales, on one terminal.
func (b *bench) tills(t *terminal) error {
	if err := t.start(b.command(t)); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(t.dir, "port.token"))
	if err != nil {
		return err
	}
	bearer := "Bearer " + strings.TrimSpace(string(token))
	if _, err := t.sell(b.ctx, 1, nil); err != nil { // connections and statements are made once
		return err
	}
	if _, err := t.sellHTTP(b.ctx, bearer, "warm", 1); err != nil {
		return err
	}
	b.settle()
	var register, till []sold
	for turn := range max(1, b.turns) {
		n := max(1, b.sales/max(1, b.turns))
		some, err := t.sell(b.ctx, n, nil)
		if err != nil {
			return err
		}
		register = append(register, some...)
		if some, err = t.sellHTTP(b.ctx, bearer, fmt.Sprint("turn", turn), n); err != nil {
			return err
		}
		till = append(till, some...)
	}
	add := func(what string, of func(sold) time.Duration, most float64) {
		var ours, theirs []time.Duration
		for i := range till {
			ours, theirs = append(ours, of(till[i])), append(theirs, of(register[i]))
		}
		b.table.add(row{what: what, ours: short(median(ours)), limit: short(median(theirs)), ratio: float64(median(ours)) / float64(median(theirs)), atMost: most,
			note: fmt.Sprintf("p50 of %d, in turns with as many of a ZVT register over TCP; p90 %s", len(ours), short(quantile(ours, 0.9)))})
	}
	add("POST of a sale -> first byte at the backend", func(s sold) time.Duration { return s.first }, tillSlower)
	add("backend says COMMIT -> the answer to the POST", func(s sold) time.Duration { return s.last }, 0)
	return nil
}

// sellHTTP makes n sales over HTTP, one after the other, under keys of their own. Each begins when it
// is recorded that the last was told, as one of a register does.
func (t *terminal) sellHTTP(ctx context.Context, bearer, keys string, n int) (all []sold, err error) {
	for i := range n {
		asked := time.Now()
		sale, err := t.askTill(ctx, bearer, http.MethodPost, "?wait=60s", fmt.Sprintf("%s-%d", keys, i))
		told := time.Now()
		if err != nil {
			return nil, err
		}
		if sale.Outcome != "approved" {
			return nil, fmt.Errorf("sale over HTTP: %s %s", sale.State, sale.Outcome)
		}
		came, said := t.stub.times()
		all = append(all, sold{came.Sub(asked), told.Sub(said)})
		for err == nil && sale.Sale.Told == "" {
			sale, err = t.askTill(ctx, bearer, http.MethodGet, "/"+sale.ID, "")
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// tillSale is what is read of a sale over HTTP.
type tillSale struct {
	ID, State, Outcome string
	Sale               struct{ Told string }
}

func (t *terminal) askTill(ctx context.Context, bearer, method, path, key string) (sale tillSale, err error) {
	req, err := http.NewRequestWithContext(ctx, method, t.local+"/agent/v1/sales"+path, http.NoBody)
	if err != nil {
		return sale, err
	}
	req.Header.Set("Authorization", bearer)
	if key != "" {
		body := strings.NewReader(`{"amount":1000,"currency":"EUR"}`)
		req.Body, req.ContentLength = io.NopCloser(body), body.Size()
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return sale, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&sale); err != nil || sale.ID == "" {
		return sale, fmt.Errorf("sale over HTTP: status %d: %w", resp.StatusCode, err)
	}
	_, err = io.Copy(io.Discard, resp.Body) // the connection is used again
	return sale, err
}
