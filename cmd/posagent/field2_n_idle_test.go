package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/upstream"
	"posagent/cross/certs"
)

// pipes is a listener whose connections are pipes.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// counted is a connection whose bytes are counted, both ways.
type counted struct {
	net.Conn
	bytes *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestField2_N7AnIdleDay: an enrolled terminal that sold nothing spent 14 to 17 MB a day, a TLS connection for each request. In virtual
// time, over TLS: a day in which nothing happens, and one with a write each five minutes. The kind is what a terminal asks by itself:
// the fleet for a configuration, the fleet with a report, the method list; readiness asks nothing while it is ready, the outbox nothing
// while it is empty.
func TestField2_N7AnIdleDay(t *testing.T) {
	for name, tc := range map[string]struct {
		writes            time.Duration // between two, 0 = none
		bytes             int64
		rounds, least     int
		connectionsAtMost int64
	}{
		"idle":  {0, 1_000_000, 130, 90, 150},
		"sales": {5 * time.Minute, 5_000_000, 1600, 1300, 300},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := certs.New(t, "root")
				leaf := root.Below(t, nil).Leaf(t, func(c *x509.Certificate) { c.NotAfter = time.Now().AddDate(0, 0, 9) })
				replies := map[string]string{
					"/fleet/v1/configuration": `{"text":"` + strings.Repeat("c", 1000) + `","signature":"` + strings.Repeat("s", 100) + `"}`,
					"/fleet/v1/reports":       `{"held":[]}`, "/methods": strings.Repeat("m", 3000),
				}
				var asked [3]int
				srv := &http.Server{IdleTimeout: 75 * time.Second, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, replies[r.URL.Path])
				})}
				listener := make(pipes)
				go func() { _ = srv.Serve(tls.NewListener(listener, leaf.Config())) }()
				defer func() { close(listener); _ = srv.Close() }()
				var bytes, conns atomic.Int64
				dial := func(context.Context, string, string) (net.Conn, error) {
					near, far := net.Pipe()
					conns.Add(1)
					listener <- far
					return counted{near, &bytes}, nil
				}
				made := func(keep time.Duration) *upstream.Client {
					c, err := upstream.New(upstream.Config{Base: "https://127.0.0.1", RootsFile: root.File, Dial: dial, Shared: upstream.NewShared(), KeepIdle: keep})
					require.NoError(t, err)
					return c
				}
				fleet, list := made(keepFleet), made(0)
				ask := func(c *upstream.Client, method, path string, size int) {
					req, err := http.NewRequestWithContext(t.Context(), method, "https://127.0.0.1"+path, strings.NewReader(strings.Repeat("b", size)))
					require.NoError(t, err)
					req.Header.Set("Authorization", "Device "+strings.Repeat("p", 120))
					resp, err := c.Once().Do(req)
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, resp.Body)
					require.NoError(t, err)
					require.NoError(t, resp.Body.Close())
				}
				o, began := newRounds(), time.Now()
				for now := began; now.Sub(began) < 24*time.Hour; now = time.Now() {
					since := now.Sub(began)
					commits := int64(0)
					if tc.writes > 0 {
						commits = int64(since / tc.writes)
					}
					o.look(now, commits, "", false)
					if o.refresh.due(now) {
						ask(fleet, http.MethodGet, "/fleet/v1/configuration", 0)
						o.refreshed(time.Now(), nil)
						asked[0]++
					}
					if o.report.due(time.Now()) {
						ask(fleet, http.MethodPost, "/fleet/v1/reports", 70)
						o.report.asked(time.Now(), nil)
						asked[1]++
					}
					if since/time.Hour != (since+lookAgain)/time.Hour {
						ask(list, http.MethodGet, "/methods", 0)
						asked[2]++
					}
					time.Sleep(lookAgain)
				}
				t.Log(name, bytes.Load(), "bytes", conns.Load(), "connections", asked)
				require.LessOrEqual(t, bytes.Load(), tc.bytes)
				require.LessOrEqual(t, asked[0], tc.rounds)
				require.GreaterOrEqual(t, asked[0], tc.least)
				require.InDelta(t, asked[0], asked[1], 3, "they go together")
				require.LessOrEqual(t, conns.Load(), tc.connectionsAtMost)
				fleet.CloseIdle()
				list.CloseIdle()
				synctest.Wait()
			})
		})
	}
}

// A terminal that has rested asks its fleet with its first write: whether it is the terminal still must not wait for a quarter of an hour.
func TestField2_N7TheFirstWriteAsksTheFleet(t *testing.T) {
	now := time.Date(2026, 11, 29, 6, 0, 0, 0, time.UTC)
	for name, wakes := range map[string]func(o *rounds){
		"a sale":                 func(o *rounds) { o.look(now, 8, "a", false) },
		"another enrolment":      func(o *rounds) { o.look(now, 7, "b", false) },
		"an unproven revision":   func(o *rounds) { o.look(now, 7, "a", true) },
		"nothing (a minute on)":  func(o *rounds) { o.look(now, 7, "a", false) },
		"nothing (it was asked)": func(o *rounds) {},
	} {
		o := newRounds()
		o.look(now.Add(-time.Hour), 7, "a", false)
		o.look(now.Add(-time.Second), 7, "a", false)
		o.refreshed(now.Add(-time.Second), nil)
		require.False(t, o.refresh.due(now.Add(5*time.Minute)), "it rests")
		wakes(&o)
		require.Equal(t, !strings.HasPrefix(name, "nothing"), o.refresh.due(now), name)
	}
}
