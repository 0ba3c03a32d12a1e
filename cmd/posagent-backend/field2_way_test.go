package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cmd/usage"
	"posagent/cross/need"
	"posagent/schemes/wire"
	"posagent/store/postgres/pgtest"
)

// bouncer is PgBouncer before a server: every database of it in sessions, and one, NAME_tx, a transaction at a time.
type bouncer struct{ dir string }

func (b bouncer) url(database string) string {
	return "postgres://posagent@/" + database + "?host=" + b.dir + "&port=6432"
}

// pooled starts a PgBouncer. As root it takes the account that the server has.
func pooled(t *testing.T, server *pgtest.Server, transactions ...string) bouncer {
	t.Helper()
	program := need.Tool(t, "pgbouncer")
	dir, err := os.MkdirTemp("", "pgb") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	text := "[databases]\n"
	for _, name := range transactions {
		text += name + "_tx = host=" + server.Host() + " dbname=" + name + " pool_mode=transaction\n"
	}
	text += "* = host=" + server.Host() + "\n[pgbouncer]\nlisten_port = 6432\nlisten_addr =\nunix_socket_dir = " + dir + "\nauth_type = trust\nauth_file = " + dir + "/users\n" +
		"pool_mode = session\ndefault_pool_size = 60\nmax_client_conn = 500\nserver_idle_timeout = 1\n" +
		"ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, lock_timeout, default_transaction_read_only, enable_seqscan, jit\n" // as README.md has it
	require.NoError(t, os.WriteFile(filepath.Join(dir, "users"), []byte(`"posagent" ""`+"\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.ini"), []byte(text), 0o644))
	args := []string{"-q", filepath.Join(dir, "b.ini")}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, err := strconv.Atoi(u.Uid)
		require.NoError(t, err)
		require.NoError(t, os.Chown(dir, uid, -1))
		args = append([]string{"-u", "postgres"}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	need.Until(t, "the pooler", func() bool {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.6432"))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return bouncer{dir}
}

// sold is what tills were told.
type sold struct {
	mu      sync.Mutex
	ids     []string
	refused int
}

func (s *sold) note(id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.refused++
		return
	}
	s.ids = append(s.ids, id)
}

func (s *sold) counts() (sold, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids), s.refused
}

// The books move on MIGRATIONS times behind a pooler, each time beside a process that sells and has lost the lock that keeps a
// copy away: no acknowledged sale is missing where the books are then, and nothing is sold where they were. A pooler that
// gives each transaction another session is refused at the start.
func TestField2_G2_MigrationsBehindAPooler(t *testing.T) {
	migrations := number(t, "MIGRATIONS", 3)
	server := pgtest.Start(t, "max_connections=300")
	pool := pooled(t, server, "books0")
	database := func(n int) string {
		name := fmt.Sprint("books", n)
		server.Exec("", "CREATE DATABASE "+name)
		return pool.url(name)
	}
	at := database(0)
	refusedStart(t, usage.ExitRefused, "keeps no sessions", "--db", pool.url("books0_tx"), "--state", t.TempDir(), "--tolerate", "no-fsync")
	p := begin(t, at, nil, "")
	mover := t.TempDir()
	key, err := os.ReadFile(filepath.Join(p.dir, "backend.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(mover, "backend.key"), key, 0o600))

	var acknowledged []string
	refusals := 0
	for n := range migrations {
		next := database(n + 1)
		var s sold
		stop, tills := make(chan struct{}), sync.WaitGroup{}
		for range 3 {
			tills.Go(func() {
				for {
					out, err := p.payments().Create(t.Context(), wire.NewKey(), sale(""))
					s.note(out.PaymentID, err)
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
					}
				}
			})
		}
		need.Until(t, "sales", func() bool { sold, _ := s.counts(); return sold > 5 })
		for {
			server.Exec("", fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
				AND database = (SELECT oid FROM pg_database WHERE datname = 'books%d')`, n))
			code, _, talk := ask("migrate", "--from", at, "--to", next, "--state", mover, "--tolerate", "no-fsync", "--json")
			if code == usage.ExitOK {
				break
			}
			require.Equal(t, usage.ExitRefused, code, "migration %d: %s", n+1, talk)
			refusals++ // the process has taken its lock again
		}
		_, before := s.counts()
		need.Until(t, "each till to be refused", func() bool { _, refused := s.counts(); return refused > before+6 })
		close(stop)
		tills.Wait()
		require.NoError(t, p.cmd.Process.Kill())
		_ = p.cmd.Wait() // killed
		acknowledged = append(acknowledged, s.ids...)
		at = next
		code, out, talk := ask("books", "--json", "--db", at, "--tolerate", "no-fsync")
		require.Equal(t, usage.ExitOK, code, talk)
		var list []struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(out), &list))
		there := map[string]bool{}
		for _, e := range list {
			there[e.ID] = true
		}
		for _, id := range acknowledged {
			require.True(t, there[id], "%s was acknowledged, and is not in the books after migration %d", id, n+1)
		}
		p = begin(t, at, p, "")
	}
	require.Equal(t, len(acknowledged), captured(t, at))
	t.Logf("%d migrations beside a process that sold, %d more refused: %d acknowledged sales, each is there", migrations, refusals, len(acknowledged))
}

// swallower is a way to a server whose connections come to swallow, each at a random moment, what is sent in either direction. The
// server hears of it by the keep-alive of the session: that which the session has asked for, or never.
type swallower struct {
	socket string
	mu     sync.Mutex
	live   []*leg
	dead   int
}

type leg struct {
	swallows, probed atomic.Bool // probed: the session asked for a keep-alive of a minute
	server           net.Conn
}

// open listens on an address.
func (w *swallower) open(t *testing.T) (address string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("unix", w.socket)
			if err != nil {
				_ = c.Close()
				continue
			}
			l := &leg{server: up}
			w.mu.Lock()
			w.live = append(w.live, l)
			w.mu.Unlock()
			for _, way := range [][2]net.Conn{{c, up}, {up, c}} {
				go func() {
					part := make([]byte, 32<<10)
					for {
						n, err := way[0].Read(part)
						if bytes.Contains(part[:n], []byte("set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', false)")) {
							l.probed.Store(true)
						}
						if err == nil && !l.swallows.Load() {
							_, err = way[1].Write(part[:n])
						}
						if err != nil {
							if !l.swallows.Load() { // nobody hears of the end of what is swallowed
								_ = way[1].Close()
							}
							return
						}
					}
				}()
			}
		}
	}()
	return ln.Addr().String()
}

// swallow lets each connection that there is come to swallow with a probability of 1 in odds.
func (w *swallower) swallow(odds int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live = slices.DeleteFunc(w.live, func(l *leg) bool {
		if rand.N(odds) > 0 {
			return false
		}
		w.dead++
		l.swallows.Store(true)
		if l.probed.Load() {
			time.AfterFunc(time.Minute, func() { _ = l.server.Close() })
		}
		return true
	})
}

// Connections to the database are swallowed at random, for SECONDS: no request takes longer than 20 s, and a till that repeats
// each 30 s is served within 60 s. Each key has one sale.
func TestField2_G3ATillIsServedThroughAWayThatSwallows(t *testing.T) {
	const (
		longest  = 20 * time.Second // of one request
		repeats  = 30 * time.Second // a till, from the beginning of its last request
		servedIn = 60 * time.Second
		pause    = 400 * time.Millisecond // of a till, at most
		look     = 250 * time.Millisecond
	)
	lasts := time.Duration(number(t, "SECONDS", 15)) * time.Second
	server := pgtest.Start(t)
	server.Exec("", "CREATE DATABASE books")
	way := &swallower{socket: server.Socket()}
	p := begin(t, "postgres://posagent@"+way.open(t)+"/books?sslmode=disable", nil, "")
	over := make(chan struct{})
	var mu sync.Mutex
	var slowest, latest time.Duration
	sales, requests := 0, 0
	var tills sync.WaitGroup
	for range 8 {
		tills.Go(func() {
			for {
				key, began := wire.NewKey(), time.Now()
				for served := false; !served; {
					start := time.Now()
					ctx, stop := context.WithTimeout(t.Context(), repeats)
					_, err := p.payments().Create(ctx, key, sale(""))
					stop()
					took := time.Since(start)
					served = err == nil
					mu.Lock()
					requests++
					slowest = max(slowest, took)
					mu.Unlock()
					if !served {
						<-time.After(time.Until(start.Add(repeats)))
					}
				}
				mu.Lock()
				sales++
				latest = max(latest, time.Since(began))
				mu.Unlock()
				select {
				case <-over:
					return
				case <-time.After(rand.N(pause)):
				}
			}
		})
	}
	for end := time.Now().Add(lasts); time.Now().Before(end); <-time.After(look) {
		way.swallow(30)
	}
	close(over)
	tills.Wait()
	t.Logf("%d sales in %d requests, %d connections swallowed; the slowest request took %.1f s, the latest till was served after %.1f s",
		sales, requests, way.dead, slowest.Seconds(), latest.Seconds())
	require.LessOrEqual(t, slowest, longest)
	require.LessOrEqual(t, latest, servedIn)
	require.Positive(t, way.dead)
	need.Until(t, "a process that is ready", func() bool { return p.ready() == http.StatusNoContent })
	require.Equal(t, sales, captured(t, pgtest.In(server.URL(""), "books")))
}
