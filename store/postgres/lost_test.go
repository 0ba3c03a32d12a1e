package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/storetest"
)

// forgetful is a network whose connections can be made to swallow what is sent, as a firewall does that has forgotten them.
type forgetful struct {
	socket string
	mu     sync.Mutex
	conns  []*swallowed
	away   atomic.Bool
	born   atomic.Bool // what is connected from now on swallows from its beginning
}

// swallowed is one connection.
type swallowed struct {
	net.Conn
	dead, asked atomic.Bool
	probed      atomic.Bool // the session has asked for the server's keep-alive
}

// Write implements net.Conn.
func (c *swallowed) Write(p []byte) (int, error) {
	const cancels = 16 // bytes of what asks the server to end a statement, on a connection that is no session
	if len(p) == cancels || bytes.Contains(p, []byte("set_config('tcp_keepalives_idle', '30', false)")) {
		c.probed.Store(true)
	}
	if c.dead.Load() {
		c.asked.Store(true)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (w *forgetful) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if w.away.Load() {
		return nil, errors.New("no route")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
	if err != nil {
		return nil, err
	}
	c := &swallowed{Conn: conn}
	c.dead.Store(w.born.Load())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, c)
	return c, nil
}

// forget makes all connections that there are swallow what is sent.
func (w *forgetful) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.dead.Store(true)
	}
}

// asked is how many connections were asked in vain.
func (w *forgetful) asked() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		if c.asked.Load() {
			n++
		}
	}
	return n
}

// TestField2_G3AConnectionThatSwallowsPacketsHoldsNobodyUp: a statement on a connection that has no answer ends on this side, the write is
// made on another one, and the pool's others of its age are given up without being asked.
// The kind: connections that were used a moment ago, which are not asked before, and those that lay idle, which are; writes, and a read after them.
func TestField2_G3AConnectionThatSwallowsPacketsHoldsNobodyUp(t *testing.T) {
	const within = time.Second
	for _, idle := range []bool{false, true} {
		server := pgtest.Open(t)
		w := &forgetful{socket: server.Socket()}
		s, err := postgres.Open(t.Context(), postgres.Options{
			Tolerate: postgres.Tolerated{NoFsync: true}, URL: server.Place(), Steps: []store.Step{waitStep}, Wrapper: storetest.Wrapper{}, Beat: -1, Conns: 8,
			StatementWithin: within, Dial: w.dial,
		})
		require.NoError(t, err)
		write := func(id int64) error {
			return s.WriteOwn(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (?, 1)", id)
				return err
			})
		}
		var all sync.WaitGroup
		for id := range int64(8) { // the pool is filled
			all.Go(func() { require.NoError(t, write(id)) })
		}
		all.Wait()
		filled := time.Now()
		if idle {
			need.Until(t, "they have lain idle", func() bool { return time.Since(filled) > time.Second })
		}
		w.forget()
		made := make(chan error, 1)
		go func() { made <- write(100) }()
		require.NoError(t, need.Receive(t, "the write, on another connection", made))
		for id := range int64(8) {
			require.NoError(t, write(200+id))
		}
		require.Equal(t, 17, count(t, s))
		require.Equal(t, 1, w.asked(), "the others of its age were not asked")
		for _, c := range w.conns {
			require.True(t, c.probed.Load(), "each session lets the server find out that it was swallowed")
		}
		require.NoError(t, s.Close())
	}
}

// TestField2_G3TwoConnectionsInTurn: where the connection that comes after a swallowed one is swallowed too, the write ends before that one
// alone would have: nothing was done, and the caller is told in the time that callers wait.
func TestField2_G3TwoConnectionsInTurn(t *testing.T) {
	const alone = 10 * time.Second // what a connection may take
	server := pgtest.Open(t)
	w := &forgetful{socket: server.Socket()}
	s, err := postgres.Open(t.Context(), postgres.Options{
		Tolerate: postgres.Tolerated{NoFsync: true}, URL: server.Place(), Steps: []store.Step{waitStep}, Wrapper: storetest.Wrapper{}, Beat: -1, Conns: 2,
		StatementWithin: time.Second, Dial: w.dial,
	})
	require.NoError(t, err)
	write := func() error {
		return s.WriteOwn(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (1, 1)")
			return err
		})
	}
	w.forget()
	w.born.Store(true)
	began := time.Now()
	err = write()
	require.Less(t, time.Since(began), alone)
	var done interface{ NothingDone() bool }
	require.ErrorAs(t, err, &done)
	require.True(t, done.NothingDone())
	w.born.Store(false)
	require.NoError(t, write())
	require.NoError(t, s.Close())
}

// TestField2_G4NobodyElseCallsTheFunctions: another tenant of the database, who may use the schema, moves no ids on. The kind: each function
// that a step makes.
func TestField2_G4NobodyElseCallsTheFunctions(t *testing.T) {
	server := pgtest.Open(t)
	s, err := postgres.Open(t.Context(), postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: server.Place(), Steps: []store.Step{waitStep}, Wrapper: storetest.Wrapper{}, Beat: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var ours, open int64
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow(`SELECT count(*), coalesce(sum((p.proacl IS NULL OR EXISTS (SELECT 1 FROM aclexplode(p.proacl) a WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE'))::int), 0)
			FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace`).Scan(&ours, &open)
	}))
	require.GreaterOrEqual(t, ours, int64(2))
	require.Zero(t, open, "functions that all accounts of the database may call")
}

// TestField2_G8NothingWasBegun: where no server is the right one, or is out of reach, or takes no writes, the error says that nothing was
// done, and a service answers 503 with Retry-After. The kind: a write and a read that have no connection, a write whose connection ends before COMMIT, a write to a server that
// reads only; and one whose closure itself refuses, which is its own affair.
func TestField2_G8NothingWasBegun(t *testing.T) {
	server := pgtest.Open(t)
	w := &forgetful{socket: server.Socket()}
	s, err := postgres.Open(t.Context(), postgres.Options{
		Tolerate: postgres.Tolerated{NoFsync: true}, URL: server.Place(), Steps: []store.Step{waitStep}, Wrapper: storetest.Wrapper{}, Beat: -1, Conns: 2, Dial: w.dial,
	})
	require.NoError(t, err)
	cut := func() {
		w.away.Store(true)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range w.conns {
			_ = c.Close()
		}
	}
	insert := func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO wait_rows (id, n) VALUES (1, 1)")
		return err
	}
	own := errors.New("the closure's own")
	nothing := func(err error) bool {
		var done interface{ NothingDone() bool }
		return errors.As(err, &done) && done.NothingDone()
	}
	require.False(t, nothing(s.Write(t.Context(), func(store.Tx) error { return own })))
	answered := func(err error) {
		require.Error(t, err)
		require.True(t, nothing(err), "%v", err)
	}
	answered(s.Write(t.Context(), func(tx store.Tx) error { // as a server that was set to read only answers
		if err := store.Each(tx, func(store.Row) error { return nil }, "SELECT set_config('transaction_read_only', 'on', true)"); err != nil {
			return err
		}
		return insert(tx)
	}))
	answered(s.Write(t.Context(), func(tx store.Tx) error {
		cut()
		return insert(tx)
	}))
	answered(s.Write(t.Context(), insert))
	answered(s.WriteOwn(t.Context(), insert))
	answered(s.Read(t.Context(), func(r store.Reader) error { return nil }))
	w.away.Store(false)
	require.NoError(t, s.Close())
}
