package postgres_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/storetest"
)

// TestNumbersDoNotMeet: a closure takes a number and commits while another one, which took the number before, is open. Neither is run
// again.
func TestNumbersDoNotMeet(t *testing.T) {
	server := pgtest.Open(t)
	step := store.Step{Name: "numbers/1", SQL: store.NumberTable + "INSERT INTO store_number (name, last) VALUES ('c', 0);"}
	// What waits for the other closure's row waits for ever: it is broken off.
	s, err := postgres.Open(t.Context(), postgres.Options{URL: server.Place(), Steps: []store.Step{step, ticketStep}, Wrapper: storetest.Wrapper{}, Tolerate: postgres.Tolerated{NoFsync: true}, StatementWithin: 10 * time.Second})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	runs := 0
	ticket := func(tx store.Tx, id int64) (n int64, err error) {
		runs++
		if n, err = tx.Number("c"); err == nil {
			_, err = tx.Exec("INSERT INTO tickets (id, n) VALUES (?, ?)", id, n)
		}
		return n, err
	}
	var first, second, third int64
	require.NoError(t, s.WriteOwn(t.Context(), func(tx store.Tx) (err error) {
		if first, err = ticket(tx, 1); err != nil {
			return err
		}
		if err := s.WriteOwn(t.Context(), func(tx store.Tx) (err error) { second, err = ticket(tx, 2); return err }); err != nil {
			return err
		}
		return s.Write(t.Context(), func(tx store.Tx) (err error) { third, err = ticket(tx, 3); return err })
	}))
	require.Equal(t, []int64{1, 2, 3}, []int64{first, second, third})
	require.Equal(t, 3, runs)
}

// numbered opens a schema with a count and takes its next number.
type numbered struct{ t *testing.T }

func (c numbered) open(url, memory string) *postgres.Store {
	c.t.Helper()
	step := store.Step{Name: "numbers/1", SQL: store.NumberTable + "INSERT INTO store_number (name, last) VALUES ('c', 0);"}
	s, err := postgres.Open(c.t.Context(), postgres.Options{URL: url, Steps: []store.Step{step}, Wrapper: storetest.Wrapper{}, Memory: memory, Tolerate: postgres.Tolerated{NoFsync: true}})
	require.NoError(c.t, err)
	return s
}

// of waits for a server that takes writes.
func (c numbered) of(s *postgres.Store) (n int64) {
	c.t.Helper()
	need.Until(c.t, "a server that takes writes", func() bool {
		return s.Write(c.t.Context(), func(tx store.Tx) (err error) {
			n, err = tx.Number("c")
			return err
		}) == nil
	})
	return n
}

func (c numbered) next(url, memory string) int64 {
	c.t.Helper()
	s := c.open(url, memory)
	n := c.of(s)
	require.NoError(c.t, s.Close())
	return n
}

// goOn requires that a number lies in a million of its own, not far from its beginning: after a crash the server leaves some out.
func goOn(t *testing.T, millions, n int64) {
	t.Helper()
	require.Equal(t, millions, n/1_000_000)
	require.Less(t, n%1_000_000, int64(200))
}

// TestNumbersAfterARestore: a server that was restored to a point in time or put back from a copy, and a schema that was copied, may lack
// the newest numbers. None is given again, and numbers go on far once for each of them.
func TestNumbersAfterARestore(t *testing.T) {
	server := pgtest.Start(t, "archive_mode=on")
	url, memory, count := server.URL(""), filepath.Join(t.TempDir(), "primary"), numbered{t}
	require.EqualValues(t, 1, count.next(url, memory))
	require.EqualValues(t, 2, count.next(url, memory))
	server.Crash()
	server.Start()
	goOn(t, 0, count.next(url, memory))

	// To a point in time, with nothing that is remembered, and with it.
	require.NoError(t, server.Backup())
	server.Exec("", "SELECT pg_create_restore_point('lunch')")
	goOn(t, 0, count.next(url, memory))
	server.Crash()
	require.NoError(t, server.Restore("recovery_target_name='lunch'"))
	goOn(t, 1, count.next(url, ""))
	goOn(t, 1, count.next(url, ""))
	require.NoError(t, postgres.Forget(memory))
	goOn(t, 2, count.next(url, memory))
	goOn(t, 2, count.next(url, memory))

	// Put back as it was: a person says that it is the right one.
	server.Crash()
	back := server.Copy()
	server.Start()
	goOn(t, 2, count.next(url, memory))
	server.Crash()
	back()
	server.Start()
	require.NoError(t, postgres.Forget(memory))
	goOn(t, 3, count.next(url, memory))
	goOn(t, 3, count.next(url, memory))

	// Under another name. This one stays as it was.
	server.Exec("", "CREATE DATABASE older TEMPLATE postgres")
	goOn(t, 4, count.next(pgtest.In(url, "older"), ""))
	goOn(t, 3, count.next(url, memory))
}

// TestNumbersAfterATakeOver: a running store meets the standby that has taken over.
func TestNumbersAfterATakeOver(t *testing.T) {
	server := pgtest.Start(t)
	count := numbered{t}
	server.Set("synchronous_standby_names", "ANY 1 (s1)")
	standby := server.Standby("s1")
	s := count.open(both(server, standby), filepath.Join(t.TempDir(), "primary"))
	defer func() { require.NoError(t, s.Close()) }()
	goOn(t, 0, count.of(s))
	server.Crash()
	standby.Promote()
	standby.Set("synchronous_standby_names", "")
	goOn(t, 1, count.of(s))
	goOn(t, 1, count.of(s))
}
