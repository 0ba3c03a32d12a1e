package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"posagent/store"
)

// othersWithin is how long the other servers are waited for once a primary has answered: one of them may have taken over from it.
const othersWithin = 2 * time.Second

// server is one that a URL names.
type server struct {
	name string
	conn *conn // nil where it did not answer
	at   seen
	err  error // why it is not taken
}

// servers returns the way to each server that a URL names. Several ways to one, such as with and without TLS, stay together.
func servers(cfg *pgx.ConnConfig) (list []*pgx.ConnConfig) {
	ways := append([]*pgconn.FallbackConfig{{Host: cfg.Host, Port: cfg.Port, TLSConfig: cfg.TLSConfig}}, cfg.Fallbacks...)
	for _, w := range ways {
		i := slices.IndexFunc(list, func(c *pgx.ConnConfig) bool { return c.Host == w.Host && c.Port == w.Port })
		if i >= 0 {
			list[i].Fallbacks = append(list[i].Fallbacks, w)
			continue
		}
		one := cfg.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks = w.Host, w.Port, w.TLSConfig, nil
		one.ValidateConnect = nil // the primary is chosen below
		list = append(list, one)
	}
	return list
}

// choose asks all servers what they are, and returns a session with the primary. Where it is none of them, the error says why, and at is
// the server that it speaks of.
func (c *connector) choose(ctx context.Context) (one *conn, at seen, err error) {
	last := c.last()
	all := c.ask(ctx, last)
	chosen, err := pick(all, last, c.tolerate)
	for _, s := range all {
		if s.conn != nil && (s != chosen || err != nil) {
			_ = s.conn.Close() // nothing was done on it
		}
	}
	if err != nil {
		return nil, chosen.at, err
	}
	return chosen.conn, chosen.at, nil
}

// ask asks all servers at once.
func (c *connector) ask(ctx context.Context, last Primary) []*server {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	type answer struct {
		of int
		*server
	}
	answers := make(chan answer, len(c.servers))
	all := make([]*server, len(c.servers))
	for i, cfg := range c.servers {
		all[i] = &server{name: fmt.Sprintf("%s:%d", cfg.Host, cfg.Port), err: fmt.Errorf("%w: it does not answer", store.ErrIO)}
		go func() { answers <- answer{i, c.meet(ctx, all[i].name, cfg, last)} }()
	}
	var late <-chan time.Time
	for n := range all {
		select {
		case a := <-answers:
			all[a.of] = a.server
			if late == nil && a.conn != nil && !a.at.standby {
				late = time.After(othersWithin)
			}
		case <-late:
			go func() { // they end with ctx
				for range len(all) - n {
					if a := <-answers; a.conn != nil {
						_ = a.conn.Close() // nothing was done on it
					}
				}
			}()
			return all
		}
	}
	return all
}

// keepAlive lets the server end a session a minute after its packets were swallowed. As installed it waits two hours: each connection
// that the way has forgotten holds one of its places until then, and a hundred of them let nobody in. It is no parameter of the start,
// which a pooler would have to know.
const keepAlive = "SELECT set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', false)"

// meet connects to one server and asks it what it is.
func (c *connector) meet(ctx context.Context, name string, cfg *pgx.ConnConfig, last Primary) *server {
	s, one := &server{name: name}, &conn{by: c}
	cfg = cfg.Copy()
	cfg.Tracer = one
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Message, "synchronous replication") { // a wait that was cancelled: committed here, and perhaps nowhere else
			one.alone = true
		}
	}
	var reached atomic.Bool
	watched(cfg, &reached)
	if one.pg, s.err = pgx.ConnectConfig(ctx, cfg); s.err != nil {
		s.err = ofPooler(s.err, reached.Load())
		return s
	}
	_, _ = one.pg.Exec(ctx, keepAlive) // a server that cannot do that has its own
	if s.at, s.err = look(ctx, one.pg, last); s.err != nil {
		_ = one.Close() // err says what is wrong
		s.err = named(s.err)
		return s
	}
	s.conn, one.at = one, s.at.Primary
	return s
}

// pick returns the primary among servers. Where none is right, it returns the server that decides, and an error that says of each server
// why it is not taken; it is ErrBackwards where all primaries are backwards.
func pick(all []*server, last Primary, t Tolerated) (*server, error) {
	var primaries, left []*server
	for _, s := range all {
		switch {
		case s.err != nil:
			continue
		case s.at.standby:
			s.err = s.at.judge(t)
			continue
		}
		primaries = append(primaries, s)
		if why := backwards(last, s.at); why != "" {
			s.err = fmt.Errorf("%w: %s", ErrBackwards, why)
			continue
		}
		left = append(left, s)
	}
	if len(left) > 0 {
		best := slices.MaxFunc(left, func(a, b *server) int { return int(int64(a.at.Timeline) - int64(b.at.Timeline)) })
		for _, s := range left {
			switch {
			case s.at.System != best.at.System:
				s.err = fmt.Errorf("its identifier is %s, and that of %s is %s: name the servers of one of the two", s.at.System, best.name, best.at.System)
				best.err = s.err
			case s.at.Timeline < best.at.Timeline:
				s.err = fmt.Errorf("%w: it is a primary that was given up: it is on timeline %d, and %s is on %d", ErrBackwards, s.at.Timeline, best.name, best.at.Timeline)
			case s.at.started != best.at.started:
				s.err = fmt.Errorf("it takes writes, and so does %s, on the same timeline %d: end one of them for good", best.name, s.at.Timeline)
				best.err = s.err
			}
		}
		if best.err == nil {
			best.err = best.at.judge(t)
		}
		if best.err == nil {
			return best, nil
		}
	}
	return none(all, primaries)
}

// none returns the server that decides why no one is taken: a primary that is not backwards, any primary, a server that does not answer.
func none(all, primaries []*server) (*server, error) {
	decides := slices.IndexFunc(primaries, func(s *server) bool { return !errors.Is(s.err, ErrBackwards) })
	list := primaries
	if len(primaries) == 0 {
		list, decides = all, slices.IndexFunc(all, func(s *server) bool { return !s.at.standby })
	}
	s := list[max(0, decides)]
	if len(all) == 1 {
		return s, s.err
	}
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.name + ": " + one.err.Error()
	}
	return s, &noneError{"none of the servers is the right one: " + strings.Join(texts, "; "), s.err}
}

// noneError says why no server is taken, and is the error of the one that decides.
type noneError struct {
	text string
	rule error
}

// Error implements error.
func (e *noneError) Error() string { return e.text }

// Unwrap makes errors.Is find the rule.
func (e *noneError) Unwrap() error { return e.rule }

// left reports whether another server has taken over since the connection was made.
func (c *conn) left() bool {
	last := c.by.last()
	return last.System != "" && (c.at.System != last.System || c.at.Timeline < last.Timeline)
}
