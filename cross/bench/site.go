package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"posagent/schemes/backend"
	"posagent/store"
	"posagent/store/sqlite"
)

// bearer shows the backend's fixed test credential.
type bearer struct{ http.Client }

func (b *bearer) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	return b.Client.Do(r)
}

const testPAN = "4111111111111111"

// site is an embedded backend that listens on loopback, and the limit beside it: a store that only commits.
type site struct {
	backend *backend.Backend
	url     string
	srv     *http.Server
	limit   store.Journal
	id      atomic.Int64
}

func newSite(ctx context.Context, dir string) (_ *site, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{url: "http://" + ln.Addr().String()}
	if s.backend, err = backend.Open(ctx, backend.Config{Dir: dir, PublicURL: s.url}); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	s.limit, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "limit.db"), Steps: []store.Step{opsStep}, Wrapper: wrapper{}})
	if err != nil {
		return nil, errors.Join(err, ln.Close(), s.backend.Close())
	}
	s.srv = backend.Server(s.backend.Handler())
	go func() { _ = s.srv.Serve(ln) }() // ends with close
	return s, nil
}

// withSite returns a part that measures a site of its own.
func (b *bench) withSite(name string, measure func(s *site) error) func() error {
	return func() error {
		s, err := newSite(b.ctx, filepath.Join(b.dir, name))
		if err != nil {
			return err
		}
		return errors.Join(measure(s), s.close())
	}
}

func (s *site) close() error { return errors.Join(s.srv.Close(), s.backend.Close(), s.limit.Close()) }

// commit is one durable commit.
func (s *site) commit(ctx context.Context) error {
	return s.limit.Write(ctx, func(tx store.Tx) error {
		id := s.id.Add(1)
		_, err := tx.Exec("INSERT INTO ops (id, key, state, due, payload) VALUES (?, ?, 'open', ?, ?)",
			id, fmt.Sprintf("0198c0de-%012d", id), id, make([]byte, 300))
		return err
	})
}

// turn is how many of n calls are made in one turn.
func (b *bench) turn(callers, n int) int { return max(callers, n/b.turns) }

// beside measures n of do by callers at once, in turns with as many callers who only commit, as often as do does.
func (b *bench) beside(s *site, what string, callers, n, commits int, do func() error) error {
	each := b.turn(callers, n)
	if _, err := load(callers, each, do); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var rates, limits []float64
	var p99s []time.Duration
	for range b.turns {
		ours, err := load(callers, each, do)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		limit, err := load(callers, commits*each, func() error { return s.commit(b.ctx) })
		if err != nil {
			return err
		}
		rates, p99s, limits = append(rates, ours.rate), append(p99s, ours.p99), append(limits, limit.rate/float64(commits))
	}
	b.table.add(row{
		what: fmt.Sprintf("%s over loopback, %d at once", what, callers), ours: perSecond(median(rates)), limit: perSecond(median(limits)),
		ratio: median(rates) / median(limits), note: fmt.Sprintf("p99 %s; limit: %d x a durable commit of the store", short(median(p99s)), commits),
	})
	return nil
}

// caller is a client that keeps as many connections as it has callers.
func caller(callers int) http.Client {
	return http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
}
