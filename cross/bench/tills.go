package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"posagent/ecr/till"
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
	address := strings.TrimPrefix(t.local, "http://")
	conn, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", address)
	if err != nil {
		return err
	}
	at := till.NewHTTP(conn, address, till.Secret(strings.TrimSpace(string(token))))
	defer at.Close()
	if _, err := t.sell(b.ctx, 1, nil); err != nil { // connections and statements are made once
		return err
	}
	if _, err := t.sellHTTP(b.ctx, at, "warm", 1); err != nil {
		return err
	}
	b.settle()
	var register, http []sold
	for turn := range max(1, b.turns) {
		n := max(1, b.sales/max(1, b.turns))
		some, err := t.sell(b.ctx, n, nil)
		if err != nil {
			return err
		}
		register = append(register, some...)
		if some, err = t.sellHTTP(b.ctx, at, fmt.Sprint("turn", turn), n); err != nil {
			return err
		}
		http = append(http, some...)
	}
	add := func(what string, of func(sold) time.Duration, most float64) {
		var ours, theirs []time.Duration
		for i := range http {
			ours, theirs = append(ours, of(http[i])), append(theirs, of(register[i]))
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
func (t *terminal) sellHTTP(ctx context.Context, at *till.HTTP, keys string, n int) (all []sold, err error) {
	for i := range n {
		asked := time.Now()
		key := fmt.Sprintf("%s-%d", keys, i)
		sale, err := readSale(at.Ask(ctx, http.MethodPost, till.SalesPath+"?wait=60s", key, till.HTTPPayment(1000, "EUR", key)))
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
			sale, err = readSale(at.Ask(ctx, http.MethodGet, till.SalesPath+"/"+sale.ID, "", nil))
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

func readSale(a till.HTTPAnswer, err error) (sale tillSale, _ error) {
	if err != nil {
		return sale, err
	}
	if err := json.Unmarshal(a.Body, &sale); err != nil || sale.ID == "" {
		return sale, fmt.Errorf("sale over HTTP: %s: %w", a, err)
	}
	return sale, nil
}
