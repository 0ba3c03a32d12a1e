package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// portConns is how many connections the terminal's port keeps: more callers than that share them.
const portConns = 64

const (
	portTries   = 100                    // writes until the backend has to be known to be away
	portWithin  = 500 * time.Millisecond // a terminal that waits for its backend
	portToken   = "bench-port-token"     // what local clients show
	linkCallers = 8                      // that make payment links as well
)

// portGoals are those of an HTTP request that ends in a bare durable row, by callers. A payment is more: its body is read strictly, the
// card sealed, its Idempotency-Key kept, four tables written.
var (
	portGoals     = map[int]journalGoals{1: {rate: 0.40}, 8: {rate: 0.29}, 64: {rate: 0.14}}
	portSlowGoals = map[int]journalGoals{1: {rate: 0.95, p50: 1.1}, 8: {rate: 0.95, p50: 1.1}, 64: {rate: 0.85, p50: 1.4}}
)

const portConfig = shopConfig + `[port]
listen = "127.0.0.1:0"
token = "` + portToken + `"
rate = 1000000
parallel = 1000
[upstream]
base = %q
[upstream.auth]
bearer = %q
instance = %q
secret = %q
[ecr]
tcp = "127.0.0.1:0"
[display]
console = false
[offline]
answer_within = "500ms"
max_count = 10000000
max_total = ["* 1000000000"]
`

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

// runner makes the command of the program, or of a child of this one with a task.
type runner func(args []string, task string) *exec.Cmd

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
	return v, json.NewDecoder(bytes.NewReader(out)).Decode(&v)
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

// counter is a shop's local software: it keeps its connections to the terminal's port.
type counter struct {
	*terminal
	addr  string
	conns chan *bufio.ReadWriter
	all   []net.Conn
}

// shop starts a terminal whose backend answers once and goes, and the counter beside it.
func (b *bench) shop(run runner, dir string, conns int) (_ *counter, err error) {
	s, err := newSite(b.ctx, filepath.Join(dir, "backend"))
	if err != nil {
		return nil, err
	}
	open := true
	gone := func() error {
		if !open {
			return nil
		}
		open = false
		return s.close()
	}
	defer func() { err = errors.Join(err, gone()) }()
	cred := backend.DemoCredentials()
	c := &counter{terminal: &terminal{dir: dir}, conns: make(chan *bufio.ReadWriter, conns)}
	text := fmt.Sprintf(portConfig, s.url, cred.Bearer.Reveal(), cred.Instance, cred.Secret.Reveal())
	if err := os.WriteFile(c.config(), []byte(text), 0o600); err != nil {
		return nil, err
	}
	if err := c.start(run(c.args(b), "")); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.addr = strings.TrimPrefix(c.local, "http://")
	for range conns {
		conn, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", c.addr)
		if err != nil {
			return nil, err
		}
		c.all = append(c.all, conn)
		c.conns <- bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	}
	err = c.pay(http.StatusCreated)
	if err == nil && conns == linkCallers {
		err = c.linked(b.ctx, caller(1), false)
	}
	if err != nil {
		return nil, fmt.Errorf("the backend did not answer before: %w", err)
	}
	return c, errors.Join(gone(), c.fall())
}

// fall writes until the terminal knows that the backend is away.
func (c *counter) fall() error {
	for range portTries {
		began := time.Now()
		if err := c.pay(http.StatusAccepted); err != nil {
			return err
		}
		if time.Since(began) < portWithin/2 {
			return nil
		}
	}
	return errors.New("the terminal does not notice that its backend is away")
}

// close ends the connections and the terminal.
func (c *counter) close() error {
	for _, conn := range c.all {
		_ = conn.Close()
	}
	return c.stop()
}

// request is one as a client writes it.
func (c *counter) request(method, path string, body []byte) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: " + c.addr + "\r\nAuthorization: Bearer " + portToken + "\r\nUser-Agent: bench\r\n"
	if body != nil {
		head += wire.KeyHeader + ": " + string(wire.NewKey()) + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return append([]byte(head+"\r\n"), body...)
}

// payment is a payment whose card is told by telephone. One of nothing is refused.
func (c *counter) payment(amount int) []byte {
	return c.request(http.MethodPost, payments.Prefix, fmt.Appendf(nil, `{"type":"Moto","amount":%d,"currencyCode":"EUR","processing":"Sale",`+
		`"cardDetails":{"pan":"`+testPAN+`","expiryYear":2090,"expiryMonth":1},"paymentNumber":"4711","description":"Two chairs"}`, amount))
}

// pay sends a payment of its own key.
func (c *counter) pay(status int) error { return c.want(status, c.payment(1250)) }

// linked makes a payment link, as a program with a client of its own does. It has to be pending, or not.
func (c *counter) linked(ctx context.Context, web http.Client, pending bool) error {
	service := &paylinks.Client{BaseURL: c.local, Instance: backend.DemoCredentials().Instance, Secret: portToken, Doer: &web}
	made, err := service.Links().Create(ctx, wire.NewKey(), paylinks.CreateRequest{
		Title: "Order", Description: "Two chairs", ReferenceID: "bench", Purpose: "Chairs", Amount: 1250, Currency: "EUR",
	})
	if err == nil && (made.Operation != nil) != pending {
		err = fmt.Errorf("a link is pending: %t, want %t", !pending, pending)
	}
	return err
}

// want sends a request and has to be answered with a status.
func (c *counter) want(status int, request []byte) error {
	got, body, err := c.send(request)
	if err == nil && got != status {
		err = fmt.Errorf("answered %d, want %d: %s", got, status, body)
	}
	return err
}

// send sends a request on the next free connection.
func (c *counter) send(request []byte) (status int, body []byte, err error) {
	conn := <-c.conns
	defer func() { c.conns <- conn }()
	if _, err = conn.Write(request); err == nil {
		err = conn.Flush()
	}
	var line []byte
	length := 0
	for first := true; err == nil; first = false {
		if line, err = conn.ReadSlice('\n'); err != nil || len(line) <= len("\r\n") {
			break
		}
		if first && len(line) > len("HTTP/1.1 200") {
			status, err = strconv.Atoi(string(line[9:12]))
		}
		if value, yes := bytes.CutPrefix(line, []byte("Content-Length: ")); yes {
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	if err == nil {
		body = make([]byte, length)
		_, err = io.ReadFull(conn, body)
	}
	return status, body, err
}

// commits is how often the terminal has flushed. It asks on a connection of the callers: the port has no place for one more.
func (c *counter) commits() (n float64, err error) {
	conn := <-c.conns
	defer func() { c.conns <- conn }()
	if _, err = conn.Write(c.request(http.MethodGet, "/metrics", nil)); err != nil {
		return 0, err
	}
	if err = conn.Flush(); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(conn.Reader, nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		if value, yes := strings.CutPrefix(line, "posagent_store_commits_total "); yes {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no number of commits: status %d", resp.StatusCode)
}
