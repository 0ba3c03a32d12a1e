package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/storetest"
)

var ticketStep = store.Step{Name: "many/1 tickets", SQL: "CREATE TABLE tickets (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;"}

// TestSeveralProcesses: closures of several stores over one database are as serial as those of one, and each of them applies the steps
// that none has applied yet.
func TestSeveralProcesses(t *testing.T) {
	server := pgtest.Open(t)
	place := server.Place()
	const stores, callers, each = 3, 4, 25
	all := make([]store.Store, stores)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			s, err := open(t.Context(), place, []store.Step{ticketStep}, storetest.Wrapper{})
			if err != nil {
				t.Error(err)
				return
			}
			all[i] = s
		})
	}
	wg.Wait()
	require.False(t, t.Failed())
	require.Equal(t, all[0].MAC("tickets", "1"), all[1].MAC("tickets", "1"))
	require.Equal(t, all[0].MAC("tickets", "1"), all[2].MAC("tickets", "1"))
	for _, s := range all {
		for range callers {
			wg.Go(func() {
				for range each {
					if err := s.Write(t.Context(), func(tx store.Tx) error { // each takes the next number: nothing but its reading keeps them apart
						var n int64
						if err := tx.QueryRow("SELECT COALESCE(max(n), 0) FROM tickets").Scan(&n); err != nil {
							return err
						}
						_, err := tx.Exec("INSERT INTO tickets (n) VALUES (?)", n+1)
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	require.NoError(t, all[0].Read(t.Context(), func(r store.Reader) error {
		list, err := store.Column[int64](r, "SELECT n FROM tickets ORDER BY n")
		require.Len(t, list, stores*callers*each)
		for i, n := range list {
			require.EqualValues(t, i+1, n)
		}
		return err
	}))
	for _, s := range all {
		require.NoError(t, s.Close())
	}
}

// TestAStandbyThatDoesNotAnswer: a commit that the standbys do not confirm is unknown. It is there.
func TestAStandbyThatDoesNotAnswer(t *testing.T) {
	server := pgtest.Start(t)
	place := server.Place()
	s, err := postgres.Open(t.Context(), postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: place, Steps: []store.Step{ticketStep}, Wrapper: storetest.Wrapper{}, CommitWithin: 300 * time.Millisecond})
	require.NoError(t, err)
	add := func(id int) error {
		return s.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO tickets (id, n) VALUES (?, 0)", id)
			return err
		})
	}
	require.NoError(t, add(3))
	server.Exec("", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	server.Exec("", "SELECT pg_reload_conf()")
	id := 3
	need.Until(t, "the setting to be read", func() bool { // the server takes its time to read its settings
		id++
		return add(id) != nil
	})
	require.ErrorIs(t, add(id+1), store.ErrCommitUnknown)
	require.Equal(t, store.Broken, s.Health(t.Context()).State)
	// A wait that somebody cancels: the server says that it has committed alone.
	patient, err := postgres.Open(t.Context(), postgres.Options{Tolerate: postgres.Tolerated{NoFsync: true}, URL: place, Steps: []store.Step{ticketStep}, Wrapper: storetest.Wrapper{}, CommitWithin: 10 * time.Minute})
	require.NoError(t, err)
	told := make(chan error, 1)
	go func() {
		told <- patient.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("DELETE FROM tickets WHERE id = 3")
			return err
		})
	}()
	need.Until(t, "the cancelled wait to be told", func() bool {
		server.Exec("", "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		return len(told) == 1
	})
	err = <-told
	require.ErrorIs(t, err, store.ErrCommitUnknown)
	require.ErrorContains(t, err, "standbys")
	require.NoError(t, patient.Close())
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		list, err := store.Column[int64](r, "SELECT id FROM tickets WHERE id >= ? ORDER BY id", id)
		require.Equal(t, []int64{int64(id), int64(id + 1)}, list)
		return err
	}))
	server.Exec("", "ALTER SYSTEM RESET synchronous_standby_names")
	server.Exec("", "SELECT pg_reload_conf()")
	need.Until(t, "the setting to be taken back", func() bool { id++; return add(id+1) == nil })
	require.NoError(t, s.Close())
}

// TestAServerThatIsNotThere: what cannot be reached is the medium's fault, and is named without a password.
func TestAServerThatIsNotThere(t *testing.T) {
	_, err := open(t.Context(), "postgres://shop:hush-hush@127.0.0.1:1/books?connect_timeout=5", nil, storetest.Wrapper{})
	require.ErrorIs(t, err, store.ErrIO)
	require.NotContains(t, fmt.Sprint(err), "hush")
	_, err = open(t.Context(), "postgres://shop:hush-hush@[/books", nil, storetest.Wrapper{})
	require.Error(t, err)
	require.NotContains(t, fmt.Sprint(err), "hush")
}

// After the end of a server no caller meets a connection that was lying idle, and a process without callers sees that the server is back.
func TestIdleConnections(t *testing.T) {
	server := pgtest.Start(t)
	opt := at(server.URL(""), "")
	opt.Beat = time.Hour
	s, err := postgres.Open(t.Context(), opt)
	require.NoError(t, err)
	atOnce := func() error {
		var g errgroup.Group
		for range 8 {
			g.Go(func() error {
				return s.Read(t.Context(), func(r store.Reader) error {
					var n int
					return r.QueryRow("SELECT 1 FROM pg_sleep(0.1)").Scan(&n)
				})
			})
		}
		return g.Wait()
	}
	require.NoError(t, atOnce())
	server.Exec("", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posagent'")
	<-time.After(time.Second) // they lie idle
	require.NoError(t, atOnce())
	require.NoError(t, atOnce())

	server.Crash()
	require.Error(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("UPDATE tickets SET n = n + 1")
		return err
	}))
	require.Equal(t, store.Broken, s.Health(t.Context()).State)
	server.Start()
	need.Until(t, "the server to be found again", func() bool { return s.Health(t.Context()).State == store.Ready })
	require.NoError(t, s.Close())
}
