package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// room is the file system of one server: what a run writes, and the log that standbys still need.
const room = 1 << 30

// cluster is three servers, and the manager that fences: it makes sure that the old primary is dead before it chooses the standby that
// has most of the log.
type cluster struct {
	nodes []*node

	mu         sync.Mutex
	leader     *node
	killed     int
	leaderless time.Duration // the longest
	moved      chan struct{} // closed when another one leads
}

// settings of a server. quorum = a commit waits for one standby.
func settings(quorum bool, names []string) []string {
	list := []string{
		"max_connections=200", "shared_buffers=64MB", "wal_keep_size=128MB", "max_wal_size=256MB", "min_wal_size=32MB", "wal_recycle=off", "max_wal_senders=10",
		"wal_retrieve_retry_interval=200ms", "wal_receiver_status_interval=1s", "dynamic_shared_memory_type=mmap", "max_replication_slots=10", "log_min_messages=fatal",
		"max_pred_locks_per_transaction=256",
	}
	if quorum {
		list = append(list, "synchronous_standby_names='ANY 1 ("+strings.Join(names, ", ")+")'")
	}
	return list
}

// openCluster starts so many servers in dir. own gives each a file system of its own.
func openCluster(ctx context.Context, dir string, n int, own, quorum bool) (*cluster, error) {
	c := &cluster{moved: make(chan struct{})}
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("n", i+1))
	}
	size := int64(0)
	if own {
		size = room
	}
	for _, name := range names {
		one, err := newNode(dir, name, size, settings(quorum, names)...)
		if err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, one)
	}
	c.leader = c.nodes[0]
	if err := errors.Join(c.leader.initialise(), c.leader.start(ctx)); err != nil {
		return c, err
	}
	for _, one := range c.nodes[1:] {
		if err := errors.Join(one.copyOf(c.leader), one.start(ctx)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// url names all servers: the backends find the one that leads.
func (c *cluster) url() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, fmt.Sprint("127.0.0.1:", n.port))
	}
	return "postgres://posagent@" + strings.Join(hosts, ",") + "/postgres?target_session_attrs=read-write&connect_timeout=2"
}

// leads is the primary.
func (c *cluster) leads() *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader
}

// followers are the servers that do not lead.
func (c *cluster) followers() (list []*node) {
	leader := c.leads()
	for _, n := range c.nodes {
		if n != leader {
			list = append(list, n)
		}
	}
	return list
}

// failover kills the primary, promotes the standby that has most of the log and lets the other one follow it.
func (c *cluster) failover(ctx context.Context) (old *node, err error) {
	old, began := c.leads(), time.Now()
	standbys := c.followers()
	old.kill()
	best, most := (*node)(nil), int64(-1)
	for _, n := range standbys {
		var has int64
		err := until(ctx, within(), func() (err error) {
			has, err = n.number(ctx, "SELECT (GREATEST(COALESCE(pg_last_wal_receive_lsn(), '0/0'), pg_last_wal_replay_lsn()) - '0/0')::bigint")
			return err
		})
		if err != nil {
			return old, fmt.Errorf("ask %s what it has: %w", n.name, err)
		}
		if has > most {
			best, most = n, has
		}
	}
	if err := c.promote(ctx, best, began); err != nil {
		return old, err
	}
	for _, n := range standbys {
		if n == best {
			continue
		}
		for _, text := range []string{"ALTER SYSTEM SET primary_conninfo = '" + best.conninfo(n.name) + "'", "SELECT pg_reload_conf()"} {
			if err := until(ctx, within(), func() error { return n.exec(ctx, text) }); err != nil {
				return old, fmt.Errorf("let %s follow: %w", n.name, err)
			}
		}
	}
	return old, nil
}

// promote makes a standby the primary, where none led since began.
func (c *cluster) promote(ctx context.Context, n *node, began time.Time) error {
	if err := until(ctx, within(), func() error { return n.exec(ctx, "SELECT pg_promote(true, 60)") }); err != nil {
		return fmt.Errorf("promote %s: %w", n.name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader, c.killed, c.leaderless = n, c.killed+1, max(c.leaderless, time.Since(began))
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

// rebuild makes a standby of a server that has led, from a new copy.
func (c *cluster) rebuild(ctx context.Context, n *node) error {
	if _, err := os.Stat(n.ballast()); err == nil {
		if err := n.relieve(); err != nil {
			return err
		}
	}
	return until(ctx, within(), func() error {
		if err := n.copyOf(c.leads()); err != nil {
			return err
		}
		return n.start(ctx)
	})
}

// streams returns when so many standbys follow the primary.
func (c *cluster) streams(ctx context.Context, want int) error {
	return until(ctx, within(), func() error {
		n, err := c.leads().number(ctx, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
		if err == nil && n < int64(want) {
			err = fmt.Errorf("%d standbys follow %s, want %d", n, c.leads().name, want)
		}
		return err
	})
}

// storm ends every connection of the backends, and counts them.
func (c *cluster) storm(ctx context.Context) (int64, error) {
	return c.leads().number(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'posagent'")
}

// figures adds up what the primaries have committed and given up, until ctx ends.
func (c *cluster) figures(ctx context.Context) (commits, rollbacks int64) {
	var of *node
	var lastC, lastR int64
	for pause(ctx, 500*time.Millisecond) {
		leader := c.leads()
		conn, err := leader.connect(ctx)
		if err != nil {
			continue
		}
		for ctx.Err() == nil && c.leads() == leader {
			var nowC, nowR int64
			if err := conn.QueryRow(ctx, "SELECT xact_commit, xact_rollback FROM pg_stat_database WHERE datname = 'postgres'").Scan(&nowC, &nowR); err != nil {
				break
			}
			if of == leader && nowC >= lastC && nowR >= lastR {
				commits, rollbacks = commits+nowC-lastC, rollbacks+nowR-lastR
			}
			of, lastC, lastR = leader, nowC, nowR
			pause(ctx, 500*time.Millisecond)
		}
		_ = conn.Close(context.WithoutCancel(ctx)) // only read
	}
	return commits, rollbacks
}

// close ends all servers.
func (c *cluster) close() (err error) {
	for _, n := range slices.Backward(c.nodes) {
		n.signal(syscall.SIGCONT)
		err = errors.Join(err, n.remove())
	}
	return err
}
