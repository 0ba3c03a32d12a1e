package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgserver"
)

const (
	payCommits = 3  // create, authorise, capture
	grownAt    = 16 // callers where books of several sizes are compared
	farAway    = 5 * time.Millisecond
	farConns   = 4
	farCallers = 16
)

// payers are how many callers pay at once.
var payers = [...]int{1, 16, 64, 256}

// postgres measures payments on a server of its own, beside what pgbench commits on the same one.
func (b *bench) postgres() (err error) {
	if pgserver.Programs() == "" {
		b.table.missing("postgres: apt-get install %s", pgserver.Package)
		return nil
	}
	server, err := pgserver.Start("max_connections=600", "shared_buffers=256MB", "max_wal_size=4GB", "checkpoint_timeout=30min", "autovacuum_naptime=10s")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Remove()) }()
	p := &pgPart{bench: b, server: server}
	return errors.Join(p.beside(), p.two(), p.grown())
}

// pgPart is a run of the part.
type pgPart struct {
	*bench
	server *pgserver.Server
}

// open opens a backend on a schema, which it makes where it is not there.
func (p *pgPart) open(schema string, conns int, dial func(context.Context, string, string) (net.Conn, error)) (*backend.Backend, error) {
	if err := p.server.Exec("", "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return nil, err
	}
	dir := filepath.Join(p.dir, schema) // backends on one schema share their key
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return backend.Open(p.ctx, backend.Config{Dir: dir, PublicURL: "http://127.0.0.1:1", Engine: backend.Engine{
		Shared: true,
		Open: func(ctx context.Context, opt backend.StoreOptions) (store.Store, error) {
			return postgres.Open(ctx, postgres.Options{
				URL: p.server.URL(schema), Steps: opt.Steps, Wrapper: opt.Wrapper, Log: opt.Log, Conns: conns, Dial: dial,
			})
		},
	}})
}

// pay makes one payment: three durable commits.
func pay(ctx context.Context, of *backend.Backend) error {
	s := of.Payments()
	made, err := s.Create(ctx, wire.NewKey(), payments.CreateRequest{
		Type: payments.ProviderHosted, Amount: 1250, CurrencyCode: "EUR",
		RedirectURLs: &payments.RedirectURLs{ReturnURL: "https://shop.example/back"},
	})
	if err == nil {
		_, err = s.Authorize(ctx, wire.NewKey(), made.PaymentID, payments.AuthorizeRequest{})
	}
	if err == nil {
		_, err = s.Capture(ctx, wire.NewKey(), made.PaymentID, payments.CaptureRequest{})
	}
	return err
}

// turnOf is how many payments so many callers make in a turn: few callers take longer.
func (p *pgPart) turnOf(callers int) int { return max(callers, min(p.paid, callers*p.paid/8)) }

// commits pays with so many callers and returns how many commits a second that were.
func (p *pgPart) commits(of *backend.Backend, callers int) (float64, error) {
	got, err := load(callers, p.turnOf(callers), func() error { return pay(p.ctx, of) })
	return payCommits * got.rate, err
}

// tps is what pgbench says at its end.
var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// pgbench returns the transactions a second of so many clients, each with one of the rows that a transaction inserts.
func (p *pgPart) pgbench(clients, rows int) (float64, error) {
	const insert = "INSERT INTO pgbench_line (text) VALUES ('a durable row of a hundred bytes, as a payment has several of them: so it is one in a commit');\n"
	text := insert
	if rows > 1 {
		text = "BEGIN;\n"
		for range rows {
			text += insert
		}
		text += "COMMIT;\n"
	}
	script := filepath.Join(p.dir, fmt.Sprintf("rows%d.sql", rows))
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return 0, err
	}
	each := max(8, payCommits*p.turnOf(clients)/clients)
	cmd := exec.CommandContext(p.ctx, filepath.Join(pgserver.Programs(), "pgbench"), "-h", p.server.Host(), "-U", "posagent", "-n", "-M", "prepared",
		"-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(clients, 2)), "-t", strconv.Itoa(each), "-f", script, "postgres")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	found := tps.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("pgbench says no tps:\n%s", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// beside measures payments in turns with pgbench.
func (p *pgPart) beside() (err error) {
	if err := p.server.Exec("", "CREATE TABLE pgbench_line (id bigserial PRIMARY KEY, text text NOT NULL)"); err != nil {
		return err
	}
	of, err := p.open("beside", 0, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, of.Close()) }()
	for _, n := range payers {
		p.progress("postgres: %d callers", n)
		if _, err := p.commits(of, n); err != nil { // statements are prepared now
			return err
		}
		var ours, one, five, ofOne, ofFive []float64
		for range p.turns {
			a, err := p.commits(of, n)
			if err != nil {
				return err
			}
			b, err := p.pgbench(n, 1)
			if err != nil {
				return err
			}
			c, err := p.pgbench(n, 5)
			if err != nil {
				return err
			}
			ours, one, five, ofOne, ofFive = append(ours, a), append(one, b), append(five, c), append(ofOne, a/b), append(ofFive, a/c)
		}
		r := row{what: fmt.Sprintf("payment commits, %d callers, beside pgbench", n), ours: perSecond(median(ours)), limit: perSecond(median(one)), ratio: median(ofOne), note: "limit: one durable row a commit"}
		if n == 64 {
			r.atLeast = 0.4
		}
		p.table.add(r)
		p.table.add(row{what: fmt.Sprintf("payment commits, %d callers, beside five rows", n), ours: perSecond(median(ours)), limit: perSecond(median(five)), ratio: median(ofFive), note: "limit: pgbench with five rows a commit"})
	}
	return nil
}

// slow is a connection to a database that is far away.
type slow struct{ net.Conn }

// Read implements net.Conn.
func (s slow) Read(to []byte) (int, error) {
	n, err := s.Conn.Read(to)
	<-time.After(farAway)
	return n, err
}

// two measures two backends beside one, where the way to the database is the limit.
func (p *pgPart) two() (err error) {
	p.progress("postgres: two backends")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", p.server.Socket())
		return slow{conn}, err
	}
	var all []*backend.Backend
	defer func() {
		for _, one := range all {
			err = errors.Join(err, one.Close())
		}
	}()
	for range 2 {
		one, err := p.open("two", farConns, dial)
		if err != nil {
			return err
		}
		all = append(all, one)
		if _, err := p.commits(one, farCallers); err != nil {
			return err
		}
	}
	var ones, twos, ratios []float64
	for range p.turns {
		one, err := p.commits(all[0], farCallers)
		if err != nil {
			return err
		}
		rates, failures := make([]float64, len(all)), make([]error, len(all))
		done := make(chan struct{})
		for i := range all {
			go func() {
				rates[i], failures[i] = p.commits(all[i], farCallers)
				done <- struct{}{}
			}()
		}
		for range all {
			<-done
		}
		if err := errors.Join(failures...); err != nil {
			return err
		}
		both := rates[0] + rates[1]
		ones, twos, ratios = append(ones, one), append(twos, both), append(ratios, both/one)
	}
	p.table.add(row{what: "payment commits, two backends beside one", ours: perSecond(median(twos)), limit: perSecond(median(ones)), ratio: median(ratios), atLeast: 1.5,
		note: fmt.Sprintf("%d connections each, %s to the database", farConns, short(farAway))})
	return nil
}
