package main

import (
	"bufio"
	"bytes"
	"context"
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

// runner makes the command of the program, or of a child of this one with a task.
type runner func(args []string, task string) *exec.Cmd

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
